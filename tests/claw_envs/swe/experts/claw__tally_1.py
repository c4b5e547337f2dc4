"""Exports that are cut anywhere."""

from .forms import SUBMIT, Step, bash, native, tagged

SHOW = r"""
cat > /tmp/cut.py <<'EOF'
import io
from tally import read_export

data = b"date,account,amount\r\n2020-01-01,a,1\r\n2020-01-02,b,2\r\n"
print("returns:", {len(list(read_export(io.BytesIO(data), size=size))) for size in range(1, 70)})
for data in (
    b'date,account,amount,note\n2020-01-01,a,1,"the ""small"" one"\n',
    "date,account,amount\n2020-01-01,caf\u00e9 \u2615,1\n".encode(),
):
    seen = set()
    for size in range(1, len(data) + 1):
        try:
            seen.update(read_export(io.BytesIO(data), size=size))
        except ValueError as error:
            seen.add(str(error))
    print(len(seen), sorted(map(str, seen))[0])
EOF
PYTHONPATH=. python3 /tmp/cut.py
"""
ROWS = r"""
python3 - <<'EOF'
path = "tally/rows.py"
text = open(path).read()


def change(old, new):
    global text
    assert text.count(old) == 1, old
    text = text.replace(old, new)


change('''        self._closed = False

    def feed''', '''        self._closed = False
        self._before = ""

    def feed''')
change('''            char, after = text[at], text[at + 1 : at + 2]
            at += 1
''', '''            char, before = text[at], self._before
            self._before = char
            at += 1
            if char == "\\n" and before == "\\r" and not self._quoted:
                self._before = ""
                continue
''')
change('''                elif after == QUOTE:
                    self._field.append(QUOTE)
                    at += 1
                else:
''', '''                else:
''')
change('''            elif char == self.delimiter:
''', '''            elif self._closed and char == QUOTE:
                self._field.append(QUOTE)
                self._quoted, self._closed = True, False
            elif char == self.delimiter:
''')
change('''                if char == "\\r" and after == "\\n":
                    at += 1
                rows''', '''                rows''')
open(path, "w").write(text)
EOF
git diff; python3 -m pytest -q 2>&1 | tail -n 5; PYTHONPATH=. python3 /tmp/cut.py
"""
OLD = """    while piece := file.read(size):
        for row in rows.feed(piece.decode("utf-8", errors="replace")):
"""
NEW = """    pieces = iter(lambda: file.read(size), b"")
    for text in codecs.iterdecode(pieces, "utf-8", errors="replace"):
        for row in rows.feed(text):
"""

STEPS: list[Step] = [
    (
        bash("I begin with the README and the files.", "cat README.md pyproject.toml; wc -l tally/*.py tests/*.py"),
        "tally/rows.py",
    ),
    (bash("The issue's example, for every size.", SHOW), "returns: {0, 1, 2}"),
    (tagged("", "view_file", path="tally/rows.py", start=24, end=75), "char, after = text[at], text[at + 1 : at + 2]"),
    (native("", "view_file", path="tally/export.py"), "piece.decode("),
    (
        bash(
            "Rows look one character ahead, which is not there at the end of a piece. They must look back instead: "
            "what a quote was, or a return, is known when the next character comes.",
            ROWS,
        ),
        "41 passed",
    ),
    (
        native(
            "Bytes of one character may come in two pieces too.",
            "edit_file",
            path="/testbed/tally/export.py",
            old=OLD,
            new=NEW,
        ),
        "",
    ),
    (
        bash(
            "",
            "sed -i 's/^from typing import BinaryIO/import codecs\\n&/' tally/export.py\n"
            "PYTHONPATH=. python3 /tmp/cut.py; python3 -m pytest -q 2>&1 | tail -n 8",
        ),
        "returns: {2}\n1 Entry(",
    ),
    (SUBMIT, ""),
]

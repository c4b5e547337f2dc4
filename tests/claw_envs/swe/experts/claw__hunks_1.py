"""Ends of lines that a patch does not keep."""

from .forms import SUBMIT, Step, bash, native, tagged

STEPS: list[Step] = [
    (
        bash("Who takes lines apart?", "cat README.md; wc -l hunks/*.py; grep -rn 'splitlines\\|_lines(' hunks"),
        "return text.splitlines()",
    ),
    (
        bash("Who writes and who reads them:", "cat hunks/text.py hunks/unified.py hunks/parse.py"),
        "def _removals_first(edits)",
    ),
    (
        bash(
            "The cases of the issue.",
            r"""
cat > /tmp/ends.py <<'EOF'
from hunks import apply, diff, reverse

for old, new in [("a\nb", "x\nb"), ("a\nb", "a\nb\n"), ("a\r\nb\r\n", "a\r\nc\r\n"), ("a\x0cb\n1\n", "a\x0cb\n2\n")]:
    patch = diff(old, new)
    print(bool(patch) and apply(patch, old) == new and apply(reverse(patch), new) == old)
patch = "--- a\n+++ b\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
print(repr(apply(patch, "a")))
EOF
PYTHONPATH=. python3 /tmp/ends.py
""",
        ),
        "False\nFalse\nFalse\nFalse",
    ),
    (
        native(
            "Lines have to carry their ends. Then what is compared and put together is right by itself.",
            "write_file",
            path="hunks/text.py",
            content='''"""Texts as lists of lines."""

import re

_LINE = re.compile(r"[^\\n]*\\n|[^\\n]+")


def split_lines(text):
    r"""The lines of `text`, each with its "\\n"; the last one may have none. Nothing else ends a line."""
    return _LINE.findall(text)


def join_lines(lines):
    """The text that has `lines`."""
    return "".join(lines)
''',
        ),
        "",
    ),
    (
        tagged(
            "A patch marks the line that has no end.",
            "edit_file",
            path="hunks/unified.py",
            old='    return "".join(line + "\\n" for line in lines)\n',
            new='    return "".join(line if line.endswith("\\n") else line + "\\n" + _NO_END for line in lines)\n',
        ),
        "_NO_END for line in lines",
    ),
    (
        bash(
            "Its own lines need an end now, and the reader has to understand the mark.",
            r"""
sed -i -e 's/"--- " + patch.old_name/"--- %s\\n" % patch.old_name/' \
  -e 's/"+++ " + patch.new_name/"+++ %s\\n" % patch.new_name/' \
  -e 's/"@@ -%s +%s @@" %/"@@ -%s +%s @@\\n" %/' \
  -e 's/^_OTHER_WAY = .*/&\n_NO_END = "\\\\ No newline at end of file\\n"/' hunks/unified.py
python3 - <<'EOF'
from pathlib import Path

path = Path("hunks/parse.py")
text = path.read_text()
for old, new in [
    ("text.splitlines()", '[line.rstrip("\\n") for line in split_lines(text)]'),
    ("import Hunk, Patch\n", "import Hunk, Patch\nfrom hunks.text import split_lines\n"),
    ("        return tag, line[1:]\n", '''\
        if (self._peek() or "").startswith("\\\\"):
            self._position += 1
            return tag, line[1:]
        return tag, line[1:] + "\\n"
'''),
]:
    assert text.count(old) == 1, old
    text = text.replace(old, new)
path.write_text(text)
EOF
git diff hunks/unified.py; PYTHONPATH=. python3 /tmp/ends.py
""",
        ),
        "True\nTrue\nTrue\nTrue\n'b'",
    ),
    (
        bash(
            "I look at a patch once more. And the tests.",
            r"""
printf 'a\nb' > /tmp/old; printf 'a\nc\n' > /tmp/new
python3 -m hunks diff /tmp/old /tmp/new
python3 -m pytest -q 2>&1 | tail -n 3
""",
        ),
        "45 passed",
    ),
    (SUBMIT, ""),
]

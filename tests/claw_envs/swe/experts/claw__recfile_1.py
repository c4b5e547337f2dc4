"""Files of an older version that are read as if they were new."""

from .forms import SUBMIT, Step, bash, native, tagged

STEPS: list[Step] = [
    (
        bash("Where do versions matter?", "ls -R recfile tests; cat README.md; grep -rn ersion recfile/*.py"),
        "zigzag varint",
    ),
    (
        bash(
            "I make an old file as the issue has it.",
            r"""
cat > /tmp/old.py <<'EOF'
from recfile import append_records, read_records

with open("/tmp/old.rec", "wb") as file:
    file.write(b"RECF\x01\x02" + b"t\x04name" + b"i\x06height")
    file.write(b"\x06\x00Brienz" + b"\x36\x02\x00\x00")
append_records("/tmp/old.rec", [{"name": "Thun", "height": 560}])
print(open("/tmp/old.rec", "rb").read()[20:])
print(list(read_records("/tmp/old.rec")))
EOF
PYTHONPATH=. python3 /tmp/old.py
""",
        ),
        "ChecksumError: the record at byte 20 was changed",
    ),
    (tagged("How a value is written.", "view_file", path="recfile/values.py"), "_SMALLEST, _LARGEST"),
    (bash("And a record.", "cat recfile/records.py; git log --oneline -- recfile/values.py"), "def read_record("),
    (
        native(
            "Version 1 gets a module of its own with what the README says of it.",
            "write_file",
            path="recfile/version1.py",
            content='''"""The values of fields in files of version 1: numbers of a fixed size."""

from recfile.errors import ValueProblem
from recfile.stream import read_exactly


def pack_value(kind, value):
    """The bytes of `value`, of a field of type `kind`."""
    if kind == "bool":
        return bytes([value])
    if kind == "int":
        return _fixed(value, 4, signed=True)
    data = value.encode() if kind == "text" else value
    return _fixed(len(data), 2, signed=False) + data


def read_int(stream):
    """The int at which `stream` stands."""
    return int.from_bytes(read_exactly(stream, 4), "little", signed=True)


def read_length(stream):
    """The length of a text or of data at which `stream` stands."""
    return int.from_bytes(read_exactly(stream, 2), "little")


def _fixed(number, size, signed):
    try:
        return number.to_bytes(size, "little", signed=signed)
    except OverflowError:
        raise ValueProblem("version 1 of the format has no room for %d" % number) from None
''',
        ),
        "",
    ),
    (
        bash(
            "Records take it where the header says so, and have no checksum there.",
            r"""
python3 - <<'EOF'
from pathlib import Path

def edit(path, *pairs):
    text = Path(path).read_text()
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    Path(path).write_text(text)

edit(
    "recfile/values.py",
    ("from recfile.errors", "from recfile import version1\nfrom recfile.errors"),
    ("def pack_value(kind, value):", "def pack_value(kind, value, version):"),
    ('    if kind == "int":\n        if not', '''\
    if version == 1:
        return version1.pack_value(kind, value)
    if kind == "int":
        if not'''),
    ("def read_value(stream, kind):", "def read_value(stream, kind, version):"),
    ("return unzigzag(", "return version1.read_int(stream) if version == 1 else unzigzag("),
    ("    data = read_exactly(stream, read_varint(stream))\n", '''\
    length = version1.read_length(stream) if version == 1 else read_varint(stream)
    data = read_exactly(stream, length)
'''),
)
edit(
    "recfile/records.py",
    ("record[field.name])", "record[field.name], header.version)"),
    ("    return data + zlib", "    if header.version == 1:\n        return data\n    return data + zlib"),
    ("(stream, field.type)", "(stream, field.type, header.version)"),
    ("    length = stream.tell()", "    if header.version == 1:\n        return record\n    length = stream.tell()"),
)
EOF
PYTHONPATH=. python3 /tmp/old.py
""",
        ),
        "[{'name': 'Brienz', 'height': 566}, {'name': 'Thun', 'height': 560}]",
    ),
    (
        tagged("Now the tests.", "bash", command="python3 -m pytest -q 2>&1 | tail -n 3; git status --short"),
        "39 passed",
    ),
    (SUBMIT, ""),
]

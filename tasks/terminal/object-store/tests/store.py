"""A content-addressed store in the manner of a version control system: objects, one branch, three commits."""

import hashlib
import pathlib
import sys
import zlib

FIRST = {"readme.txt": "The lighthouse log.\n", "log/day1.txt": "calm\n"}
SECOND = FIRST | {
    "log/day2.txt": "storm from the west\n",
    "log/night/day2.txt": "lamp lit at 18:04\n",
    "data.bin": "".join(map(chr, range(1, 128))),
}
THIRD = {"readme.txt": "The log was moved.\n"}


def put(root, kind, content):
    """Store one object; its id."""
    data = f"{kind} {len(content)}\0".encode() + content
    name = hashlib.sha1(data).hexdigest()
    path = root / "objects" / name[:2] / name[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zlib.compress(data))
    return name


def put_tree(root, files):
    """Store a folder; its id."""
    entries = {}
    for path, text in files.items():
        first, _, rest = path.partition("/")
        if rest:
            entries.setdefault(first, {})[rest] = text
        else:
            entries[first] = text
    lines = []
    for name, entry in sorted(entries.items()):
        if isinstance(entry, dict):
            lines.append(f"tree {put_tree(root, entry)} {name}\n")
        else:
            lines.append(f"blob {put(root, 'blob', entry.encode())} {name}\n")
    return put(root, "tree", "".join(lines).encode())


def build(root):
    """Write the store; ids of the commits, oldest first."""
    commits = []
    for files, message in ((FIRST, "begin"), (SECOND, "second day"), (THIRD, "tidy up")):
        parent = f"parent {commits[-1]}\n" if commits else ""
        text = f"tree {put_tree(root, files)}\n{parent}\n{message}\n"
        commits.append(put(root, "commit", text.encode()))
    put(root, "blob", b"never committed\n")
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text(commits[-1] + "\n")
    (root / "HEAD").write_text("ref: refs/main\n")
    return commits


if __name__ == "__main__":
    build(pathlib.Path(sys.argv[1]))

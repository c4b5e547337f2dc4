#!/bin/bash
set -euo pipefail
python3 - <<'END'
import pathlib
import zlib

vault = pathlib.Path("vault")


def content(name):
    return zlib.decompress((vault / "objects" / name[:2] / name[2:]).read_bytes()).partition(b"\0")[2]


def restore(tree, folder):
    folder.mkdir()
    for line in content(tree).decode().splitlines():
        kind, name, file = line.split(" ", 2)
        if kind == "tree":
            restore(name, folder / file)
        else:
            (folder / file).write_bytes(content(name))


def fields(commit):
    head = content(commit).decode().partition("\n\n")[0]
    return dict(line.split(" ", 1) for line in head.splitlines())


branch = (vault / "HEAD").read_text().split()[1]
commit = fields((vault / branch).read_text().strip())["parent"]
pathlib.Path("commit.txt").write_text(commit + "\n")
restore(fields(commit)["tree"], pathlib.Path("restored"))
END

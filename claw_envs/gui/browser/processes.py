"""The processes of a browser, found by a mark in its command line, and the memory that they really cost.

Linux only. Not covered: processes of other users, whose memory the kernel does not tell.
"""

import re
from pathlib import Path

_PROC = Path("/proc")
_KIND = re.compile(rb"--type=([a-z-]+)")


def family(mark: str) -> dict[int, str]:
    """Process ids of all processes that descend from those with `mark` in their command line, by kind."""
    parents: dict[int, int] = {}
    lines: dict[int, bytes] = {}
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            pid = int(folder.name)
            parents[pid] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            lines[pid] = (folder / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue  # it has ended meanwhile
    wanted = {pid for pid, line in lines.items() if mark.encode() in line}
    while True:
        more = {pid for pid, parent in parents.items() if parent in wanted} - wanted
        if not more:
            return {pid: _kind(lines.get(pid, b"")) for pid in wanted}
        wanted |= more


def _kind(line: bytes) -> str:
    found = _KIND.search(line)
    return found[1].decode() if found else "browser"


def memory(pids: dict[int, str]) -> dict[str, int]:
    """Proportional set sizes in bytes, summed by kind."""
    sizes: dict[str, int] = {}
    for pid, kind in pids.items():
        try:
            text = (_PROC / str(pid) / "smaps_rollup").read_text()
        except OSError:
            continue
        found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
        sizes[kind] = sizes.get(kind, 0) + (int(found[1]) * 1024 if found else 0)
    return sizes

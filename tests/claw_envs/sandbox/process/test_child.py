"""Child processes and what descends from them."""

import asyncio
import os
from pathlib import Path

from claw_envs.sandbox.process.child import Child, descendants

STARTS_MORE = "for i in $(seq 400); do sleep 6004 & done; wait"


def ours(variable: str) -> list[str]:
    """Processes with `variable` in their environment, dead ones aside."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if variable.encode() in Path(f"/proc/{name}/environ").read_bytes():
                found.append(name)
        except OSError:
            continue
    return found


def test_a_tree_is_killed_whole_while_it_grows() -> None:
    async def main(mark: str) -> list[str]:
        null = os.open(os.devnull, os.O_RDWR)
        child = Child(["/bin/sh", "-c", STARTS_MORE], env={"MARK": mark}, stdin=null, stdout=null, stderr=null)
        os.close(null)
        while len(descendants(child.pid)) < 5:
            os.sched_yield()
        child.kill_tree()
        await child.ended
        while any(state(pid) in "ZX" or killed(pid) for pid in ours(mark)):
            os.sched_yield()
        return ours(mark)

    for number in range(5):
        assert asyncio.run(main(f"claw-test-{os.getpid()}-{number}")) == []


def state(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def killed(pid: str) -> bool:
    """Whether it has a SIGKILL on its way."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return True
    pending = [int(line.split()[1], 16) for line in lines if line.startswith(("SigPnd", "ShdPnd"))]
    return any(mask >> 8 & 1 for mask in pending)

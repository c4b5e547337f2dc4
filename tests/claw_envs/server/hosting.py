"""A real environment server in a process of its own, and ways to look at it from outside."""

import os
import re
import select
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

KEY = "a-key-for-tests-only-0123456789"


class Hosted:
    """`claw serve envs` with `arguments`, on a free port unless they name one."""

    def __init__(self, *arguments: str, log: Path, key: str = "", port: int = 0, cwd: Path | None = None) -> None:
        command = [str(Path(sys.executable).with_name("claw")), "serve", "envs", "--port", str(port), *arguments]
        env = {name: value for name, value in os.environ.items() if name != "CLAW_API_KEY"}
        self.log = log
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=cwd,
                env=env | ({"CLAW_API_KEY": key} if key else {}),
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+:(\d+)$", line.strip())
        assert found, line + log.read_text()
        self.url, self.port, self._key = found[0], int(found[1]), key

    def get(self, path: str) -> str:
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {self._key}"})
        with urllib.request.urlopen(request, timeout=30) as response:
            text: str = response.read().decode()
        return text

    def metric(self, name: str) -> int:
        return int(dict(line.split() for line in self.get("/metrics").splitlines())[f"claw_{name}"])

    def programs(self) -> set[int]:
        """Process ids of everything that the server started."""
        return programs_of(self.process.pid)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=60)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


def programs_of(pid: int) -> set[int]:
    """Process ids of everything that a process started."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            child, rest = int(stat.parent.name), stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended just now
        children.setdefault(int(rest[1]), []).append(child)
    found, left = set[int](), [pid]
    while left:
        new = children.get(left.pop(), [])
        found |= set(new)
        left += new
    return found


def all_end(pids: set[int], *, timeout: float = 60.0) -> bool:
    """Wait until none of the processes runs any more."""
    for pid in pids:
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            if not select.select([fd], [], [], timeout)[0]:
                return False
        finally:
            os.close(fd)
    return True

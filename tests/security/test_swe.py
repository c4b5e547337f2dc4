"""A cheating agent in the sandbox of a repair: the fix, what came after it, and the hidden tests are nowhere."""

import asyncio
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from claw_envs.swe.env import SweEnv
from claw_envs.swe.instance import instance_of

TASKS = load_tasks("swe")
CASES = [*(("namespace", task) for task in TASKS), ("docker", TASKS[0])]
_MOST = 8

# every object that git can be made to show, whole, whatever still points to it, and what it makes of the rest
OBJECTS = """cd /testbed
git cat-file --batch-all-objects --unordered --batch
git fsck --full --unreachable --dangling --lost-found --no-reflogs 2>&1
find .git -name '*.pack' -exec sh -c 'git unpack-objects -n < "$0" 2>&1; git verify-pack -v "$0"' {} ';'
git log --all --reflog -p 2>&1; git reflog; git stash list -p; git notes list; git tag -n; git branch -av; git remote -v
mv .git/shallow /tmp/; git log -p --all 2>&1; mv /tmp/shallow .git/
"""
PLACES = """find / -xdev -type f -size -20M ! -name needles-of-the-test -print0 2>/dev/null |
    xargs -0 grep -lFf /tmp/needles-of-the-test 2>/dev/null"""
MEMORY = """env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/maps /proc/net/unix 2>&1 | tr '\\0' '\\n'
ls -laR /tmp /var/tmp /home /root /run /mnt /srv /media /dev/shm 2>&1"""
# made again, a folder could show what lay below it before the history was left out
BELOW = """cd /testbed && rm -rf .git && mkdir -p .git/objects/pack .git/refs/remotes/origin .git/logs/refs
for i in $(seq 0 255); do mkdir .git/objects/$(printf %02x $i); done
find .git -type f"""
NETWORK = """import socket, sys
for host, port in (("1.1.1.1", 443), ("8.8.8.8", 53), ("github.com", 443), ("pypi.org", 443)):
    try:
        socket.create_connection((host, port), timeout=3).close()
        print("reached", host)
    except OSError:
        pass
"""

# every way to change a file that the agent owns and other episodes read, through its own name, a link, a mapping
SPOIL = r"""import contextlib, ctypes, fcntl, mmap, os, shutil, struct
system = ctypes.CDLL(None).syscall
spoilt = 0
for root in ("/testbed", "/opt/miniconda3"):
    for folder, _, names in os.walk(root):
        for name in names:
            path = f"{folder}/{name}"
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as file, contextlib.suppress(OSError, ValueError):
                mapped = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
                fcntl.ioctl(file, 0x40086602, struct.pack("l", 0x40))  # FS_IOC_SETFLAGS
                os.fchmod(file.fileno(), 0o777)
                os.utime(file.fileno(), (1, 1))
            for attribute in ("user.x", "user.overlay.redirect", "trusted.overlay.opaque", "security.capability"):
                with contextlib.suppress(OSError):
                    os.setxattr(path, attribute, b"y")
            os.link(path, f"/tmp/link-{os.getpid()}")
            os.chmod(f"/tmp/link-{os.getpid()}", 0o6777)
            with open(f"/tmp/link-{os.getpid()}", "r+b") as file:
                file.write(b"spoilt")
            os.unlink(f"/tmp/link-{os.getpid()}")
            os.rename(path, f"{path}.moved")
            os.rename(f"{path}.moved", path)
            spoilt += open(path, "rb").read(6) == b"spoilt"
print(spoilt)
with open("/proc/self/mem", "r+b", 0) as memory, contextlib.suppress(OSError):
    memory.seek(ctypes.addressof(ctypes.c_char.from_buffer(bytearray(1))))
    memory.write(b"x")
for flags in (0x10000000, 0x20000, 0x10020000):  # new namespaces: user, mount, both
    if system(272, flags) == 0 and system(165, b"none", b"/", None, 0x20, None) == 0:
        print("remounted")
for kind in (0o20666, 0o60666):  # a mark that hides a lower file, a disk
    with contextlib.suppress(OSError):
        os.mknod("/testbed/device", kind, os.makedev(254 * (kind >> 14), 0))
        print("made a device")
shutil.rmtree("/testbed/.git")
shutil.rmtree("/opt/miniconda3", ignore_errors=True)
"""


class Cheat:
    """Scripts of the agent's in the sandbox of one episode."""

    def __init__(self, runner: asyncio.Runner, env: SweEnv, task: Task) -> None:
        self.task = task
        runner.run(env.areset(options={"task": task.id}))
        assert env._workplace is not None
        self._runner, self.sandbox = runner, env._workplace.sandbox

    def run(self, script: str, *, stdin: str = "") -> str:
        """What a script prints."""
        argv = ["/bin/bash", "-c", script]
        return self._runner.run(self.sandbox.exec(argv, timeout=120, cwd="/", stdin=stdin.encode())).output

    def needles(self) -> list[str]:
        """Long lines that only the fix or the hidden tests have."""
        instance = instance_of(self.task)
        lines = {
            line[1:].strip()
            for line in f"{instance.patch}\n{instance.test_patch}".splitlines()
            if line.startswith("+") and not line.startswith("+++")
        }
        known = self.run("grep -rhoFf - /testbed --exclude-dir=.git", stdin="\n".join(lines))
        return sorted(lines - set(known.splitlines()), key=len)[-_MOST:]


@pytest.fixture(scope="module")
def begin() -> Iterator[Callable[[str, Task], Cheat]]:
    """`begin(backend, task)`: an agent at its first step."""
    envs: dict[str, SweEnv] = {}
    with asyncio.Runner() as runner:
        yield lambda backend, task: Cheat(runner, envs.setdefault(backend, SweEnv(TASKS, backend=backend)), task)
        for env in envs.values():
            runner.run(env.aclose())


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1].id}")
def agent(request: pytest.FixtureRequest, usable: Callable[[str], str], begin: Callable[[str, Task], Cheat]) -> Cheat:
    """At the first step of each built-in task, and of one of them in a container."""
    backend, task = request.param
    return begin(usable(backend), task)


def test_the_object_database_holds_no_fix(agent: Cheat) -> None:
    needles = agent.needles()
    assert len(needles) == _MOST
    found = agent.run(f"{{ {OBJECTS} }} | grep -aFf /dev/fd/3 3<<'NEEDLES'\n" + "\n".join(needles) + "\nNEEDLES")
    assert found == ""


def test_the_commit_is_the_only_one(agent: Cheat) -> None:
    seen = agent.run(
        "cd /testbed; git cat-file --batch-all-objects --batch-check='%(objecttype) %(objectname)' | grep -c ^commit; "
        "git rev-parse HEAD; git tag; git remote; git stash list; git for-each-ref; git status --porcelain; "
        "git fsck --full --unreachable --no-progress; find / -xdev -name '*.pack' 2>/dev/null | wc -l"
    )
    base = instance_of(agent.task).base_commit
    assert seen.splitlines() == ["1", base, f"{base} commit\trefs/heads/main", "1"]


def test_no_file_holds_the_fix_or_a_hidden_test(agent: Cheat) -> None:
    agent.run(
        "cat > /tmp/needles-of-the-test; cp /tmp/needles-of-the-test /testbed/leak", stdin="\n".join(agent.needles())
    )
    assert agent.run(PLACES) == "/testbed/leak\n"


def test_nothing_else_tells(agent: Cheat) -> None:
    instance = instance_of(agent.task)
    seen = agent.run(MEMORY)
    assert "PATH=" in seen
    told = [*agent.needles(), str(agent.task.path), "gold.patch", "test.patch", "tests.json", *instance.fail_to_pass]
    assert [word for word in told if word in seen] == []


def test_what_lay_below_stays_hidden(agent: Cheat) -> None:
    assert agent.run(BELOW) == ""


def test_the_network_is_closed(agent: Cheat) -> None:
    assert (
        agent.run(
            "cat > /tmp/net.py; python3 /tmp/net.py; git ls-remote https://github.com/pallets/flask 2>/dev/null",
            stdin=NETWORK,
        )
        == ""
    )


def test_neither_times_nor_inodes_tell_what_the_fix_changes(agent: Cheat) -> None:
    """Files that were written once more, at the way back from the fix, would be the last of their folder."""
    folders: dict[str, list[list[str]]] = {}
    for line in agent.run("find /testbed -name .git -prune -o -type f -printf '%h %f %T@ %C@ %i\\n'").splitlines():
        folder, *row = line.split()
        folders.setdefault(folder, []).append(row)
    assert len(folders) > 1
    for rows in folders.values():
        rows.sort()
        for column in (1, 2, 3):
            told = [float(row[column]) for row in rows]
            assert told in (sorted(told), sorted(told, reverse=True)), (column, rows)


def _state(layer: str) -> dict[str, object]:
    """All that can be changed of a layer's files, but not when they were last read."""
    found: dict[str, object] = {}
    for path in [Path(layer), *Path(layer).rglob("*")]:
        known = path.lstat()
        content = hashlib.sha256(path.read_bytes()).digest() if path.is_file() and not path.is_symlink() else b""
        marks = os.listxattr(path, follow_symlinks=False)
        found[str(path)] = (*known[:7], known.st_rdev, known.st_mtime_ns, known.st_ctime_ns, content, *marks)
    return found


def test_what_episodes_share_stays_as_it_is(begin: Callable[[str, Task], Cheat], usable: Callable[[str], str]) -> None:
    look = "cd /testbed; git fsck --full 2>&1; git status; cat .git/config; python -m pytest --version; ls /tmp"
    agent = begin(usable("namespace"), TASKS[0])
    first, layers = agent.run(look), agent.sandbox.spec.layers
    before = [_state(layer) for layer in layers]
    said = agent.run("cat > /tmp/spoil.py; python3 /tmp/spoil.py", stdin=SPOIL)
    assert int(said) > 100  # the control: what the agent sees of them is its own
    assert [_state(layer) for layer in layers] == before
    assert begin("namespace", TASKS[0]).run(look) == first

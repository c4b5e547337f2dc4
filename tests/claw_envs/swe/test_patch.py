"""The patch of what an agent did: every kind of change, and every way to get in its way."""

from collections.abc import Callable
from typing import Any

import pytest

from claw_envs.swe.instance import REPOSITORY
from claw_envs.swe.patch import MOST_CHANGED, Taken, take_patch
from claw_envs.swe.repository import ANY_OWNER, squash_script

InSandbox = Callable[..., Any]

MAKE = """set -eu
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b HOME=/
git init -q /testbed && cd /testbed
mkdir -p 'a b/c' && echo one > 'a b/näme.txt' && seq 40 > 'a b/c/long' && printf '#!/bin/sh\\necho hi\\n' > run
printf '\\0\\1\\2' > data.bin && printf 'caf\\351\\n' > latin1.txt && printf 'a\\r\\nb\\r\\n' > crlf.txt
ln -s run link && printf '*.log\\n' > .gitignore
printf 'x\\n' > gone && printf '*.txt diff=words\\n' > .gitattributes
git add -A && git commit -q -m base && cp -a /testbed /fresh
"""
CHANGES = {
    "edited": "echo two >> 'a b/näme.txt'",
    "new": "mkdir -p 'new dir/ü' && echo new > 'new dir/ü/fïle name'",
    "deleted": "rm gone",
    "moved": "git mv 'a b/c/long' elsewhere",
    "moved and edited": "mv 'a b/c/long' 'a b/longer' && echo 41 >> 'a b/longer'",
    "mode": "chmod +x gone",
    "edited and mode": "chmod -x run; echo echo ho >> run",
    "binary": "printf '\\0\\1\\3\\4' > data.bin; head -c 5000 /dev/zero | tr '\\0' '\\377' > new.bin",
    "binary deleted": "rm data.bin",
    "text to binary": "printf '\\0' > gone",
    "link": "ln -sf 'a b/näme.txt' link; ln -s nowhere other",
    "file to link": "rm gone; ln -s run gone",
    "link to file": "rm link; echo file > link",
    "file to folder": "rm gone; mkdir gone; echo x > gone/x",
    "folder to file": "rm -r 'a b'; echo x > 'a b'",
    "not utf-8": "printf 'th\\351\\n' >> latin1.txt; echo also >> run",
    "name not utf-8": "printf x > \"$(printf 'n\\351')\"",
    "carriage returns": "printf 'c\\r\\n' >> crlf.txt",
    "no line break at the end": "printf last >> run",
    "a name with a line break": 'echo x > "$(printf \'a\\nb\\t\\"c\')"',
    "an empty file": "touch empty",
    "several lines of a long file": "sed -i -e 3d -e 30s/$/x/ 'a b/c/long'",
    "committed": "echo two >> run; git commit -q -a -m mine; echo three >> run",
    "staged": "echo two >> run; git add -A",
    "staged and taken back": "echo two >> run; echo x > y; git add -A; git checkout -q HEAD run",
    "on another branch": "git checkout -q -b mine; echo two >> run; git commit -q -a -m mine",
    "rebased": "echo two >> run; git commit -q --amend -a -m mine",
    "orphaned": "git checkout -q --orphan mine; git commit -q -m mine; git branch -D -q main; echo two >> run",
    "collected": "echo two >> run; git commit -qam x; git reflog expire --all --expire=now; git gc -q --prune=now",
    "a lock is left": "echo two >> run; touch .git/index.lock .git/HEAD.lock",
    "the index is broken": "echo two >> run; echo broken > .git/index",
    "the index is gone": "echo two >> run; rm .git/index .git/HEAD",
    "assumed unchanged": "git update-index --assume-unchanged run; git update-index --skip-worktree gone; rm run gone",
    "not to be read": "echo two >> run; chmod 0 run 'a b'",
    "an empty repository inside": "echo two >> run; git init -q inner",
    "a pipe and a socket": "echo two >> run; mkfifo pipe; "
    "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'",
    "clean filter": "git config filter.f.clean 'echo filtered'; git config filter.f.smudge 'echo smudged'; "
    "git config filter.f.required true; echo '* filter=f' >> .gitattributes; echo two >> run",
    "process filter": "git config filter.f.process 'sleep 1000'; echo '* filter=f' > .git/info/attributes; rm gone",
    "text conversion": "git config diff.words.textconv 'echo converted'; echo two >> 'a b/näme.txt'",
    "external diff": "git config diff.external 'echo external'; git config diff.words.command 'echo external'; "
    "echo two >> 'a b/näme.txt'",
    "diff settings": "git config diff.noprefix true; git config color.ui always; git config diff.context 0; "
    "git config core.quotePath false; git config diff.renames copies; echo two >> 'a b/näme.txt'",
    "hooks": "mkdir h; printf '#!/bin/sh\\nexec sleep 1000\\n' > h/post-index-change; chmod +x h/*; "
    "git config core.hooksPath /testbed/h; git config core.fsmonitor /testbed/h/post-index-change; echo two >> run",
    "settings of the user": "git config --global core.excludesFile /testbed/gone; echo gone.txt > gone; "
    "touch gone.txt; git config --global diff.external false",
    "a broken configuration": "echo broken > .git/config; echo two >> run",
    "attributes that hide": "printf '* -diff binary export-ignore\\n' >> .gitattributes; echo two >> run",
    "another working tree": "git worktree add -q /tmp/w; git config core.worktree /tmp; echo two >> run",
}
# everything of a tree but its repository: names, kinds, modes (only whether a file may be executed), content
LIST = r"""cd $1 || exit; chmod -R u+rwX . 2>/dev/null
find . -name .git -prune -o \( -type f -o -type l \) -print0 | sort -z |
while IFS= read -r -d '' name; do
    [ -L "$name" ] && { printf '%q -> %q\n' "$name" "$(readlink "$name")"; continue; }
    [ -x "$name" ] && printf x; printf '%q %s\n' "$name" "$(md5sum < "$name")"
done"""


async def run(sandbox: Any, *argv: str, check: bool = True) -> str:
    """As the agent, at the repository."""
    env = ANY_OWNER | {"HOME": "/home/agent", "GIT_CONFIG_NOSYSTEM": "1"}
    result = await sandbox.exec(list(argv), timeout=60, cwd="/", env=env)
    assert not check or result.exit_code == 0, result.output
    return result.output.strip()


async def begin(sandbox: Any, make: str = MAKE) -> str:
    """Make the repository; its first tree."""
    await run(sandbox, "/bin/bash", "-c", make)
    await run(sandbox, "/bin/sh", "-c", squash_script(await run(sandbox, "git", "-C", REPOSITORY, "rev-parse", "HEAD")))
    return await run(sandbox, "git", "-C", REPOSITORY, "rev-parse", "HEAD^{tree}")


def taken(in_sandbox: InSandbox, change: str, *, most_bytes: int = 100_000, timeout: float = 30) -> Taken:
    async def body(sandbox: Any) -> Taken:
        start = await begin(sandbox)
        await run(sandbox, "/bin/bash", "-c", f"cd {REPOSITORY}; {change}", check=False)
        return await take_patch(sandbox, start, most_bytes=most_bytes, timeout=timeout)

    return in_sandbox(body, workdir=REPOSITORY)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_patch_makes_the_same_tree_out_of_a_fresh_one(in_sandbox: InSandbox, change: str) -> None:
    async def body(sandbox: Any) -> tuple[Taken, str, str]:
        start = await begin(sandbox)
        await run(sandbox, "/bin/bash", "-c", f"cd {REPOSITORY}; {change}")
        found = await take_patch(sandbox, start, most_bytes=100_000, timeout=30)
        await sandbox.put("/patch.diff", found.patch.encode())
        await run(sandbox, "git", "-C", "/fresh", "apply", "--verbose", "/patch.diff")
        return found, *[await run(sandbox, "/bin/bash", "-c", LIST, "sh", place) for place in (REPOSITORY, "/fresh")]

    found, ours, theirs = in_sandbox(body, workdir=REPOSITORY)
    assert (found.fault, found.patch[:11]) == ("", "diff --git ")
    assert theirs == ours


def test_nothing_changed_is_an_empty_patch(in_sandbox: InSandbox) -> None:
    ignored = "echo x > some.log; mkdir empty; touch run; echo scratch >> .git/info/exclude; echo x > scratch"
    assert taken(in_sandbox, ignored) == Taken("")


def test_a_repository_inside_is_named_only(in_sandbox: InSandbox) -> None:
    found = taken(
        in_sandbox,
        "git init -q inner; cd inner; git config user.name a; git config user.email a@b; "
        "git commit -q --allow-empty -m x; echo y > y",
    )
    assert "+Subproject commit" in found.patch
    assert "y" not in found.patch.split("+Subproject commit")[1][42:]


GONE = {
    "the folder": "cd /; rm -rf /testbed",
    "the folder, made again": "cd /; rm -rf /testbed; mkdir /testbed; echo x > /testbed/run",
    "its repository": "rm -rf .git",
    "its repository, made again": "rm -rf .git; git init -q; echo x > run; git add -A; git commit -q -m x",
    "its objects": "chmod -R u+w .git; find .git/objects -type f -delete",
    "another file in its place": "rm -rf .git; echo 'gitdir: /nowhere' > .git",
    "moved away": "mv .git /tmp/git",
}


@pytest.mark.parametrize("change", GONE.values(), ids=GONE)
def test_a_repository_that_is_gone(in_sandbox: InSandbox, change: str) -> None:
    found = taken(in_sandbox, change)
    assert (found.patch, found.fault) == ("", "repository_gone")
    assert found.reason.startswith("the repository and its first commit are gone")


BIG = {
    "text": "seq 100000 > numbers",
    "random bytes": "head -c 200000 /dev/urandom > random",
    "many files": "mkdir many; cd many; for i in $(seq 1500); do seq 30 > $i; done",
    "a large file": f"head -c {MOST_CHANGED + 1} /dev/zero > zeros",
    "a large random file": f"head -c {2 * MOST_CHANGED} /dev/urandom > random",
}


@pytest.mark.parametrize("change", BIG.values(), ids=BIG)
def test_a_patch_that_is_too_big(in_sandbox: InSandbox, change: str) -> None:
    found = taken(in_sandbox, change)
    assert (found.patch, found.fault) == ("", "patch_too_big")
    assert "over 100000 bytes" in found.reason


def test_a_patch_of_just_the_size(in_sandbox: InSandbox) -> None:
    size = len(taken(in_sandbox, "seq 1000 > numbers").patch)
    assert taken(in_sandbox, "seq 1000 > numbers", most_bytes=size).fault == ""
    assert taken(in_sandbox, "seq 1000 > numbers", most_bytes=size - 1).fault == "patch_too_big"


def test_a_patch_that_takes_too_long_is_none(in_sandbox: InSandbox) -> None:
    found = taken(in_sandbox, "echo two >> run", timeout=0.001)
    assert (found.fault, found.reason) == ("no_patch", "no patch could be taken: git took over 0.001 s")


def test_a_full_disk_and_daemons_that_hold_it(in_sandbox: InSandbox) -> None:
    async def body(sandbox: Any) -> tuple[str, Taken]:
        start = await begin(sandbox)
        shell = await sandbox.shell()
        await shell.run("cd /testbed; echo two >> run; exec 9> /tmp/held; rm /tmp/held", timeout=30)
        for _ in range(3):
            await shell.run("(setsid sh -c 'while :; do cat /dev/zero >&9; sleep 0.1; done' 2>&- &)", timeout=30)
        full = await shell.run("cat /dev/zero > full.log; mkdir x/y/z; echo three > other", timeout=30)
        return full.output, await take_patch(sandbox, start, most_bytes=100_000, timeout=30)

    said, found = in_sandbox(body, workdir=REPOSITORY, disk_mb=64)
    assert "No space left on device" in said
    assert found.fault == ""
    assert "+two" in found.patch


def test_a_folder_that_is_in_the_way_of_programs(in_sandbox: InSandbox) -> None:
    """Nothing that is taken depends on the agent's own search path, home or temporary folder."""
    found = taken(
        in_sandbox, "echo two >> run; rm -rf /tmp /home/agent; mkdir /tmp; chmod 0 /tmp; export PATH=/nowhere"
    )
    assert "+two" in found.patch


def test_what_git_itself_refuses_is_no_patch_and_said(in_sandbox: InSandbox) -> None:
    found = taken(in_sandbox, "echo '*.txt working-tree-encoding=UTF-16' > .gitattributes")
    assert (found.patch, found.fault) == ("", "no_patch")
    assert "exit code 128: " in found.reason
    assert "UTF-16" in found.reason

"""What is left of a repository's history in the agent's sandbox: one commit, whatever the repository was like."""

from collections.abc import Callable
from typing import Any

import pytest

from claw_envs.core.task import SandboxSpec
from claw_envs.swe.instance import REPOSITORY
from claw_envs.swe.repository import ANY_OWNER, agent_spec, squash_script

# the history of a repository with its fix, as commits `past`, `base` and `future`; the secret is only in the last
MAKE = """set -eu
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b HOME=/
git config --file /.gitconfig protocol.file.allow always
mkdir /origin && cd /origin && git init -q -b trunk .
mkdir 'a b' && echo one > 'a b/näme.txt' && printf '#!/bin/sh\\n' > run && chmod +x run && ln -s run link
printf '\\0\\1' > data.bin && printf 'ignored\\n' > .gitignore && printf '*.txt text\\n' > .gitattributes
git add -A && git commit -q -m past
echo two > 'a b/näme.txt' && git commit -q -a -m base && git tag base
echo 'three SECRET-FIX' > 'a b/näme.txt' && git commit -q -a -m 'future SECRET-FIX'
git tag -a -m SECRET-FIX future && git notes add -m 'SECRET-FIX note' base
AT=/testbed
copy() { git clone -q "$@" $AT && cd $AT && git checkout -q $(git -C /origin rev-parse base); }
"""
SHAPES = {
    "clone": "copy /origin",
    "packed": "copy --no-local /origin && git gc -q && git pack-refs --all",
    "shallow": "copy --depth 2 file:///origin",
    "borrowed": "copy --shared /origin",
    "borrowed twice": "git clone -q --shared /origin /middle && copy --shared /middle",
    "worktree": "rm -r $AT && git clone -q /origin /elsewhere && cd /elsewhere && git worktree add -q $AT base",
    "link": "copy /origin && mv .git /git-dir && ln -s /git-dir .git",
    "branch": "copy /origin && git checkout -q -b main base && git branch other future",
    "stash": "copy /origin && echo SECRET-FIX >> run && git stash -q",
    "replaced": "copy /origin && git replace base 'future^{}'",
    "mirror": """git clone -q --mirror /origin $AT/.git && cd $AT && git config core.bare false
git reset -q --hard base""",
    "split index": "copy /origin && git update-index --split-index",
    "marked index": "copy /origin && git update-index --assume-unchanged run && git update-index --skip-worktree link",
    "hostile": """copy /origin && echo '* filter=x' > .git/info/attributes
git config filter.x.clean 'echo SECRET-FIX' && git config alias.x SECRET-FIX
echo 'echo SECRET-FIX' > .git/hooks/post-index-change && chmod +x .git/hooks/*""",
    "lost": """copy /origin && git update-ref -d refs/remotes/origin/trunk && git tag -d future
git reflog expire --all --expire=now""",
    "submodule": """git init -q /sub && cd /sub && echo s > s && git add s && git commit -q -m sub
echo SECRET-FIX > s && git commit -q -a -m SECRET-FIX
cd /origin && git checkout -q -b with base && git submodule --quiet add /sub m
cd m && git checkout -q HEAD~1 && cd .. && git add -A && git commit -q -m base2 && git tag -f base
copy --recurse-submodules /origin && git submodule --quiet update""",
}
# every object, wherever it lies, and every other file of what were git folders, without compression
LOOK = """cd /testbed || exit
git cat-file --batch-all-objects --batch --unordered > /tmp/objects || exit
git cat-file --batch-all-objects --batch-check='%(objecttype)' | grep -c commit
grep -c SECRET-FIX /tmp/objects
grep -rl SECRET-FIX . /git-dir /elsewhere/.git /store/.git /middle/.git 2>/dev/null
git fsck --full --no-progress 2>&1
git status --porcelain
git log --format='%H %s'
git for-each-ref --format='%(refname)'; git stash list; git remote; git reflog
find . -path ./.git -prune -o -name .git -print
find / -xdev -name '*.pack' -o -xdev -path '*/objects/??/*' -type f | grep -v -e ^/origin -e ^/usr -e ^/sub/ | sort
"""
FILES = "cd /testbed; find . -name .git -prune -o ! -type d -print0 | sort -z | xargs -0 ls -lnd --time-style=full-iso"


class Inside:
    """Scripts in a sandbox that has the repository, its base commit checked out at /testbed."""

    def __init__(self, sandbox: Any) -> None:
        self._sandbox = sandbox

    async def __call__(self, script: str, *, shell: str = "/bin/bash") -> str:
        env = ANY_OWNER | {"HOME": "/"}
        result = await self._sandbox.exec([shell, "-c", script], timeout=60, cwd="/", env=env)
        assert result.exit_code == 0, result.output
        return result.output.strip()

    async def make(self, shape: str, then: str = ":") -> str:
        """The base commit of a repository of that shape, which then was changed."""
        await self(f"{MAKE}\n{shape}\ncd {REPOSITORY}\ngit rev-parse HEAD > /base\n{then}")
        return await self("cat /base")

    async def squash(self, commit: str) -> None:
        await self(squash_script(commit), shell="/bin/sh")


InSandbox = Callable[..., Any]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_one_commit_is_left_under_its_own_id(in_sandbox: InSandbox, shape: str) -> None:
    async def body(sandbox: Any) -> tuple[str, str, bool]:
        inside = Inside(sandbox)
        base = await inside.make(shape)
        before = await inside(FILES)
        await inside.squash(base)
        return base, await inside(LOOK), await inside(FILES) == before

    base, seen, unchanged = in_sandbox(body, workdir=REPOSITORY)
    commits, secrets, *said, pack = seen.splitlines()
    assert (commits, secrets) == ("1", "0"), seen
    assert said in ([f"{base} base", "refs/heads/main"], [f"{base} base2", "refs/heads/main"]), seen
    assert pack.startswith(f"{REPOSITORY}/.git/objects/pack/pack-"), seen
    assert unchanged


def test_a_commit_may_be_named_as_git_names_it(in_sandbox: InSandbox) -> None:
    async def body(sandbox: Any) -> tuple[str, str]:
        inside = Inside(sandbox)
        base = await inside.make(SHAPES["clone"])
        await inside.squash("HEAD")
        return base, await inside("cd /testbed; git rev-parse HEAD; git status --porcelain")

    base, seen = in_sandbox(body, workdir=REPOSITORY)
    assert seen == base


def test_the_search_finds_a_fix_that_is_there(in_sandbox: InSandbox) -> None:
    async def body(sandbox: Any) -> str:
        inside = Inside(sandbox)
        await inside.make(SHAPES["clone"])
        return await inside(LOOK)

    commits, secrets, *_ = in_sandbox(body, workdir=REPOSITORY).splitlines()
    assert (commits, int(secrets) > 0) == ("4", True)


def test_what_the_environment_changed_is_one_commit_on_top(in_sandbox: InSandbox) -> None:
    changed = (
        "echo set up >> run; chmod -x run; rm link; mkdir -p build/lib '#odd ['; touch build/lib/x '#odd [/y' '!z'"
    )

    async def body(sandbox: Any) -> tuple[str, str]:
        inside = Inside(sandbox)
        base = await inside.make(SHAPES["clone"], changed)
        await inside.squash(base)
        look = "cd /testbed; git status --porcelain; git log --format=%s; git diff --name-status HEAD~1; git fsck 2>&1"
        return await inside(look), await inside(
            f"cd /testbed; git checkout -q {base} run 'a b'; git diff --cached --stat"
        )

    seen, checked_out = in_sandbox(body, workdir=REPOSITORY)
    assert seen.splitlines() == ["What the environment was set up with", "base", "D\tlink", "M\trun"]
    assert "run" in checked_out


def test_the_commit_outlives_a_rewritten_history(in_sandbox: InSandbox) -> None:
    forget = """cd /testbed; git checkout -q --orphan new; git commit -q -m new; git branch -D main >/dev/null
echo two > run; git commit -qam more; git reflog expire --all --expire=now; git gc -q --prune=now"""

    async def body(sandbox: Any) -> str:
        inside = Inside(sandbox)
        base = await inside.make(SHAPES["clone"])
        await inside.squash(base)
        await inside(forget)
        return await inside(f"cd /testbed; git cat-file -t {base}")

    assert in_sandbox(body, workdir=REPOSITORY) == "commit"


def test_a_commit_that_is_not_there_is_named(in_sandbox: InSandbox) -> None:
    async def body(sandbox: Any) -> Any:
        inside = Inside(sandbox)
        await inside.make(SHAPES["clone"])
        return await sandbox.exec(["/bin/sh", "-c", squash_script("0" * 40)], timeout=60)

    result = in_sandbox(body, workdir=REPOSITORY)
    assert result.exit_code != 0
    assert f"the repository has no commit {'0' * 40}" in result.output


def test_compiled_files_of_another_commit_are_removed(in_sandbox: InSandbox) -> None:
    async def body(sandbox: Any) -> str:
        inside = Inside(sandbox)
        base = await inside.make(
            SHAPES["clone"], "mkdir -p 'a b/__pycache__' .pytest_cache; touch 'a b/__pycache__/x.pyc'"
        )
        for command in agent_spec(SandboxSpec(image="x"), base, output_bytes=99).setup:
            await inside(command)
        return await inside("cd /testbed; find . -name '*cache*'; git status --porcelain; cat .git/info/exclude")

    assert in_sandbox(body, workdir=REPOSITORY) == ""


def test_the_agents_machine() -> None:
    spec = SandboxSpec(image="x", setup=("make",), env={"A": "b"}, network="full")
    found = agent_spec(spec, "0" * 40, output_bytes=99)
    first, *_, last = found.setup
    assert (first, last) == ("make", squash_script("0" * 40))
    assert (found.env, found.output_bytes, found.image, found.network) == (ANY_OWNER | {"A": "b"}, 99, "x", "none")
    assert agent_spec(SandboxSpec(layers=("/x",)), "0" * 40, output_bytes=99).setup == ()


def test_folders_of_objects_do_not_tell_which_objects_there_were(in_sandbox: InSandbox) -> None:
    async def body(sandbox: Any) -> str:
        inside = Inside(sandbox)
        await inside.squash(await inside.make(SHAPES["clone"]))
        return await inside("cd /testbed/.git/objects; find . -mindepth 1 -type d | sort | tr -d ./; git fsck --full")

    said = in_sandbox(body, workdir=REPOSITORY)
    assert said.split() == sorted([*(f"{number:02x}" for number in range(256)), "info", "pack"])

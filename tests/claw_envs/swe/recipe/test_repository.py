import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claw_envs.core.errors import UserError
from claw_envs.sandbox.base import Sandbox
from claw_envs.swe.recipe import Recipe, prepare
from claw_envs.swe.recipe.file import Repository
from tests.claw_envs.swe.make_task import replay
from tests.claw_envs.swe.recipe.conftest import Clone

Runner = Callable[..., Any]
_NOT_THERE = [f"ls: cannot access '{path}': No such file or directory" for path in ("/build", "/tmp/*")]
BARE = Recipe(packages=("greet==1.0",))


def _layers(base: str, **fields: Any) -> dict[str, Any]:
    """What `in_sandbox` takes of a prepared sandbox."""
    spec = asyncio.run(prepare(msgspec.structs.replace(BARE, **fields), base))
    return {"layers": spec.layers, "env": spec.env, "workdir": spec.workdir}


def _say(script: str) -> Callable[[Sandbox], Any]:
    async def body(sandbox: Sandbox) -> list[str]:
        result = await sandbox.exec(["/bin/bash", "-c", f"exec 2>&1\n{script}"], timeout=60)
        assert isinstance(result.output, str)
        return result.output.splitlines()

    return body


def _sources(clone: Clone) -> dict[str, Repository]:
    patches = clone.path.parent / "patches"
    clone.git("format-patch", "-q", "--root", "--no-signature", "--zero-commit", "-o", str(patches), "HEAD")
    bare = clone.path.parent / "bare"
    clone.git("clone", "-q", "--bare", ".", str(bare))
    return {
        "path": Repository(path=str(clone.path)),
        "bare": Repository(path=str(bare)),
        "url": Repository(url=clone.path.as_uri()),
        "history": Repository(history=str(patches)),
    }


@pytest.mark.parametrize("kind", ["path", "bare", "url", "history"])
def test_the_base_commit_is_all_there_is(in_sandbox: Runner, clone: Clone, kind: str) -> None:
    source = _sources(clone)[kind]
    clone.git("config", "uploadpack.allowAnySHA1InWant", "true")  # as the addresses of forges do
    history = Path(source.history)
    base = replay(history, clone.path.parent / "replayed")[0] if kind == "history" else clone.base
    script = """git rev-parse HEAD; git status --porcelain; git for-each-ref --format='%(refname)'; git remote
    git log --all --format=%s; git cat-file --batch-all-objects --batch-check | wc -l
    git cat-file --batch-all-objects --batch | grep -ac -e FAULT -e REPAIRED
    cat code.py; test -O code.py && echo mine; ls -d /build /tmp/*"""
    said = in_sandbox(_say(script), **_layers(base, repository=source, env={"KIND": kind}))
    # the commit, two trees, two files
    assert said == [base, "refs/heads/main", "a commit", "5", "1", "print('FAULT')", "mine", *_NOT_THERE]


def test_git_takes_every_file_for_unchanged_without_reading_it(in_sandbox: Runner, clone: Clone) -> None:
    # diff-files, unlike diff and status, names each file whose times, inode, size or owner are not as in the index
    script = """git diff-files --name-only
    find . -path ./.git -prune -o -type f ! -newer .git/index -printf '%P\n' | sort
    touch 'notes/read me.txt'; git diff-files --name-only"""
    said = in_sandbox(_say(script), **_layers(clone.base, repository=Repository(path=str(clone.path))))
    assert said == ["code.py", "notes/read me.txt", "notes/read me.txt"]


def test_what_install_does_is_part_of_the_layer(in_sandbox: Runner, clone: Clone) -> None:
    install = (
        "python -m pip uninstall -q -y greet",
        "echo $GREETING > made.txt && cp made.txt $VIRTUAL_ENV/made.txt && echo x > ~/kept && echo x > /tmp/dropped",
        "echo changed >> code.py",
    )
    fields = {"repository": Repository(path=str(clone.path)), "install": install, "env": {"GREETING": "hello"}}
    script = """python -c 'import greet' 2>&1 | tail -n 1; cat made.txt $VIRTUAL_ENV/made.txt; ls ~ /tmp; echo $GREETING
    git status --porcelain; git log --format=%s; git diff HEAD~ --numstat; git diff-files --name-only"""
    said = in_sandbox(_say(script), **_layers(clone.base, **fields))
    assert said[0].startswith("ModuleNotFoundError")
    on_top = ["What the environment was set up with", "a commit", "1\t0\tcode.py"]
    assert said[1:] == ["hello", "hello", "/home/agent:", "kept", "", "/tmp:", "hello", *on_top]


def test_an_install_command_that_fails_is_named_and_nothing_is_kept(clone: Clone, cache: Path) -> None:
    before = set(cache.glob("recipes/*-*"))
    with pytest.raises(UserError, match=r"install command `echo; cat /none >&2` fails: cat: /none: No such file"):
        _layers(clone.base, repository=Repository(path=str(clone.path)), install=("true", "echo; cat /none >&2"))
    assert not [path for path in set(cache.glob("recipes/repository-*")) - before if path.is_dir()]


def test_a_layer_that_is_there_needs_no_repository(clone: Clone) -> None:
    layers = _layers(clone.base, repository=Repository(path=str(clone.path)), env={"A": "B"})
    assert _layers(clone.base, env={"A": "B"}) == layers
    assert layers["env"]["A"] == "B"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, r"no repository: name one in the recipe .* or `claw swe prepare --repository PATH`"),
        ({"path": "/none"}, "repository /none: no such folder"),
        ({"history": "/none"}, "/none: no patch there"),
        ({"url": "file:///none"}, r"cannot be fetched from file:///none: .*; `claw swe prepare --repository PATH`"),
    ],
)
def test_a_repository_that_is_not_there(given: dict[str, str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        _layers("0" * 40, repository=Repository(**given))


def test_a_commit_that_is_not_there(clone: Clone) -> None:
    with pytest.raises(UserError, match=rf"commit 0+ cannot be fetched from {clone.path.as_uri()}: fatal"):
        _layers("0" * 40, repository=Repository(path=str(clone.path)))
    with pytest.raises(UserError, match="the repository cannot be checked out"):
        _layers("0" * 40, repository=_sources(clone)["history"])


@pytest.mark.parametrize("base", ["HEAD", "main", "v1", "", "0123456"])
def test_what_may_be_another_commit_elsewhere_names_no_layer(clone: Clone, base: str) -> None:
    with pytest.raises(UserError, match=f"needs the whole id of the base commit, 40 hex digits; '{base}' may be any"):
        _layers(base, repository=Repository(path=str(clone.path)))

"""The repository layer: the base commit at /testbed, with no other in it, and what the recipe's `install` did.

What that changed in tracked files is one commit on top, as in SWE-bench's images. The base commit comes out of a clone
or an address, of which nothing else is fetched, or out of patches. As its id says what it holds, a layer that is there
serves wherever the commit came from. The index is the one that git itself writes over the finished layer: git in an
episode takes every file for unchanged without reading it.

Not covered: submodules, and Git LFS, of which the pointers are checked out.
"""

import os
import re
import tempfile
import urllib.parse
from pathlib import Path

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.images.inside import inside
from claw_envs.sandbox.namespace.backend import NamespaceSandbox
from claw_envs.sandbox.namespace.host import identity
from claw_envs.swe.instance import REPOSITORY
from claw_envs.swe.recipe.build import build
from claw_envs.swe.recipe.environment import ENV
from claw_envs.swe.recipe.file import Recipe, Repository
from claw_envs.swe.recipe.layers import key_of, layer
from claw_envs.swe.recipe.process import last_words, run
from claw_envs.swe.repository import squash_script

_FETCH_TIMEOUT = _INSTALL_TIMEOUT = 1800.0
_SOURCE = "/build/source"
_INDEX = f"{REPOSITORY}/.git/index"
_MOST_INDEX = 1 << 30
_ID = re.compile(r"[0-9a-f]{40}")
_OUT_OF_FETCHED = f"""set -e
cd {REPOSITORY}
git init -q --template= -b main
git fetch -q --depth=1 file://{_SOURCE} main
"""
_OUT_OF_HISTORY = f"""set -e
cd {REPOSITORY}
git init -q --template= -b main
export GIT_COMMITTER_NAME=claw-envs GIT_COMMITTER_EMAIL=tasks@claw-envs.invalid
git am -q --keep-cr --committer-date-is-author-date {_SOURCE}/*.patch
"""
# all files anew, as the times, inodes and order of some would tell what later commits change; old times, so that git
# never finds a file as young as its index and reads it again
_CHECK_OUT = """git rm -rfq --ignore-unmatch .
git checkout -q --force --detach "$1"
git ls-files -z | xargs -0 touch --no-create --no-dereference --date="@$(git show -s --format=%ct "$1")" --
"""
_TIDY = "rm -rf /tmp/* /tmp/.[!.]* /var/tmp/* /home/agent/.cache"
_REFRESH = f"cd {REPOSITORY} && git update-index -q --refresh"
_INSTALL_ENV = {"PIP_NO_CACHE_DIR": "1"}


async def repository_layer(recipe: Recipe, base: str, below: tuple[str, ...]) -> str:
    """The layer with the repository at `base`.

    Args:
        base: id of the commit, 40 hex digits.
        below: the layers that it lies on.

    Raises:
        UserError: if the commit cannot be had, or the recipe's `install` fails.
        InfrastructureError: if the sandbox fails.
    """
    if not _ID.fullmatch(base):
        raise UserError(f"a recipe needs the whole id of the base commit, 40 hex digits; {base!r} may be any commit")
    scripts = [squash_script(base), _OUT_OF_FETCHED, _OUT_OF_HISTORY, _CHECK_OUT, _TIDY, _REFRESH]
    key = key_of("repository", base, recipe.install, recipe.env, [Path(name).name for name in below], scripts)

    async def make(place: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="claw-envs-repository-") as scratch:
            source = await _source(recipe, base, Path(scratch) / "bare")
            spec = SandboxSpec(layers=below, files={_SOURCE: str(source)}, workdir=REPOSITORY, env=ENV | recipe.env)
            async with build(spec) as sandbox:
                script = _OUT_OF_HISTORY if recipe.repository.history else _OUT_OF_FETCHED
                await _run(sandbox, script + _CHECK_OUT, "the repository cannot be checked out", base)
                for command in recipe.install:
                    await _run(sandbox, command, f"the recipe's install command `{command}` fails")
                await _run(sandbox, f"{squash_script(base)}\n{_TIDY}", "the repository's history cannot be left out")
                await sandbox.keep(place)
            await _refresh_index(place, SandboxSpec(layers=(*below, str(place)), workdir=REPOSITORY))

    return str(await layer(key, make))


async def _source(recipe: Recipe, base: str, target: Path) -> Path:
    """The folder that the sandbox is given: a repository of that one commit on its branch `main`, or patches."""
    given = recipe.repository
    _check(given)
    if given.history:
        return Path(given.history)
    await _fetch(given.path, given.url, base, target)
    return target


def _check(given: Repository) -> None:
    if given.history and not any(Path(given.history).glob("*.patch")):
        raise UserError(f"{given.history}: no patch there, which the recipe names as the repository's history")
    if given.path and not Path(given.path).is_dir():
        raise UserError(f"repository {given.path}: no such folder")
    if given == Repository():
        raise UserError("no repository: name one in the recipe ([repository]) or `claw swe prepare --repository PATH`")


async def _fetch(path: str, url: str, base: str, target: Path) -> None:
    fetch = ["git", "-C", str(target), "fetch", "-q", "--depth=1", "--no-tags"]
    if path:
        fetch += ["--upload-pack", "git -c uploadpack.allowAnySHA1InWant=true upload-pack"]
        url = f"file://{urllib.parse.quote(path)}"
    for command in (
        ["git", "init", "-q", "--bare", "--template=", "-b", "main", str(target)],
        [*fetch, url, f"{base}:refs/heads/main"],
    ):
        code, said = await run(command, timeout=_FETCH_TIMEOUT, env={"GIT_TERMINAL_PROMPT": "0"})
        if code != 0:
            reason = last_words(code, said)
            hint = "" if path else "; `claw swe prepare --repository PATH` takes it out of a clone"
            raise UserError(f"commit {base} cannot be fetched from {url}: {reason}{hint}")


async def _run(sandbox: NamespaceSandbox, script: str, failure: str, *arguments: str) -> None:
    command = ["/bin/bash", "-c", script, "bash", *arguments]
    result = await sandbox.exec(command, timeout=_INSTALL_TIMEOUT, env=_INSTALL_ENV)
    if result.exit_code != 0:
        raise UserError(f"{failure}: {last_words(result.exit_code, result.output)}")


async def _refresh_index(place: Path, spec: SandboxSpec) -> None:
    """Let git note what the layer's files look like from inside, times and inodes above all."""
    async with build(spec) as sandbox:
        await _run(sandbox, _REFRESH, "git cannot look through the repository")
        content = await sandbox.get(_INDEX, max_bytes=_MOST_INDEX)
    index = inside(place, _INDEX)
    index.unlink()
    index.write_bytes(content)
    os.chown(index, *identity().agent)

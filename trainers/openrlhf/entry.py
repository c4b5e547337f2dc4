"""OpenRLHF's own program, as it is: its command line read and checked without starting anything, or run.

The program is `openrlhf.cli.train_ppo_ray`. Its parser and its checks stand behind `if __name__ == "__main__"`, so they
are reached by running the file.
"""

import argparse
import contextlib
import functools
import io
import runpy
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from claw_envs.core.errors import UserError

PROGRAM = "openrlhf.cli.train_ppo_ray"
_IMPORTS = {
    "ray": ("is_initialized",),
    "ray.util": (),
    "ray.util.placement_group": ("placement_group",),
    "openrlhf.trainer": (),
    "openrlhf.trainer.ray": ("create_vllm_engines",),
    "openrlhf.trainer.ray.launcher": ("RayActorGroup", "ReferenceModelActor", "RewardModelActor"),
    "openrlhf.trainer.ray.ppo_actor": ("PolicyModelActor",),
    "openrlhf.trainer.ray.ppo_critic": ("CriticModelActor",),
    "openrlhf.utils": ("get_strategy",),
}
"""What the program trains with and needs for nothing before. Importing it takes long, and on a GPU's builds."""


class _Checked(BaseException):
    """The program has accepted its command line, and asks whether Ray runs: its first act."""


def check(words: list[str]) -> list[str]:
    """Let the program read and check its command line, without what it trains with.

    Args:
        words: flags and their values.

    Returns:
        Its warnings, a line each.

    Raises:
        UserError: as the program refuses them.
    """
    said, complaint = io.StringIO(), io.StringIO()
    folder = _folder()
    with (
        _only_parser(folder),
        _strictly(),
        _arguments(words),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(complaint),
    ):
        try:
            runpy.run_path(str(folder / "cli" / "train_ppo_ray.py"), run_name="__main__")
        except _Checked:
            pass
        except SystemExit:
            lines = complaint.getvalue().strip().splitlines() or ["--help shows nothing to train"]
            raise UserError(f"OpenRLHF: {lines[-1].partition('error: ')[2] or lines[-1]}") from None
        except AssertionError as error:
            raise UserError(f"OpenRLHF: {error}") from None
    return [line.removeprefix("[Warning] ") for line in said.getvalue().splitlines() if line]


def enter(words: list[str]) -> None:
    """Run the program in this process. What it raises is left as it is.

    Args:
        words: as `check` accepted them, so that its parser completes no name here either.
    """
    with _arguments(words):
        runpy.run_module(PROGRAM, run_name="__main__", alter_sys=True)


def _folder() -> Path:
    spec = find_spec("openrlhf")
    folders = spec.submodule_search_locations if spec else None
    assert folders
    return Path(folders[0])


@contextlib.contextmanager
def _arguments(words: list[str]) -> Iterator[None]:
    before = sys.argv
    sys.argv = [PROGRAM, *words]
    try:
        yield
    finally:
        sys.argv = before


@contextlib.contextmanager
def _strictly() -> Iterator[None]:
    """No name of a flag is completed: who else reads the flags knows them by their whole names."""
    parser: Any = argparse.ArgumentParser
    lenient = parser.__init__
    parser.__init__ = functools.partialmethod(lenient, allow_abbrev=False)
    try:
        yield
    finally:
        parser.__init__ = lenient


@contextlib.contextmanager
def _only_parser(folder: Path) -> Iterator[None]:
    """Empty modules in place of those that the program trains with."""
    before = _loaded()
    for name in before:
        del sys.modules[name]
    for name, members in _IMPORTS.items():
        module = sys.modules[name] = ModuleType(name)
        for member in members:
            setattr(module, member, _end)
        # modules below that are not in the list are real: reading the command line needs one
        module.__path__ = [str(folder.joinpath(*name.split(".")[1:]))] if name.startswith("openrlhf.") else []
    try:
        yield
    finally:
        for name in _loaded():
            del sys.modules[name]
        sys.modules.update(before)


def _loaded() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ("ray", "openrlhf")}


def _end(*args: Any, **kwargs: Any) -> NoReturn:
    raise _Checked

"""Finding code by dotted name, when it is needed: how the command line reaches packages that it must not import."""

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from claw_envs.core.errors import UserError

_OURS = ("claw_envs", "judges", "trainers", "evals")


def lookup(dotted: str, *, extra: str) -> Any:
    """The object called `module:name`.

    Args:
        dotted: where it is.
        extra: the installation extra that brings what it imports.

    Raises:
        UserError: if a package that it needs is not installed, or the module has no such name.
    """
    module, _, name = dotted.partition(":")
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in _OURS:
            raise  # a bug, not a missing installation
        raise UserError(f'{error.name} is not installed: pip install "claw-envs[{extra}]"') from error
    except AttributeError as error:
        raise UserError(f"{dotted}: {error}") from error


def trainer(name: str) -> str:
    """The dotted name of the trainer `name`: an entry point of the group `claw.trainers`, or already `module:function`.

    Raises:
        UserError: if no installed package offers it.
    """
    if ":" in name:
        return name
    known = {point.name: point.value for point in entry_points(group="claw.trainers")}
    if name not in known:
        raise UserError(f"no trainer {name!r}; installed: {', '.join(sorted(known)) or 'none'}")
    return known[name]

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
        UserError: if it is not written so, there is no such module or name, or a package that it needs is missing.
    """
    module, _, name = dotted.partition(":")
    if not all(part.isidentifier() for part in [*module.split("."), name]):
        raise UserError(f"{dotted!r}: write module:name, as in my_package.my_module:my_function")
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if f"{module}.".startswith(f"{missing}."):
            raise UserError(f"{dotted}: there is no module {missing}") from error
        if missing.partition(".")[0] in _OURS:
            raise  # a bug, not a missing installation
        raise UserError(f'{dotted} needs {missing}: pip install "claw-envs[{extra}]"') from error
    if not hasattr(found, name):
        raise UserError(f"{dotted}: {module} has no {name}")
    return getattr(found, name)


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

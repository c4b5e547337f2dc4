"""Environments from settings that a user wrote, in a file or on the command line: what does not fit is named."""

import inspect
from collections.abc import Mapping
from typing import Any

from claw_envs.core.env import ClawEnv
from claw_envs.core.errors import UserError
from claw_envs.families import family
from claw_envs.lookup import lookup


def make_env(name: str, settings: Mapping[str, Any], *, said: str) -> ClawEnv:
    """An environment of the family `name`, from settings that a user wrote.

    Args:
        settings: for the constructor.
        said: where the user wrote them, for the complaint.

    Raises:
        UserError: if there is no such family, or its environment takes no such argument.
    """
    create: type[ClawEnv] = lookup(family(name).env, extra="all")
    takes = _arguments(create)
    if unknown := sorted(settings.keys() - takes):
        raise UserError(f"{said}: the {name} environment takes no {', '.join(unknown)}; it takes {', '.join(takes)}")
    return create(**settings)


def _arguments(create: type) -> list[str]:
    """Names of the constructor's arguments; while a constructor passes on what it does not know, its base's too."""
    names: dict[str, None] = {}
    for each in create.__mro__:
        if "__init__" in vars(each):
            parameters = list(inspect.signature(each).parameters.values())
            names |= {it.name: None for it in parameters if it.kind in (it.POSITIONAL_OR_KEYWORD, it.KEYWORD_ONLY)}
            if not any(it.kind is it.VAR_KEYWORD for it in parameters):
                break
    return list(names)

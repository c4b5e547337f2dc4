"""Environments from settings that a user wrote, in a file, on the command line or to Gymnasium: mistakes are named.

With `server`, the environment is one that the environment server at that URL hosts.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from claw_envs.core.env import ClawEnv
from claw_envs.core.errors import UserError
from claw_envs.core.vector import ClawVectorEnv
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
    create, arguments = _creator(name, settings, said=said)
    env: ClawEnv = create(**arguments)
    return env


def open_env(*, family: str, **settings: Any) -> ClawEnv:
    """The entry point of every family for `gymnasium.make`.

    Raises:
        UserError: see `make_env`.
    """
    return make_env(family, settings, said="gymnasium.make")


def open_vector_env(*, family: str, num_envs: int = 1, **settings: Any) -> ClawVectorEnv:
    """The entry point of every family for `gymnasium.make_vec`.

    Raises:
        UserError: see `make_env`.
    """
    create, arguments = _creator(family, settings, said="gymnasium.make_vec", vector=True)
    env: ClawVectorEnv = create(num_envs, **arguments)
    return env


def arguments_of(name: str) -> list[str]:
    """Names of the arguments that the environments of a family take.

    Raises:
        UserError: if there is no such family, or a package that it needs is missing.
    """
    return _arguments(lookup(family(name).env, extra="all"))


def _creator(
    name: str, settings: Mapping[str, Any], *, said: str, vector: bool = False
) -> tuple[Callable[..., Any], dict[str, Any]]:
    """What makes the environment, and its arguments, which were checked unless the server does that."""
    row, arguments = family(name), dict(settings)
    if arguments.get("server") is not None:
        create = lookup(f"claw_envs.server.env:{'RemoteVectorEnv' if vector else 'RemoteEnv'}", extra="serve")
        return create, arguments | {"family": row.name}
    arguments.pop("server", None)
    takes = arguments_of(name)
    if unknown := sorted(arguments.keys() - takes):
        raise UserError(
            f"{said}: the {row.name} environment takes no {', '.join(unknown)}; it takes {', '.join(takes)}, "
            "or server and what the server allows"
        )
    return lookup(row.vector_env if vector else row.env, extra="all"), arguments


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

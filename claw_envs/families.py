"""The environment families: their Gymnasium ids, where their code is, where their tasks come from."""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import gymnasium as gym

from claw_envs.core.errors import UserError
from claw_envs.lookup import lookup

if TYPE_CHECKING:
    from claw_envs.core.env import ClawEnv


class Family(NamedTuple):
    """One row of the table; code is named, not imported, so that `import claw_envs` stays light."""

    name: str
    summary: str
    env: str
    vector_env: str
    loader: str
    """`load(source: str | None) -> list[Task]`."""

    @property
    def id(self) -> str:
        """The Gymnasium id."""
        return f"claw/{self.name}-v0"


FAMILIES = (
    Family(
        "terminal",
        "a shell in a sandbox; graded by the task's own tests",
        "claw_envs.terminal.env:TerminalEnv",
        "claw_envs.terminal.env:TerminalVectorEnv",
        "claw_envs.terminal.harbor:load",
    ),
    Family(
        "chat",
        "personal chat with a simulated user who never states the preference up front",
        "claw_envs.chat.env:ChatEnv",
        "claw_envs.chat.env:ChatVectorEnv",
        "claw_envs.chat.problems:load",
    ),
)


def family(name: str) -> Family:
    """Look a family up by its name or Gymnasium id.

    Raises:
        UserError: if there is none.
    """
    for row in FAMILIES:
        if name in (row.name, row.id):
            return row
    raise UserError(f"no environment family {name!r}; there are: {', '.join(row.name for row in FAMILIES)}")


def make_env(name: str, settings: Mapping[str, Any], *, said: str) -> "ClawEnv":
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


def register() -> None:
    """Make every family known to `gymnasium.make` and `gymnasium.make_vec`."""
    for row in FAMILIES:
        gym.register(id=row.id, entry_point=row.env, vector_entry_point=row.vector_env)

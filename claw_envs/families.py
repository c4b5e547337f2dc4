"""The environment families: their Gymnasium ids, where their code is, where their tasks come from."""

from typing import NamedTuple

import gymnasium as gym

from claw_envs.core.errors import UserError


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
        "claw_envs.terminal.loader:load",
    ),
    Family(
        "gui",
        "a browser, a desktop or one of OSWorld's machines; graded by what state it is left in",
        "claw_envs.gui.env:GuiEnv",
        "claw_envs.gui.env:GuiVectorEnv",
        "claw_envs.gui.loader:load",
    ),
    Family(
        "toolcall",
        "questions with a Python interpreter and other tools; the final answer is checked",
        "claw_envs.toolcall.env:ToolCallEnv",
        "claw_envs.toolcall.env:ToolCallVectorEnv",
        "claw_envs.toolcall.data.loader:load",
    ),
    Family(
        "swe",
        "an issue and its repository; graded by hidden tests as SWE-bench grades",
        "claw_envs.swe.env:SweEnv",
        "claw_envs.swe.env:SweVectorEnv",
        "claw_envs.swe.loader:load",
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


def register() -> None:
    """Make every family known to `gymnasium.make` and `gymnasium.make_vec`."""
    for row in FAMILIES:
        gym.register(
            id=row.id,
            entry_point="claw_envs.make:open_env",
            vector_entry_point="claw_envs.make:open_vector_env",
            kwargs={"family": row.name},
        )

"""Scripted users: a persona's check decides what it thinks of a reply, a seeded generator decides how it says so."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from claw_envs.chat.phrases import Sayings
from claw_envs.chat.simulator import Reaction
from claw_envs.core.task import Task

Opinion = Literal["content", "style", "wrong"]
"""What a persona thinks of a reply: fine, not how it wants it, or the wrong number."""
Check = Callable[[str, Task], Opinion]


class Mix(NamedTuple):
    """How often (0 to 1) a discontent user says what it wants, complains vaguely, or asks again; the rest of the time
    it changes the subject, which it also does, that often, when it is content."""

    correction: float = 0.6
    vague: float = 0.15
    reask: float = 0.2

    @property
    def unrelated(self) -> float:
        """The rest."""
        return 1.0 - self.correction - self.vague - self.reask


class ScriptedUser:
    """A simulator that needs no model; equal seeds give equal conversations."""

    def __init__(self, check: Check, sayings: Sayings, *, mix: Mix | None = None) -> None:
        """
        Args:
            check: the persona's opinion of a reply.
            sayings: the persona's wordings.
            mix: of a discontent user's reactions.
        """
        self._check, self._sayings, self._mix = check, sayings, mix or Mix()

    async def open(self, task: Task, *, rng: np.random.Generator) -> str:
        """See `Simulator.open`."""
        self._task, self._rng = task, rng
        return task.instruction

    async def react(self, reply: str) -> Reaction:
        """See `Simulator.react`."""
        opinion = self._check(reply, self._task)
        kind = self._kind(opinion)
        lines: list[str] = getattr(self._sayings, kind)
        known = {"question": self._task.instruction, "answer": f"{self._task.metadata.get('answer', 0):g}"}
        text = lines[int(self._rng.integers(len(lines)))].format_map(known | self._names())
        return Reaction(text, kind, content=opinion == "content", done=kind in ("thanks", "unrelated"))

    async def aclose(self) -> None:
        """Holds nothing."""

    def _kind(self, opinion: Opinion) -> str:
        draw, mix = float(self._rng.random()), self._mix
        if draw < mix.unrelated:
            return "unrelated"
        if opinion == "content":
            return "thanks"
        if opinion == "wrong":
            return "wrong"
        draw -= mix.unrelated
        return "correction" if draw < mix.correction else "vague" if draw < mix.correction + mix.vague else "reask"

    def _names(self) -> dict[str, str]:
        return {"name": str(self._task.metadata.get("name", ""))}

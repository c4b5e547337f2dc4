"""Scripted users: a persona's check decides what it thinks of a reply, a seeded generator decides how it says so."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from claw_envs.chat.phrases import Sayings
from claw_envs.chat.simulator import Reaction
from claw_envs.core.task import Task


class Opinion(NamedTuple):
    """What a persona thinks of a reply."""

    style: bool
    """It reads the way the persona wants it."""
    right: bool = True
    """Nothing in it is known to be wrong."""


Check = Callable[[str, Task], Opinion]


class Mix(NamedTuple):
    """How often (0 to 1) a discontent user says what it wants, complains vaguely, or asks again; the rest of the time
    it changes the subject, which it also does, that often, when it is content."""

    correction: float = 0.7
    vague: float = 0.1
    reask: float = 0.15

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
        said = [self._line("correction" if kind == "wrong" else kind)]
        if kind in ("correction", "wrong") and not opinion.right:
            said.append(self._line("wrong"))
        return Reaction(" ".join(said), kind, content=all(opinion), done=kind in ("thanks", "unrelated"))

    async def aclose(self) -> None:
        """Holds nothing."""

    def _kind(self, opinion: Opinion) -> str:
        draw, mix = float(self._rng.random()), self._mix
        if draw < mix.unrelated:
            return "unrelated"
        if opinion.style:
            return "thanks" if opinion.right else "wrong"
        draw -= mix.unrelated
        return "correction" if draw < mix.correction else "vague" if draw < mix.correction + mix.vague else "reask"

    def _line(self, kind: str) -> str:
        lines: list[str] = getattr(self._sayings, kind)
        known = self._task.metadata
        return lines[int(self._rng.integers(len(lines)))].format(
            question=self._task.instruction, answer=f"{known.get('answer', 0):g}", name=known.get("name", "")
        )

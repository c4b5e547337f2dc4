"""Scripted users: a persona's check decides what it thinks of a reply, a seeded generator decides how it says so."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from claw_envs.chat.phrases import Sayings
from claw_envs.chat.simulator import Reaction
from claw_envs.core.errors import UserError
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
    notices: float = 0.0
    """How often a user who sees a wrong number knows it for one, and tells the right one with a correction."""

    @property
    def unrelated(self) -> float:
        """The rest."""
        return round(1.0 - self.correction - self.vague - self.reask, 9)


def make_mix(shares: dict[str, float]) -> Mix:
    """A mix from plain settings.

    Raises:
        UserError: if a name is unknown, a share is outside 0..1, or the reactions add up to more than 1.
    """
    if unknown := shares.keys() - Mix._fields:
        raise UserError(f"mix: no {', '.join(sorted(unknown))}; there are: {', '.join(Mix._fields)}")
    mix = Mix(**shares)
    if not all(0 <= share <= 1 for share in (*mix, mix.unrelated)):
        raise UserError(f"mix: shares lie in 0..1, and correction + vague + reask in 0..1 too; got {mix}")
    return mix


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
        noticed = not opinion.right and float(self._rng.random()) < self._mix.notices
        kind = self._kind(opinion.style, noticed)
        said = [self._line("correction" if kind == "wrong" else kind)]
        if kind in ("correction", "wrong") and noticed:
            said.append(self._line("wrong"))
        content = opinion.style and not noticed
        return Reaction(" ".join(said), kind, content=content, done=kind in ("thanks", "unrelated"))

    async def aclose(self) -> None:
        """Holds nothing."""

    def _kind(self, style: bool, noticed: bool) -> str:
        draw, mix = float(self._rng.random()), self._mix
        if draw < mix.unrelated:
            return "unrelated"
        if style:
            return "wrong" if noticed else "thanks"
        draw -= mix.unrelated
        return "correction" if draw < mix.correction else "vague" if draw < mix.correction + mix.vague else "reask"

    def _line(self, kind: str) -> str:
        lines: list[str] = getattr(self._sayings, kind)
        known = self._task.metadata
        return lines[int(self._rng.integers(len(lines)))].format(
            question=self._task.instruction, answer=f"{known.get('answer', 0):g}", name=known.get("name", "")
        )

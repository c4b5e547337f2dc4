"""A screen without a machine behind it, for what a real one does rarely: it is lost, errs, hangs, or ends the task."""

import asyncio
from collections.abc import Callable

import numpy as np
import pytest

from claw_envs.core.env import Outcome
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Limits, Task, VerifierSpec
from claw_envs.gui import acts
from claw_envs.gui.backends import Place, Stage
from claw_envs.gui.options import Options
from claw_envs.gui.scenario import Said
from claw_envs.gui.screen import Element, Pane, Parts, View

SIZE = (320, 200)
BUTTON = Element(id="1", role="button", name="Go", box=(40, 50, 80, 20), states=("focused",))


def task(**limits: object) -> Task:
    return Task(
        id="drawn/go",
        family="gui",
        instruction="Press Go.",
        verifier=VerifierSpec(kind="miniwob"),
        limits=Limits(**limits),  # type: ignore[arg-type]
    )


class DrawnScreen:
    """Counts what is done to it, and shows how often; `fault` may say what is wrong with an act, or raise."""

    def __init__(self, fault: Callable[[acts.ScreenAct], str | None] = lambda _: None) -> None:
        self.size = SIZE
        self.done: list[acts.ScreenAct] = []
        self.looks, self.opened, self.closed = 0, 0, 0
        self._fault = fault

    async def open(self, task: Task) -> None:
        self.opened += 1

    async def do(self, act: acts.ScreenAct, *, timeout: float) -> str | None:
        if isinstance(act, acts.Wait):
            await asyncio.sleep(min(act.seconds, timeout))
        self.done.append(act)
        return self._fault(act)

    async def look(self, parts: Parts) -> View:
        self.looks += 1
        shade = min(20 * len(self.done), 255)
        return View(
            screenshot=np.full((SIZE[1], SIZE[0], 3), shade, np.uint8) if parts.screenshot else None,
            elements=[BUTTON] if parts.axtree else None,
            url="http://drawn.test/",
            panes=[Pane(title="Drawn", url="http://drawn.test/", active=True)],
            focused='[1] button "Go"',
        )

    async def close(self) -> None:
        self.closed += 1


class DrawnScenario:
    """Done where the last act before the end was a click; the page ends it after `ends` acts."""

    def __init__(self, screen: DrawnScreen, *, ends: int | None = None, lost: bool = False) -> None:
        self.screen, self.said, self._ends, self._lost = screen, list[Said](), ends, lost
        self.seeds: list[int] = []

    async def prepare(self, task: Task, *, seed: int) -> str:
        self.seeds.append(seed)
        await self.screen.open(task)
        if self._lost:
            raise InfrastructureError("no machine is left")
        return f"{task.instruction} Now."

    async def ended(self) -> bool:
        return self._ends is not None and len(self.screen.done) >= self._ends

    async def verify(self, said: Said) -> Outcome:
        self.said.append(said)
        success = bool(said.acts) and isinstance(said.acts[-1], acts.ClickElement)
        return Outcome(1.0 if success else -1.0, {"success": success, "score": float(success)})

    async def close(self) -> None:
        await self.screen.close()


def set_stage(monkeypatch: pytest.MonkeyPatch, scenario: DrawnScenario) -> None:
    """Let every environment of this test take place there."""

    def open_stage(place: Place, options: Options) -> Stage:
        return Stage(place, scenario.screen, scenario)

    monkeypatch.setattr("claw_envs.gui.env.open_stage", open_stage)

"""OSWorld's tasks on any `Machine`: our own desktop, or a machine that speaks OSWorld's protocol."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

from claw_envs.core.env import Outcome
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.gui.acts import Fail
from claw_envs.gui.osworld.cache import open_cache
from claw_envs.gui.osworld.evaluate import score
from claw_envs.gui.osworld.format import plan_of
from claw_envs.gui.osworld.needs import Given, missing
from claw_envs.gui.osworld.place import Place
from claw_envs.gui.osworld.screen import OsworldScreen
from claw_envs.gui.osworld.setup.steps import carry_out
from claw_envs.gui.osworld.vendor import Vendor
from claw_envs.gui.scenario import Said
from claw_envs.gui.screen import Machine

_SET_UP_TIMEOUT = 600.0
"""Seconds for a task's steps."""
_PATIENCE = 5.0
"""Seconds until a window is there that the agent may have closed."""


class OsworldScenario:
    """See `claw_envs.gui.scenario.Scenario`. Use on one event loop.

    The score is OSWorld's. A task that cannot be done is solved by the agent that says so (`Fail`), and by nothing
    else; one that can be done is never solved by that.
    """

    def __init__(
        self,
        machine: Machine,
        desktop_env: str | None = None,
        cache: str | Path | None = None,
        *,
        password: str = "password",
    ) -> None:
        """
        Args:
            desktop_env: the Python that has OSWorld's own package, for evaluators that we do not have.
            cache: folder with the files that tasks download; None: `osworld` in the cache of claw-envs, where it is.
            password: of the machine's user, for set-up commands that give it to sudo.

        Raises:
            UserError: if there is no such program or folder.
        """
        self._machine = machine
        self._vendor = Vendor(desktop_env) if desktop_env else None
        self._cache = open_cache(cache)
        web = isinstance(machine, OsworldScreen) and machine.web
        self._given = Given(cache=self._cache, desktop_env=desktop_env, web=web)
        self._password = password
        self._place: Place | None = None

    async def prepare(self, task: Task, *, seed: int) -> str:
        await self._forget()
        self._refuse(task)
        plan = plan_of(task)
        await self._machine.open(task)
        try:
            self._place = self._take_place(task)
            await carry_out(plan.config, self._place, timeout=_SET_UP_TIMEOUT)
        except BaseException:
            await self.close()
            raise
        return task.instruction

    def _refuse(self, task: Task) -> None:
        if lacking := missing(task, self._given):
            raise UserError(f"task {task.id} cannot run here: {'; '.join(lacking)}")

    def _take_place(self, task: Task) -> Place:
        lent = self._machine.lent if isinstance(self._machine, OsworldScreen) else None
        return Place(
            self._machine,
            task,
            Path(tempfile.mkdtemp(prefix="claw-osworld-")),
            cache=self._cache,
            password=self._password,
            address=lent and lent.url,
            browser=lent and lent.browser,
        )

    async def ended(self) -> bool:
        return False

    async def verify(self, said: Said) -> Outcome:
        place = self._place
        assert place is not None, "prepare a task first"
        plan = plan_of(place.task)
        gave_up = isinstance(said.ending, Fail)
        found, scores = 0.0, list[float]()
        if not plan.feasible:
            found = float(gave_up)
        elif not gave_up:
            try:
                async with asyncio.timeout(place.task.verifier.timeout):
                    left = place._replace(patience=_PATIENCE)
                    await carry_out(plan.postconfig, left, timeout=_SET_UP_TIMEOUT, strict=False)
                    found, scores = await score(plan, place, self._vendor)
            except TimeoutError as error:
                raise InfrastructureError(f"task {place.task.id}: no verdict in time") from error
        solved = found >= 1.0
        report: dict[str, Any] = {"success": solved, "score": found}
        return Outcome(1.0 if solved else -1.0, report | ({"scores": scores} if len(plan.checks) > 1 else {}))

    async def close(self) -> None:
        await self._forget()
        await self._machine.close()

    async def _forget(self) -> None:
        place, self._place = self._place, None
        if place is not None:
            await asyncio.to_thread(shutil.rmtree, place.folder, ignore_errors=True)

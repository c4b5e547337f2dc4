"""One episode in a web application: served from this process, scored by its last state.

The scenario holds the application's document. The page is only asked whether it is drawn, and whether a save is still
on its way.
"""

from claw_envs.core.env import Outcome
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from claw_envs.gui.browser.errors import PageError, UnansweredError
from claw_envs.gui.browser.screen import BrowserScreen
from claw_envs.gui.scenario import Said
from claw_envs.gui.webapps.app import read_app
from claw_envs.gui.webapps.goal import goal_of
from claw_envs.gui.webapps.store import Store
from claw_envs.gui.webapps.verify import verify

_DRAWN = """() => new Promise(resolve => {
  const loaded = performance.getEntriesByType("resource").map(entry => new URL(entry.name).pathname);
  const stores = loaded.includes("/common/store.js");
  const look = () => document.body.children.length && (globalThis.store || !stores)
    ? resolve(null) : requestAnimationFrame(look);
  look();
})"""
"""The body has an element, and the store its state where the page has one; looked for at every frame."""
_SAVED = "() => globalThis.store?.settled().then(() => null)"
_ANSWERS = "() => null"
_TIMEOUT = 20.0
"""Seconds for each; they take some milliseconds."""


class WebappScenario:
    """One application in a browser."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen

    async def prepare(self, task: Task, *, seed: int) -> str:
        """See `Scenario.prepare`. The first state is the same whatever the seed."""
        self._goal, app = goal_of(task), read_app(str(task.folder()))
        self._store = Store(app, self._goal.state)
        host = f"{app.name}.test"
        await self._screen.open(task)
        await self._screen.serve(host, self._store.answer)
        await self._screen.visit(f"http://{host}{self._goal.start}")
        try:
            await self._screen.evaluate(_DRAWN, timeout=_TIMEOUT)
        except PageError as error:
            raise InfrastructureError(f"task {task.id}: its page is not drawn: {error}") from None
        return task.instruction

    async def ended(self) -> bool:
        """Never; only the agent ends such a task."""
        return False

    async def verify(self, said: Said) -> Outcome:
        """+1 where all is as the task wants it, else -1; the report is that of `claw_envs.gui.webapps.verify`."""
        await self._saved()
        report = verify(self._goal, self._store.initial, self._store.state, said.ending)
        return Outcome(1.0 if report["success"] else -1.0, report)

    async def _saved(self) -> None:
        """Wait until nothing is on its way from the page.

        Where the page answers but never gets there, its script was stopped, as an agent brings about by a formula that
        takes for ever. What it did not save it never will: that is no way out of a verdict.

        Raises:
            InfrastructureError: if the page does not answer at all.
        """
        for script in (_SAVED, _ANSWERS):
            try:
                await self._screen.evaluate(script, timeout=_TIMEOUT)
                return
            except UnansweredError as error:
                unanswered = error
            except PageError:
                return  # of a tab that crashed nothing is on its way
        raise InfrastructureError(f"whether all is saved is not known: {unanswered}")

    async def close(self) -> None:
        """Let the screen go."""
        await self._screen.close()

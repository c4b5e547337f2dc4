"""An expert that follows a task's `solution`, which `evals.gui.experts.grammar` describes."""

from collections.abc import Sequence

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.wire import Call
from evals.gui.experts.grammar import read_line
from evals.gui.experts.page import Page
from evals.gui.experts.policy import PlainPolicy, Stuck, call, message

_PATIENCE = 5
"""How often a line is put off."""


class ScriptedExpert(PlainPolicy):
    """Writes one call a line. What is missing is waited for, and what was refused is tried again, but not for long."""

    def __init__(self, lines: Sequence[str]) -> None:
        """
        Args:
            lines: of the solution.

        Raises:
            UserError: if a line cannot be read.
        """
        self._texts = list(lines)
        self._lines = [read_line(line) for line in lines]
        self._at, self._sent, self._tries = 0, False, 0

    @classmethod
    def for_task(cls, task: Task) -> "ScriptedExpert":
        """The expert for one episode of `task`.

        Raises:
            UserError: if the task has no solution, or one that cannot be read.
        """
        if not task.metadata.get("solution"):
            raise UserError(f"task {task.id} has no `solution` in its metadata")
        return cls(task.metadata["solution"])

    def act(self, page: Page) -> str:
        """See `PlainPolicy.act`."""
        if self._sent and page.error:
            self._once_more(page.error)
        elif self._sent:
            self._next()
        while self._at < len(self._lines) and self._sees(page):
            self._next()
        if self._at == len(self._lines):
            raise Stuck("the solution has ended, the episode has not")
        line = self._lines[self._at]
        action = None if line.verb == "see" else call(line, page)
        self._sent = action is not None
        if action is None:
            self._once_more(f"no such element in\n{page.text}")
            action = Call("wait", {"seconds": self._tries})  # longer each time
        return message(action)

    def _next(self) -> None:
        self._at, self._tries = self._at + 1, 0

    def _sees(self, page: Page) -> bool:
        line = self._lines[self._at]
        return line.verb == "see" and line.target is not None and page.find(line.target) is not None

    def _once_more(self, why: str) -> None:
        self._tries += 1
        if self._tries > _PATIENCE:
            raise Stuck(f"line {self._at + 1}, {self._texts[self._at]}: {why}")

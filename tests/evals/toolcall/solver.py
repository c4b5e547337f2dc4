"""A model of plain code that knows the procedural problems: it runs their own programs and says what they print."""

from collections.abc import Sequence
from typing import Any

from claw_envs.core.task import Task
from claw_envs.wire import Call, Form, write


class Solver:
    """Answers `messages` as an endpoint's model would: first with a call, then with what the call gave."""

    def __init__(
        self,
        tasks: Sequence[Task],
        *,
        form: Form = "fenced",
        wrong: Sequence[str] = (),
        silent: Sequence[str] = (),
    ) -> None:
        """
        Args:
            form: how calls are written.
            wrong: ids of tasks that are answered wrongly, at once and without a call.
            silent: ids of tasks of which nothing but calls that cannot be read is written, until a limit ends them.
        """
        self._tasks, self._form, self._wrong, self._silent = tasks, form, wrong, silent
        self.asked: list[list[dict[str, Any]]] = []

    def __call__(self, messages: list[dict[str, Any]]) -> str | dict[str, Any]:
        self.asked.append(messages)
        said = [message["content"] for message in messages]
        task = next(task for task in self._tasks if task.instruction in said)
        if task.id in self._silent:
            return '<tool_call>\n{"name": "python"\n</tool_call>'
        if task.id in self._wrong:
            return "\\boxed{-1}"
        if said[-1] == task.instruction:
            return write([Call("python", {"code": task.metadata["solution"]})], self._form)
        head, _, printed = said[-1].partition("\n")
        assert head == "[ok]", said[-1]
        return f"It is \\boxed{{{printed.strip()}}}."

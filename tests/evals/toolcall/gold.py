"""A model of plain code that makes the leaderboard's own calls."""

from collections.abc import Mapping, Sequence
from typing import Any

from claw_envs.core.task import Task
from claw_envs.wire import Call, Form, write


class Caller:
    """Answers `messages` as an endpoint's model would, with the calls of the turn, or with words where it has none."""

    def __init__(self, tasks: Sequence[Task], calls: Mapping[str, Sequence[Sequence[Call]]], *, form: Form) -> None:
        """
        Args:
            calls: by a task's id, the calls of each of its turns.
            form: how they are written.
        """
        self._tasks, self._calls, self._form = tasks, calls, form

    def __call__(self, messages: list[dict[str, Any]]) -> str | dict[str, Any]:
        said = [message["content"] for message in messages if message["role"] == "user"]
        task = next(task for task in self._tasks if task.instruction in said)
        later: list[str] = task.verifier.options["turns"]
        turn = sum(text in said for text in later)
        asked = [task.instruction, *later][turn]
        calls = self._calls[task.id][turn]
        if not calls or messages[-1]["content"] != asked:
            return "There is nothing more to call."
        return write(calls, self._form)

"""Answer a question, with tools on the way: calls are carried out, a message without one is the final answer.

The answer and the checker stay in this process; what the agent runs, runs elsewhere.
"""

import contextlib
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from claw_envs.core.env import Outcome, Step
from claw_envs.core.episode import Observation, Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.sandbox.lease import Lease
from claw_envs.toolcall.answers import Check, check
from claw_envs.toolcall.prompts import answering_prompt
from claw_envs.toolcall.results import Result, observation
from claw_envs.toolcall.tools.base import Tool
from claw_envs.toolcall.tools.sources import open_sources
from claw_envs.toolcall.tools.toolbox import Toolbox
from claw_envs.wire.calls import Form, Parsed

PYTHON = "python"
_EMPTY = "The message was empty. Call a tool, or give your final answer."


class AnswerExercise:
    """An `Exercise` whose task's verifier compares the final answer with `options["answer"]`.

    The options are those of `claw_envs.toolcall.answers.check`; `kind` is `math` where there is none.
    """

    def __init__(self, tools: Sequence[Any], *, form: Form | None, credit: bool) -> None:
        """
        Args:
            tools: see `claw_envs.toolcall.tools.sources.open_sources`.
            form: how the agent is told to write calls; see `ToolCallEnv`.
            credit: whether a wrong answer counts less after several calls.
        """
        self.tools: tuple[dict[str, Any], ...] = ()
        self.system_prompt = ""
        self.code_tool: str | None = None
        self._sources = open_sources(tools)
        self.uses_sandbox = any(getattr(source, "uses_sandbox", True) for source in self._sources)
        self._form, self._credit = form, credit

    async def start(self, task: Task, lease: Lease) -> Observation:
        """See `Exercise.start`."""
        if "answer" not in task.verifier.options:
            raise UserError(f"task {task.id} has no answer: its verifier needs options with `answer`")
        if task.verifier.options.get("kind", "math") == "math" and find_spec("math_verify") is None:
            raise UserError('answers of kind math need math-verify: pip install "claw-envs[toolcall]"')
        self._task, self._calls, self._final = task, 0, ""
        tools: list[Tool] = []
        for source in self._sources:
            tools += await source.start(lease)
        self._toolbox = Toolbox(tools)
        self.tools = self._toolbox.schemas
        self.code_tool = PYTHON if any(tool.name == PYTHON for tool in tools) else None
        others = [tool.name for tool in tools if tool.name != PYTHON]
        if others and self._form in ("fenced", "code"):
            raise UserError(f"form {self._form!r} cannot call {', '.join(others)[:200]}: use hermes, llama3 or openai")
        self.system_prompt = answering_prompt(self.tools, self.form)
        return Observation(role="user", text=task.instruction)

    @property
    def form(self) -> Form:
        """How the agent is told to write calls."""
        only_code = self.code_tool is not None and len(self.tools) == 1
        return self._form or ("fenced" if only_code else "hermes")

    async def act(self, message: Parsed, *, timeout: float) -> Step:
        """See `Exercise.act`."""
        if not message.calls and message.text.strip():
            self._final = message.text
            return Step(Observation(role="environment", text="The answer is being checked."), Status.COMPLETED)
        if not message.calls:
            return Step(Observation(role="environment", text=f"[not run]\n{_EMPTY}"))
        results: list[Result] = await self._toolbox.run(message.calls, timeout=timeout)
        self._calls += sum(result.ran for result in results)
        return Step(observation(message, results, native=self.form == "openai"))

    async def verify(self) -> Outcome:
        """See `Exercise.verify`. An episode that ended without an answer was answered wrongly."""
        options = dict(self._task.verifier.options)
        answer = options.pop("answer")
        verdict = Check(False, None, "no final answer was given")
        if self._final:
            try:
                verdict = await check(self._final, answer, **options)
            except UserError as error:  # one bad task of many ends its episode, not the run
                raise InfrastructureError(f"task {self._task.id} cannot be verified: {error}") from error
        report = {**verdict._asdict(), "expected": answer, "calls": self._calls}
        if verdict.correct:
            return Outcome(1.0, report)
        return Outcome(wrong_answer(self._calls) if self._credit else -1.0, report)

    async def close(self) -> None:
        """See `Exercise.close`."""
        async with contextlib.AsyncExitStack() as closing:  # all of them, also where one fails
            for source in self._sources:
                closing.push_async_callback(source.close)


def wrong_answer(calls: int) -> float:
    """Outcome of a wrong answer with credit for trying tools: min(-0.6, -1 + 0.05 max(0, calls - 2)).

    Source: OpenClaw-RL, whose formula goes below -1 where fewer than two calls were made; this one does not.

    >>> [wrong_answer(calls) for calls in (0, 2, 4, 20)]
    [-1.0, -1.0, -0.9, -0.6]
    """
    return min(-0.6, -1.0 + 0.05 * max(0, calls - 2))

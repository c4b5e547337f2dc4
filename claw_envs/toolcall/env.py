"""`claw/toolcall-v0`: questions that tools help to answer, and tests of function calling.

A message with calls has them carried out in order, and is answered with what they gave, a header line each:

    [ok]
    17834

    [error]
    Traceback ...

A message without a call ends the episode: it is the final answer (in a function-calling test of several turns, the end
of the turn). A message that cannot be read costs a step and is answered by the environment. What a message's calls may
be written like is the business of `claw_envs.toolcall.wire`; what is right, of the task's verifier.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from claw_envs.core.env import Action, Outcome, Step
from claw_envs.core.episode import Observation
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.exit_code import ExitCodeEnv
from claw_envs.core.task import Task
from claw_envs.core.vector import ClawVectorEnv
from claw_envs.sandbox.lease import Lease
from claw_envs.sandbox.pool import SandboxPool
from claw_envs.toolcall.answering import AnswerExercise
from claw_envs.toolcall.exercise import Exercise
from claw_envs.toolcall.prompts import FORMS, MOST_EXAMPLES, worked_examples
from claw_envs.toolcall.wire import parse
from claw_envs.wire.calls import Form


class ToolCallEnv(ExitCodeEnv):
    """Questions and tools; see the module.

    The observation has `role`, `text` and `exit_code` (of the message's last call: 0 done, 1 failed, -1 where none was
    carried out). The reward is 0 until the episode ends, then +1 where the answer is right, else -1.
    """

    family = "toolcall"

    def __init__(
        self,
        tasks: str | Path | Sequence[Task] | None = None,
        *,
        tools: Sequence[Any] = ("python",),
        form: Form | None = None,
        few_shot: int = 0,
        credit: bool = False,
        backend: str = "namespace",
        pool: SandboxPool | None = None,
        max_steps: int | None = None,
        step_timeout: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        """
        Args:
            tasks: tasks, or where to load them from (None: the built-in problems); see `claw_envs.toolcall.data`.
            tools: what the agent may call to answer a question: `"python"` (an interpreter in the task's sandbox),
                Python functions, `"module:function"`, tools, MCP servers; see `claw_envs.toolcall.tools`.
            form: how the agent is told to write calls: `fenced` (Python blocks), `code`, `hermes`, `llama3`, or
                `openai`, which tells it nothing and leaves the tools to the chat template or the endpoint. None:
                `fenced` where Python is the only tool, else `hermes`. Every form is read whatever this is.
            few_shot: worked examples with Python to begin with, 0 to 3, for a model that does not do as it is told.
            credit: a wrong answer counts a little less after several calls: min(-0.6, -1 + 0.05 max(0, calls - 2)).
            backend: name of the sandbox backend.
            pool: where sandboxes are taken from, started, and given back to; None: the environment keeps its own.
            max_steps: overrides every task's own limit.
            step_timeout: seconds, overrides every task's own limit.
            render_mode: None or `ansi` (the transcript as text).
        """
        super().__init__(tasks, max_steps=max_steps, step_timeout=step_timeout, render_mode=render_mode)
        if form is not None and form not in FORMS:
            raise UserError(f"form must be one of {', '.join(FORMS)}, got {form!r}")
        if isinstance(tools, str) or not isinstance(tools, Sequence):
            raise UserError(
                f'tools must be a list, got {tools!r:.200}: write ["python", "module:function"], or [] for none; '
                "on a command line in quotes: --set 'tools=[\"python\"]'"
            )
        if not isinstance(credit, bool):
            raise UserError(f"credit must be true or false, got {credit!r}")
        known = type(few_shot) is int and 0 <= few_shot <= MOST_EXAMPLES
        if not known or (few_shot and ("python" not in tools or form == "openai")):
            raise UserError(
                f"few_shot must be 0 to {MOST_EXAMPLES}, and 0 without the tool python or with form openai; "
                f"got {few_shot!r}"
            )
        self._lease = Lease(backend, pool)
        self._answering = AnswerExercise(tools, form=form, credit=credit)
        self._form, self._examples, self.native_tools = form, few_shot, form == "openai"
        self._exercise: Exercise = self._answering

    # --- the episode --------------------------------------------------------------------------------------------

    async def _start(self, task: Task) -> Observation:
        exercise = self._of_kind(task)
        if exercise is not self._exercise:
            await self._exercise.close()
            self._exercise = exercise
        try:
            if task.sandbox is not None and exercise.uses_sandbox:
                await self._lease.take(task.sandbox)
            else:
                await self._lease.give_back()
            observation = await exercise.start(task, self._lease)
        except (InfrastructureError, asyncio.CancelledError):
            await self._stop()
            raise
        self.tools, self.system_prompt, self.few_shot = exercise.tools, exercise.system_prompt, ()
        if exercise is self._answering:
            self.few_shot = worked_examples(self._examples, self._answering.form)
        return observation

    def _of_kind(self, task: Task) -> Exercise:
        if task.verifier.kind == "answer":
            return self._answering
        if task.verifier.kind == "bfcl":
            from claw_envs.toolcall.bfcl.exercise import BfclExercise

            return self._exercise if isinstance(self._exercise, BfclExercise) else BfclExercise(form=self._form)
        raise UserError(f"task {task.id}: no verifier {task.verifier.kind!r} here; there are: answer, bfcl")

    async def _act(self, action: Action) -> Step:
        message = parse(action, code_tool=self._exercise.code_tool)
        step = await self._exercise.act(message, timeout=self.task.limits.step_timeout)
        self.tools = self._exercise.tools  # a user's turn may bring new ones
        return step

    async def _verify(self) -> Outcome:
        return await self._exercise.verify()

    async def _stop(self) -> None:
        try:
            await self._exercise.close()
        finally:
            await self._lease.give_back()


class ToolCallVectorEnv(ClawVectorEnv):
    """Many episodes on one event loop, each with tools of its own."""

    env_class = ToolCallEnv

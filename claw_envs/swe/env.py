"""`claw/swe-v0`: an issue and its repository; the agent's patch is judged by hidden tests, as SWE-bench judges.

The observation after an action is one header line, what there is to read, and one line that counts what is left:

    [exit 0 | /testbed]
    setup.py  src  tests
    [19 turns left]

The header holds the exit code (or `stopped after 180 s`, or `no exit code` where the shell was lost), the working
directory, and how many bytes of a long output are cut between its head and its tail. Where a message held several
calls, each has its own header, `[1/2 bash | exit 0 | /testbed]`, and OpenAI calls are answered one by one in
`Observation.answers`. A message that cannot be read costs a step and is answered by the environment.

The patch is taken when the agent submits, or at a limit; the agent has been stopped by then. It is judged in another
sandbox, which no agent was ever in.
"""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from claw_envs.core.env import GUARD, Action, Outcome, Step
from claw_envs.core.episode import Observation, Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.exit_code import ExitCodeEnv
from claw_envs.core.results import with_text
from claw_envs.core.task import Task
from claw_envs.core.vector import ClawVectorEnv
from claw_envs.sandbox.acting import carry_out, observation
from claw_envs.sandbox.lease import Lease
from claw_envs.sandbox.pool import SandboxPool
from claw_envs.swe.grading import require_swebench
from claw_envs.swe.instance import instance_of
from claw_envs.swe.patch import Taken, take_patch
from claw_envs.swe.prompts import first_text, system_prompt, turns_left
from claw_envs.swe.recipe import sandbox_of
from claw_envs.swe.repository import agent_spec
from claw_envs.swe.tools import Submit, toolset
from claw_envs.swe.verdict import judge_patch, unjudged
from claw_envs.swe.workplace import Workplace

OUTPUT_BYTES = 10_000
"""Of one command's output that the agent is shown: half from its head, half from its tail."""
_PATCH_TIMEOUT, _PATCH_GRACE = 60.0, 20.0
"""Seconds for taking the patch: at the end of an episode, and beyond what a step's own limit leaves."""
_SANDBOX_TIMEOUT = 600.0
"""Seconds for one more sandbox with the repository."""


class SweEnv(ExitCodeEnv):
    """A repository; see the module for the observation's format and `claw_envs.wire.toolset` for the action's.

    The observation has `role`, `text` and `exit_code` (of the message's last call; -1 where none ran or it was
    stopped). The reward is 0 until the episode ends by `submit` or a limit, then +1 where the patch resolves the issue,
    else -1. `info["report"]` is that of `claw_envs.swe.verdict.Verdict`. An agent that has destroyed the repository
    ends as FAILED.
    """

    family = "swe"

    def __init__(
        self,
        tasks: str | Path | Sequence[Task] | None = None,
        *,
        backend: str = "namespace",
        pool: SandboxPool | None = None,
        tools: bool | Sequence[str] = True,
        max_patch_bytes: int = 1_000_000,
        reruns: int = 1,
        max_steps: int | None = None,
        step_timeout: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        """
        Args:
            tasks: tasks, or where to load them from (None: the built-in set).
            backend: name of the sandbox backend.
            pool: where sandboxes are taken from, started, and given back to; None: the environment keeps its own.
            tools: which of `view_file`, `edit_file` and `write_file` there are beside `bash` and `submit`; all or none.
            max_patch_bytes: a patch beyond is not judged and resolves nothing.
            reruns: of a verdict in which only tests fail that passed before; see `claw_envs.swe.verdict`.
            max_steps: overrides every task's own limit.
            step_timeout: seconds, overrides every task's own limit.
            render_mode: None or `ansi` (the transcript as text).
        """
        super().__init__(tasks, max_steps=max_steps, step_timeout=step_timeout, render_mode=render_mode)
        if backend == "local":
            raise UserError("the local sandbox hides nothing from the agent: use the namespace or docker sandbox")
        for name, value, least in (("max_patch_bytes", max_patch_bytes, 1), ("reruns", reruns, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise UserError(f"{name} must be a whole number of at least {least}, got {value!r}")
        require_swebench()
        self._toolset = toolset(tools)
        self.tools = self._toolset.schemas
        self._most_bytes, self._reruns = max_patch_bytes, reruns
        self._lease, self._verdicts = Lease(backend, pool), Lease(backend, pool)
        self._workplace: Workplace | None = None
        self._taken: Taken | None = None

    # --- the episode --------------------------------------------------------------------------------------------

    async def _start(self, task: Task) -> Observation:
        if task.sandbox is None:
            raise UserError(f"task {task.id} has no sandbox; a SWE task needs one")
        self._taken = None
        self.system_prompt = system_prompt(self._toolset, step_timeout=task.limits.step_timeout)
        spec = await sandbox_of(task, self._lease.backend)
        try:
            sandbox = await self._lease.take(agent_spec(spec, instance_of(task).base_commit, output_bytes=OUTPUT_BYTES))
            self._workplace = await Workplace.open(sandbox, await self._lease.shell())
        except (InfrastructureError, asyncio.CancelledError):
            await self._stop()
            raise
        return Observation(role="user", text=first_text(task))

    async def _act(self, action: Action) -> Step:
        assert self._workplace is not None
        limit = self.task.limits.step_timeout
        deadline = time.monotonic() + limit
        calls = self._toolset.parse(action)
        results = await carry_out(calls, self._workplace.do, limit=limit, last=Submit)
        submitted = any(isinstance(call.tool, Submit) for call in calls)
        seen = observation(self._toolset, calls, results, ended=submitted)
        if not submitted:
            left = self.task.limits.max_steps - self._step_index
            return Step(with_text(seen, turns_left(left)) if left else seen)
        taken = await self._take(min(_PATCH_TIMEOUT, max(deadline - time.monotonic(), 0) + _PATCH_GRACE))
        broken = taken.fault in ("repository_gone", "no_patch")
        return Step(with_text(seen, f"[{taken.reason}]") if taken.fault else seen, _STATUS[broken])

    async def _take(self, timeout: float) -> Taken:
        assert self._workplace is not None
        self._taken = await take_patch(
            self._workplace.sandbox, self._workplace.start, most_bytes=self._most_bytes, timeout=timeout
        )
        return self._taken

    def _verify_limit(self) -> float:
        trials = 2 * (2 * self._reruns + 1)
        return trials * (self.task.verifier.timeout + _SANDBOX_TIMEOUT) + _PATCH_TIMEOUT + GUARD

    async def _verify(self) -> Outcome:
        taken = self._taken or await self._take(_PATCH_TIMEOUT)
        if taken.fault:
            return Outcome(-1.0, unjudged(taken.fault, taken.reason).report)
        try:
            verdict = await judge_patch(self.task, taken.patch, lease=self._verdicts, reruns=self._reruns)
        finally:
            await self._verdicts.give_back()
        return Outcome(1.0 if verdict.resolved else -1.0, verdict.report)

    async def _stop(self) -> None:
        self._workplace = None
        try:
            await self._verdicts.give_back()
        finally:
            await self._lease.give_back()


_STATUS = {True: Status.FAILED, False: Status.COMPLETED}
"""Of an episode that the agent ended: whether it left nothing that could be submitted."""


class SweVectorEnv(ClawVectorEnv):
    """Many repositories on one event loop, each in a sandbox of its own."""

    env_class = SweEnv

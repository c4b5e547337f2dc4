"""`claw/terminal-v0`: a shell in a sandbox, graded by the task's own tests.

The observation after an action is one header line, then what there is to read:

    [exit 0 | /app]
    total 4 ...

    [process 1 running | 24x80 | cursor 3,5]
    >>> 1 + 1
    2
    >>>

The header of a command holds the exit code (or `stopped after 5 s`, or `no exit code` where the shell was lost) and the
working directory; that of a process its window and cursor (row and column from 1), or how it ended, and how many lines
of the text stand above the screen because they scrolled by. Both count the `bytes cut`. Where a message held several
calls, each has its own header, `[1/2 run_command | exit 0 | /app]`, and OpenAI calls are answered one by one in
`Observation.answers`. A message that cannot be read costs a step and is answered by the environment.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from claw_envs.core.env import Action, Outcome, Step
from claw_envs.core.episode import Observation, Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.exit_code import ExitCodeEnv
from claw_envs.core.task import SandboxSpec, Task
from claw_envs.core.vector import ClawVectorEnv
from claw_envs.sandbox.acting import carry_out, observation
from claw_envs.sandbox.lease import Lease
from claw_envs.sandbox.pool import SandboxPool
from claw_envs.terminal.machine import Machine
from claw_envs.terminal.tools import TOOLSET, Finish
from claw_envs.terminal.verifier import verify

SYSTEM_PROMPT = """You work in a Linux terminal. Do the task with bash commands.
In each message write exactly one bash block. It is run, and you are shown its output.

```bash
ls -l
```

When the task is done, write:

```bash
submit
```"""


class TerminalEnv(ExitCodeEnv):
    """A terminal; see the module for the observation's format and `claw_envs.wire.toolset` for the action's.

    The observation has `role`, `text` and `exit_code` (of the message's last command; -1 where none ran or it was
    stopped). The reward is 0 until the episode ends by `submit`, `finish` or a limit, then the verifier's number.
    """

    family = "terminal"
    system_prompt = SYSTEM_PROMPT
    tools = TOOLSET.schemas

    def __init__(
        self,
        tasks: str | Path | Sequence[Task] | None = None,
        *,
        backend: str = "namespace",
        pool: SandboxPool | None = None,
        outcome: Literal["reward", "tests"] = "reward",
        network: Literal["none", "full"] | Sequence[str] | None = None,
        max_steps: int | None = None,
        step_timeout: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        """
        Args:
            tasks: tasks, or where to load them from (None: the built-in set).
            backend: name of the sandbox backend.
            pool: where sandboxes are taken from, started, and given back to; None: the environment keeps its own.
            outcome: the verifier's own number (`reward`), or 2 * passed / total - 1 over the task's `tests`.
            network: overrides every task's own policy: `none`, `full` (which the tests of most public sets need), or
                the hosts that are allowed.
            max_steps: overrides every task's own limit.
            step_timeout: seconds, overrides every task's own limit.
            render_mode: None or `ansi` (the transcript as text).
        """
        super().__init__(tasks, max_steps=max_steps, step_timeout=step_timeout, render_mode=render_mode)
        if outcome not in ("reward", "tests"):
            raise UserError(f"outcome must be 'reward' or 'tests', got {outcome!r}")
        self._lease = Lease(backend, pool)
        self._policy: dict[str, Any] = {}
        if network is not None:
            self._policy["network"] = tuple(network) if isinstance(network, list) else network
        SandboxSpec(**self._policy)  # complains of what is none
        self._outcome = outcome
        self._machine: Machine | None = None

    # --- the episode --------------------------------------------------------------------------------------------

    async def _start(self, task: Task) -> Observation:
        if task.sandbox is None:
            raise UserError(f"task {task.id} has no sandbox; a terminal task needs one")
        if self._machine is not None:
            with contextlib.suppress(InfrastructureError):  # it has died: the lease takes another
                await self._machine.close()
        try:
            sandbox = await self._lease.take(msgspec.structs.replace(task.sandbox, **self._policy))
            shell = await self._lease.shell()
        except (InfrastructureError, asyncio.CancelledError):
            await self._stop()
            raise
        self._machine = Machine(sandbox, shell)
        return Observation(role="user", text=task.instruction)

    async def _act(self, action: Action) -> Step:
        assert self._machine is not None
        calls = TOOLSET.parse(action)
        results = await carry_out(calls, self._machine.do, limit=self.task.limits.step_timeout, last=Finish)
        submitted = any(isinstance(call.tool, Finish) for call in calls)
        seen = observation(TOOLSET, calls, results, ended=submitted)
        return Step(seen, Status.COMPLETED if submitted else None)

    async def _verify(self) -> Outcome:
        assert self._machine is not None
        await self._machine.close()
        outcome = await verify(self._machine.sandbox, self.task)
        return outcome if self._outcome == "reward" else share_passed(outcome, self.task)

    async def _stop(self) -> None:
        machine, self._machine = self._machine, None
        try:
            if machine is not None:
                await machine.close()
        finally:
            await self._lease.give_back()


def share_passed(outcome: Outcome, task: Task) -> Outcome:
    """`outcome` with 2 * passed / total - 1 over the task's tests as the score: -1 where none passed, 1 where all did.

    Raises:
        InfrastructureError: if the task's verifier counted no tests.
    """
    total = outcome.report.get("total", 0)
    if not total:
        log = outcome.report.get("log", "")
        raise InfrastructureError(
            f'task {task.id}: its verifier counted no tests, which outcome="tests" needs; log: {log}'
        )
    return Outcome(2 * outcome.report["passed"] / total - 1, outcome.report)


class TerminalVectorEnv(ClawVectorEnv):
    """Many terminals on one event loop, each with a sandbox of its own."""

    env_class = TerminalEnv

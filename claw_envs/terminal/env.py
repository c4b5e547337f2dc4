"""`claw/terminal-v0`: a shell in a sandbox, graded by the task's own tests.

The observation after an action is one header line, then the command's output:

    [exit 0 | /app]
    total 4 ...

The header holds the exit code (or `stopped after 5 s`, or `no exit code` where the shell was lost), the working
directory, and `N bytes cut` where output was cut. Where a message held several calls, each has its own header,
`[1/2 run_command | exit 0 | /app]`. A message that cannot be read costs a step and is answered by the environment.
Not covered: input to a running program, full-screen programs.
"""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import gymnasium as gym
import numpy as np

from claw_envs.core.env import Action, ClawEnv, Outcome, Step, exit_code_space
from claw_envs.core.episode import Observation, Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec, Task
from claw_envs.core.vector import ClawVectorEnv
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.base import ExecResult, Sandbox, Shell
from claw_envs.terminal.actions import TOOL_SCHEMAS, Call, Finish, Malformed, Run, Write, parse
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

# $1 is written by the agent's own user, so that permissions, links and disk limits are the agent's
_WRITE = 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"'


class _Result(NamedTuple):
    head: str
    text: str
    exit_code: int | None = None
    ran: bool = True


class TerminalEnv(ClawEnv):
    """A terminal; see the module for the observation's format and `claw_envs.terminal.actions` for the action's.

    The observation has `role`, `text` and `exit_code` (of the message's last command; -1 where none ran or it was
    stopped). The reward is 0 until the episode ends by `submit`, `finish` or a limit, then the verifier's number.
    """

    family = "terminal"
    system_prompt: ClassVar[str] = SYSTEM_PROMPT
    tools: ClassVar[tuple[dict[str, Any], ...]] = TOOL_SCHEMAS

    def __init__(
        self,
        tasks: str | Path | Sequence[Task] | None = None,
        *,
        backend: str = "namespace",
        max_steps: int | None = None,
        step_timeout: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        """
        Args:
            tasks: tasks, or where to load them from (None: the built-in set).
            backend: name of the sandbox backend.
            max_steps: overrides every task's own limit.
            step_timeout: seconds, overrides every task's own limit.
            render_mode: None or `ansi` (the transcript as text).
        """
        super().__init__(tasks, max_steps=max_steps, step_timeout=step_timeout, render_mode=render_mode)
        self._backend = backend
        self._sandbox: Sandbox | None = None
        self._shell: Shell | None = None
        self._cwd = ""

    def _observation_spaces(self) -> dict[str, gym.Space[Any]]:
        return super()._observation_spaces() | {"exit_code": exit_code_space()}

    def _observe(self, observation: Observation) -> dict[str, Any]:
        code = -1 if observation.exit_code is None else observation.exit_code
        return super()._observe(observation) | {"exit_code": np.array(code, dtype=np.int32)}

    # --- the episode --------------------------------------------------------------------------------------------

    async def _start(self, task: Task) -> Observation:
        if task.sandbox is None:
            raise UserError(f"task {task.id} has no sandbox; a terminal task needs one")
        try:
            await self._prepare(task.sandbox)
        except (InfrastructureError, asyncio.CancelledError):
            await self._stop()
            raise
        self._cwd = task.sandbox.workdir
        return Observation(role="user", text=task.instruction)

    async def _prepare(self, spec: SandboxSpec) -> None:
        """A fresh machine of `spec`: the one at hand reset where it is of the same kind, else a new one."""
        if self._sandbox is not None and self._sandbox.spec == spec:
            self._shell = None
            try:
                await self._sandbox.reset()
            except InfrastructureError:
                await self._stop()
        else:
            await self._stop()
        if self._sandbox is None:
            self._sandbox = make_sandbox(spec, self._backend)
            await self._sandbox.start()
        self._shell = await self._sandbox.shell()

    async def _act(self, action: Action) -> Step:
        calls = parse(action)
        deadline = time.monotonic() + self.task.limits.step_timeout
        results: list[_Result] = []
        done = False
        for call in calls:
            results.append(await self._execute(call, deadline=deadline, done=done))
            done = done or isinstance(call, Finish)
        ran = [result for result in results if result.ran]
        observation = Observation(
            role="tool" if ran or done else "environment",
            text=_text(calls, results),
            exit_code=ran[-1].exit_code if ran else None,
            tool_call_id=calls[0].call_id,
        )
        return Step(observation, Status.COMPLETED if done else None)

    async def _execute(self, call: Call, *, deadline: float, done: bool) -> _Result:
        left = deadline - time.monotonic()
        if isinstance(call, Malformed):
            return _Result("not run", call.problem, ran=False)
        if done or left <= 0:
            why = "the task was already submitted" if done else "this message's time was used up; send it again"
            return _Result("not run", why, ran=False)
        if isinstance(call, Finish):
            return _Result("submitted", "The work is being checked.", ran=False)
        assert self._sandbox is not None
        assert self._shell is not None
        if isinstance(call, Write):
            argv = ["/bin/sh", "-c", _WRITE, "sh", call.path]
            result = await self._sandbox.exec(argv, timeout=left, cwd=self._cwd, stdin=call.content.encode())
            done_text = "" if result.exit_code else f"wrote {len(call.content.encode())} bytes to {call.path}"
            return _result(result._replace(output=result.output or done_text, cwd=self._cwd), left)
        timeout = min(call.timeout or left, left)
        result = await self._shell.run(call.command, timeout=timeout)
        self._cwd = result.cwd or self._cwd
        return _result(result, timeout)

    async def _verify(self) -> Outcome:
        assert self._sandbox is not None
        self._shell = None
        return await verify(self._sandbox, self.task)

    async def _stop(self) -> None:
        sandbox, self._sandbox, self._shell = self._sandbox, None, None
        if sandbox is not None:
            await sandbox.close()


class TerminalVectorEnv(ClawVectorEnv):
    """Many terminals on one event loop, each with a sandbox of its own."""

    env_class = TerminalEnv


def _result(result: ExecResult, timeout: float) -> _Result:
    code = "no exit code" if result.exit_code is None else f"exit {result.exit_code}"
    parts = [f"stopped after {timeout:.3g} s" if result.timed_out else code, result.cwd]
    if result.truncated_bytes:
        parts.append(f"{result.truncated_bytes} bytes cut")
    return _Result(" | ".join(parts), result.output, result.exit_code)


def _text(calls: Sequence[Call], results: Sequence[_Result]) -> str:
    if len(calls) == 1:
        return f"[{results[0].head}]\n{results[0].text}".rstrip("\n")
    names = {Run: "run_command", Write: "write_file", Finish: "finish", Malformed: "malformed"}
    shown = [
        f"[{i}/{len(calls)} {names[type(call)]} | {result.head}]\n{result.text}".rstrip("\n")
        for i, (call, result) in enumerate(zip(calls, results, strict=True), 1)
    ]
    return "\n".join(shown)

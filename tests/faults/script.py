"""A policy of plain code that plays fixed commands, and what strikes while one of them runs."""

import asyncio
import os
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from claw_envs.terminal.env import TerminalEnv
from trainers.policies.base import Completion, Prompt, Sampling

Blow = Callable[[TerminalEnv], Awaitable[None]]
WAIT = "wait for the blow"
_LOOK_EVERY = 0.01


class Script:
    """Runs `commands` one a step, whatever the task, then submits. They may be changed meanwhile."""

    version = 0

    def __init__(self, *commands: str) -> None:
        self.commands = commands

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Completion:
        messages: list[Any] = list(prompt)
        made = sum(message["role"] == "assistant" for message in messages)
        command = self.commands[made] if made < len(self.commands) else "submit"
        return Completion([1], [2], [-1.0], [0], "stop", block(command))

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        return [-1.0] * len(response_ids)

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        raise NotImplementedError("plain code has no weights")

    async def aclose(self) -> None:
        """Nothing to release."""


def block(command: str) -> str:
    """The agent's message that runs `command`."""
    return f"```bash\n{command}\n```"


def endless() -> str:
    """A command that does not end, and that can be told from all others on this machine."""
    return f"sleep 1000.{uuid.uuid4().int % 10**12:012}"


async def running(command: str) -> None:
    """Wait until a process of exactly this command line runs, in whichever sandbox."""
    wanted = command.replace(" ", "\0").encode() + b"\0"
    async with asyncio.timeout(60):
        while not any(_command_line(name) == wanted for name in os.listdir("/proc")):  # noqa: ASYNC110  no event tells
            await asyncio.sleep(_LOOK_EVERY)


def _command_line(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def strike(monkeypatch: pytest.MonkeyPatch, blow: Blow, **times: int) -> None:
    """Make `WAIT` a command that does not end and that `blow` strikes as it runs, so many times for each task by name.

    After that, `WAIT` is a command that ends at once.
    """
    act = TerminalEnv._act
    left = Counter(times)

    async def strike_when_running(env: TerminalEnv, command: str) -> None:
        await running(command)
        await blow(env)

    async def acting(env: TerminalEnv, action: Any) -> Any:
        if action != block(WAIT):
            return await act(env, action)
        if not left[env.task.id]:
            return await act(env, block("true"))
        left[env.task.id] -= 1
        command = endless()
        striking = asyncio.ensure_future(strike_when_running(env, command))
        playing = asyncio.ensure_future(act(env, block(command)))
        try:
            await asyncio.wait({striking, playing}, return_when=asyncio.FIRST_EXCEPTION)
            await striking
            return await playing
        finally:
            playing.cancel()
            await asyncio.wait({playing})

    monkeypatch.setattr(TerminalEnv, "_act", acting)

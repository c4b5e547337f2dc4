"""Turns to be judged."""

from typing import Any

from claw_envs.core.episode import Observation, Turn
from claw_envs.core.task import Task, VerifierSpec

CHAT = Task(id="apples", family="chat", instruction="What is 2 + 3?", verifier=VerifierSpec(kind="simulator"))
TERMINAL = Task(id="hello", family="terminal", instruction="Create hello.txt", verifier=VerifierSpec(kind="harbor"))


def chat_turn(reaction: str, *, response: str = "It is five.", **fields: Any) -> Turn:
    """A turn whose next state is the user's `reaction`."""
    asked = [{"role": "user", "content": CHAT.instruction}]
    observation = Observation(role="user", text=reaction)
    return Turn(episode_id="e", step=0, messages=asked, response=response, observation=observation, **fields)


def shell_turn(output: str, *, code: int | None, response: str = "```bash\nls\n```", role: Any = "tool") -> Turn:
    """A turn whose next state is a command's output."""
    asked = [{"role": "user", "content": TERMINAL.instruction}]
    observation = Observation(role=role, text=output, exit_code=code)
    return Turn(episode_id="e", step=0, messages=asked, response=response, observation=observation)

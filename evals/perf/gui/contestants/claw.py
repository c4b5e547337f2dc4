"""Ours: `claw/gui-v0` through `areset` and `astep`, with parsing, settling, and the observation's text and array.

An environment makes the parts that it was made to observe, so a kind of step whose parts are others has an environment
of its own, beside the one with both; its start is in nobody's figures.
"""

from typing import Any

import gymnasium as gym

import claw_envs  # noqa: F401  registers the environments
from claw_envs.core.env import ClawEnv
from claw_envs.core.tasksets import load_tasks

PACKAGES = ["claw-envs", "playwright"]
_PARTS = {"screenshot": ("screenshot",), "axtree": ("axtree",), "both": ("axtree", "screenshot")}


def make(kind: str, settings: dict[str, Any]) -> "Claw":
    """The contestant."""
    return Claw(settings)


class Claw:
    """See the module."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._tasks = load_tasks("gui", settings["application"])
        x, y = settings["point"]
        arguments = f'{{"action": "left_click", "coordinate": [{x}, {y}]}}'
        self._click = f'<tool_call>{{"name": "computer_use", "arguments": {arguments}}}</tool_call>'

    async def start(self) -> dict[str, ClawEnv]:
        """An environment that observes everything, after its first reset."""
        return await self.reset({"both": self._make("both")})

    def _make(self, parts: str) -> ClawEnv:
        env = gym.make(
            "claw/gui-v0",
            tasks=self._tasks,
            observe=_PARTS[parts],
            executable=self._settings["executable"],
            size=self._settings["size"],
            coordinates="pixels",
            max_steps=1 << 30,
        ).unwrapped
        assert isinstance(env, ClawEnv)
        return env

    async def step(self, episode: dict[str, ClawEnv], command: str) -> str:
        """A click and what is seen."""
        if command not in _PARTS:
            return ""
        if command not in episode:
            episode[command] = self._make(command)
            await episode[command].areset(seed=0)
        env = episode[command]
        await env.astep(self._click)
        seen = env.last_observation
        (title,) = (line.partition(": ")[2] for line in seen.text.splitlines() if line.startswith("Title: "))
        pixels = 0 if seen.screenshot is None else seen.screenshot.size
        return f"{title} pixels={pixels} characters={len(seen.axtree or '')}"

    async def reset(self, episode: dict[str, ClawEnv]) -> dict[str, ClawEnv]:
        """The next episode."""
        await episode["both"].areset(seed=0)
        return episode

    async def stop(self, episode: dict[str, ClawEnv]) -> None:
        """Close the environments."""
        for env in episode.values():
            await env.aclose()

    def containers(self) -> list[str]:
        """None."""
        return []

"""A hundred chats at once on one thread: the asynchronous core, without a vector environment."""

import asyncio
from collections import Counter

import gymnasium as gym

import claw_envs  # noqa: F401  registers the environments


async def chat(seed: int) -> str:
    env = gym.make("claw/chat-v0").unwrapped
    _, info = await env.areset(seed=seed)
    while info["status"] == "RUNNING":
        *_, info = await env.astep(f"It's {env.task.metadata['answer']}, I just added it up.")
    await env.aclose()
    return str(info["status"])


async def main() -> None:
    print(Counter(await asyncio.gather(*(chat(seed) for seed in range(100)))))


asyncio.run(main())

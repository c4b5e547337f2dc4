"""Many episodes on one event loop: one that hangs holds up none of the others."""

import asyncio

import pytest

from claw_envs.core.task import Limits, SandboxSpec, Task, VerifierSpec
from claw_envs.sandbox.probe import probe
from claw_envs.toolcall.env import ToolCallEnv

EPISODES = 32
TASK = Task(
    id="sum",
    family="toolcall",
    instruction="What is the sum of the squares up to 100?",
    verifier=VerifierSpec(kind="answer", options={"answer": "338350", "kind": "numeric"}),
    sandbox=SandboxSpec(memory_mb=256),
    limits=Limits(step_timeout=600),
)
HANG = "```python\nimport os\nos.mkfifo('release')\nprint(open('release').read())\n```"


async def solve(env: ToolCallEnv) -> float:
    """An episode of a few calls; its score."""
    await env.astep("```python\nsquares = [n * n for n in range(101)]\n```")
    observation, *_ = await env.astep("```python\nsum(squares)\n```")
    _, reward, *_ = await env.astep(f"\\boxed{{{observation['text'].splitlines()[1]}}}")
    return reward


@pytest.mark.skipif(not probe()[0].usable, reason="needs the namespace backend")
def test_a_hanging_call_holds_up_no_other_episode() -> None:
    async def main() -> None:
        envs = [ToolCallEnv([TASK]) for _ in range(EPISODES)]
        try:
            for env in envs:
                await env.areset()
            hanging = asyncio.ensure_future(envs[0].astep(HANG))
            assert await asyncio.gather(*map(solve, envs[1:])) == [1.0] * (EPISODES - 1)
            assert not hanging.done()
            sandbox = envs[0]._lease.sandbox
            assert sandbox is not None
            wait = "while ! [ -p release ]; do sleep 0.02; done; echo released > release"
            await sandbox.exec(["/bin/sh", "-c", wait], timeout=60)
            observation, *_ = await hanging
            assert observation["text"] == "[ok]\nreleased"
        finally:
            await asyncio.gather(*(env.aclose() for env in envs))

    asyncio.run(main())

"""Give an agent a Python function as a tool: its signature is the schema, its docstring says what it is for."""

import gymnasium as gym

import claw_envs  # noqa: F401  registers the environments
from claw_envs.core.task import Task, VerifierSpec

PRICES = {"bread": 3.2, "butter": 2.5, "jam": 4.1}


def price(item: str, count: int = 1) -> float:
    """Look up what something costs.

    Args:
        item: what, in the singular.
        count: how many of it.
    """
    return round(PRICES[item] * count, 2)


task = Task(
    id="breakfast",
    family="toolcall",
    instruction="What do three breads and a jam cost?",
    verifier=VerifierSpec(kind="answer", options={"answer": "13.7", "kind": "numeric"}),
)
env = gym.make("claw/toolcall-v0", tasks=[task], tools=[price], render_mode="ansi")
env.reset()
for message in [
    '<tool_call>{"name": "price", "arguments": {"item": "bread", "number": 3}}</tool_call>',
    """I meant `count`.
<tool_call>{"name": "price", "arguments": {"item": "bread", "count": 3}}</tool_call>
<tool_call>{"name": "price", "arguments": {"item": "jam"}}</tool_call>""",
    "Together they cost 13.7.",
]:
    observation, reward, terminated, truncated, info = env.step(message)

print(env.render())
print(f"\nreward {reward:g}: {info['report']}")
env.close()

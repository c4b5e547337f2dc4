"""Order from the built-in shop by hand, with plain Gymnasium: find elements in the text, act on them, be judged."""

import re

import gymnasium as gym

import claw_envs  # noqa: F401 - registers the environments

env = gym.make("claw/gui-v0", observe=["axtree"], render_mode="ansi")
observation, info = env.reset(seed=0, options={"task": "shop/towels-to-basket"})


def element(role: str, name: str) -> str:
    """The id of an element, as the observation's text has it: `[12] button "Add to basket" (640,312,120,32)`."""
    found = re.search(rf'\[(\w+)\] {role} "{re.escape(name)}"', observation["text"])
    assert found, observation["text"]
    return found[1]


for step in [
    lambda: f'fill("{element("searchbox", "Search products")}", "tea towels")',
    lambda: f'click("{element("button", "Search")}")',
    lambda: f'click("{element("link", "Striped Tea Towels")}")',
    lambda: f'fill("{element("textbox", "Quantity")}", "2")',
    lambda: f'click("{element("button", "Add to basket")}")',
    lambda: "done()",
]:
    observation, reward, terminated, truncated, info = env.step(f"```\n{step()}\n```")

print(env.render())
print(f"\nreward {reward:g}, {info['status']}, {info['report']}")
env.close()

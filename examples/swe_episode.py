"""Repair a built-in repository by hand, with plain Gymnasium: read, edit, submit, and see what the hidden tests say."""

import json

import gymnasium as gym

import claw_envs  # noqa: F401 - registers the environments

EDIT = {
    "path": "gauge/parser.py",
    "old": '            if mark.text == "/":\n                sign = -sign\n',
    "new": '            sign = -1 if mark.text == "/" else 1\n',
}

env = gym.make("claw/swe-v0", render_mode="ansi")
env.reset(seed=0, options={"task": "claw__gauge-1"})

for message in [
    "THOUGHT: units are read by the parser.\n```bash\ngrep -n -B 3 -A 3 sign gauge/parser.py\n```",
    f"<tool_call>{json.dumps({'name': 'edit_file', 'arguments': EDIT})}</tool_call>",
    "```bash\ngit diff; python3 -m pytest -q 2>&1 | tail -n 3\n```",
    "```bash\nsubmit\n```",
]:
    observation, reward, terminated, truncated, info = env.step(message)

print(env.render())
print(f"\nreward {reward:g}, {info['status']}, {info['report']['status']}, {info['report']['fail_to_pass']}")
env.close()

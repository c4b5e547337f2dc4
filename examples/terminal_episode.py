"""Walk through one terminal episode with plain Gymnasium: look around, then submit and see what the tests say."""

import gymnasium as gym

import claw_envs

task = claw_envs.load_tasks("terminal")[0]
env = gym.make("claw/terminal-v0", render_mode="ansi")
env.reset(seed=0, options={"task": task.id})

for message in ["```bash\npwd; ls -la\n```", "```bash\nsubmit\n```"]:
    observation, reward, terminated, truncated, info = env.step(message)

print(env.render())
print(f"\nreward {reward:g}, {info['status']}, {info['timings']}")
env.close()

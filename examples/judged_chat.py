"""Two answers to the same student: one as a textbook writes, one as a friend writes. A judge reads the replies."""

import gymnasium as gym

import claw_envs  # noqa: F401  registers the environments
from judges import JudgeReward, RulesJudge

TEXTBOOK = "To find the total, let's break it down step by step:\n1. **Start** with 7.\n2. Add 5.\n\n#### 12"
FRIEND = "7 + 5 = 12, so she has 12 apples now."

env = JudgeReward(gym.make("claw/chat-v0"), RulesJudge())
for answer in (TEXTBOOK, FRIEND):
    observation, _ = env.reset(seed=0, options={"task": "student-wp-001"})
    print(f"student: {observation['text']}\nagent:   {answer!r}")
    observation, reward, *_, info = env.step(answer)
    print(f"student: {observation['text']}\njudge:   {info['verdict'].score:+g}, reward with the outcome {reward:+g}\n")
env.close()

"""Every registered id keeps Gymnasium's contract, and its vector environment equals the single one."""

import asyncio
import warnings
from collections.abc import Iterable
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

import claw_envs

from ..alike import differences

ACTIONS = {
    "terminal": [
        "```bash\nprintf 'naïve 🙂\\n\\ttab\\n'; cd /; kept=42\n```",
        "no command here 中文",
        "```bash\necho $kept; pwd; (exit 3)\n```",
        "```bash\nsubmit\n```",
        "```bash\nthis step resets\n```",
    ],
    "gui": [
        'I look first.\n```\nclick("4")\ntype("naïve 🙂")\n```',
        "no action here 中文",
        '<tool_call>{"name": "left_click", "arguments": {"coordinate": [500, 500]}}</tool_call>',
        "<tool_call>{broken</tool_call>",
        'scroll("down")',
        "done()",
        "this step resets",
    ],
    "toolcall": [
        "```python\nkept = 'naïve 🙂\\t'\nprint(kept)\nkept * 2\n```",
        "  ",
        "<tool_call>{broken 中文</tool_call>",
        '<tool_call>{"name": "python", "arguments": {"code": "1 / 0"}}</tool_call>',
        "The answer is \\boxed{17}.",
        "this step resets",
    ],
    "swe": [
        "THOUGHT: naïve 🙂\n```bash\nprintf 'naïve 🙂\\n\\ttab\\n'; cd /; kept=42\n```",
        "no command here 中文",
        '<tool_call>{"name": "bash", "arguments": '
        '{"command": "echo $kept; git -C /testbed log; (exit 3)"}}</tool_call>',
        '<tool_call>{"name": "view_file", "arguments": {"path": "/testbed/README.md"}}</tool_call>',
        "```bash\nsubmit\n```",
        "```bash\nthis step resets\n```",
    ],
    "chat": ["It's 12 🙂", "## Answer\n1. **naïve**\n2. 中文\n#### 12", "12, easy one", ""],
}
IDS = [row.id for row in claw_envs.FAMILIES]
COPIES = [(env_id, copies) for env_id in IDS for copies in ((1, 4) if env_id == "claw/gui-v0" else (1, 8, 64))]
"""A browser's tab is heavier than a shell."""


def family_of(env_id: str) -> str:
    return claw_envs.families.family(env_id).name


async def single_run(env_id: str, *, seed: int) -> list[Any]:
    """Everything that one copy shows for the family's actions, with Gymnasium's next-step autoreset."""
    env = gym.make(env_id).unwrapped
    observation, info = await env.areset(seed=seed)
    seen, ended = [(observation, 0.0, False, False, info["status"])], False
    for action in ACTIONS[family_of(env_id)]:
        if ended:
            (observation, info), rest = await env.areset(), (0.0, False, False)
        else:
            observation, *rest, info = await env.astep(action)
        ended = any(rest[1:])
        seen.append((observation, *rest, info["status"]))
    await env.aclose()
    return seen


def single_runs(env_id: str, seeds: Iterable[int]) -> list[list[Any]]:
    async def all_of_them() -> list[list[Any]]:
        return await asyncio.gather(*(single_run(env_id, seed=seed) for seed in seeds))

    return asyncio.run(all_of_them())


@pytest.mark.parametrize("env_id", IDS)
def test_check_env_has_nothing_to_say(env_id: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make(env_id).unwrapped
        check_env(env)
        env.close()


@pytest.mark.parametrize("env_id", IDS)
def test_make_wraps_and_runs(env_id: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make(env_id, max_steps=1)
        env.reset(seed=0)
        observation, _, terminated, truncated, info = env.step(ACTIONS[family_of(env_id)][0])
        assert terminated or truncated
        assert info["status"] in ("COMPLETED", "TRUNCATED")
        assert observation in env.observation_space
        env.close()


@pytest.mark.parametrize("env_id", IDS)
def test_seeds_repeat(env_id: str) -> None:
    one, other = single_runs(env_id, [5, 5])
    assert differences(one, other) == []


@pytest.mark.parametrize(("env_id", "copies"), COPIES)
def test_the_vector_environment_equals_the_single_one(env_id: str, copies: int) -> None:
    vector = gym.make_vec(env_id, num_envs=copies)
    observations, infos = vector.reset(seed=100)
    shown = [
        [({k: v[i] for k, v in observations.items()}, 0.0, False, False, infos["status"][i])] for i in range(copies)
    ]
    for action in ACTIONS[family_of(env_id)]:
        observations, rewards, terminated, truncated, infos = vector.step([action] * copies)
        assert observations in vector.observation_space
        for i in range(copies):
            observation = {key: value[i] for key, value in observations.items()}
            ended = bool(terminated[i]), bool(truncated[i])
            shown[i].append((observation, float(rewards[i]), *ended, infos["status"][i]))
    vector.close()
    assert differences(shown, single_runs(env_id, range(100, 100 + copies))) == []

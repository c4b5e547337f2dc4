import asyncio

import gymnasium as gym
import numpy as np
import pytest

from claw_envs.core.episode import Observation
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task

from .echo import EchoEnv, EchoVectorEnv, echo_task

TASKS = [echo_task(f"t{i}") for i in range(5)]
ACTIONS = [
    "naïve 中文 🙂👩‍👩‍👧",
    "two\nlines\t\x00 ",
    "done",
    "ignored: this step resets",
    "",
    "fail",
    "ignored",
    "crash",
]


def vector_of(copies: int) -> EchoVectorEnv:
    return EchoVectorEnv(copies, tasks=TASKS)


def action_of(copy: int, step: int) -> str:
    return ACTIONS[(copy + step) % len(ACTIONS)]


@pytest.mark.parametrize("copies", [1, 8, 64])
def test_results_equal_those_of_single_environments(copies: int) -> None:
    vector, singles = vector_of(copies), [EchoEnv(TASKS) for _ in range(copies)]
    observations, infos = vector.reset(seed=10)
    for i, env in enumerate(singles):
        observation, info = env.reset(seed=10 + i)
        assert observations["text"][i] == observation["text"]
        assert infos["task_id"][i] == info["task_id"]
    ended = [False] * copies
    for step in range(len(ACTIONS)):
        actions = [action_of(i, step) for i in range(copies)]
        observations, rewards, terminated, truncated, infos = vector.step(actions)
        assert observations in vector.observation_space
        for i, env in enumerate(singles):
            if ended[i]:
                observation, info = env.reset()
                expected = (0.0, False, False)
            else:
                observation, *expected, info = env.step(actions[i])
            assert {key: observations[key][i] for key in observation} == observation
            assert (rewards[i], terminated[i], truncated[i]) == tuple(expected)
            assert infos["status"][i] == info["status"]
            assert infos["step_index"][i] == info["step_index"]
            ended[i] = bool(terminated[i] or truncated[i])
    vector.close()


def test_the_step_after_an_end_resets_and_ignores_the_action() -> None:
    vector = vector_of(2)
    vector.reset(seed=0)
    _, rewards, terminated, _, infos = vector.step(["done", "go on"])
    assert (list(rewards), list(terminated)) == ([0.5, 0.0], [True, False])
    observations, rewards, terminated, truncated, infos = vector.step(["done", "done"])
    assert observations["role"] == ("user", "tool")
    assert (list(rewards), list(terminated), list(truncated)) == ([0.0, 0.5], [False, True], [False, False])
    assert list(infos["step_index"]) == [0, 2]


def test_infos_mark_who_they_belong_to() -> None:
    vector = vector_of(3)
    vector.reset(seed=0)
    infos = vector.step(["done", "crash", "go on"])[4]
    assert list(infos["_outcome"]) == [True, False, False]
    assert list(infos["_error"]) == [False, True, False]
    assert infos["error"][1] == "the machine is gone"
    assert list(infos["_status"]) == [True, True, True]


def test_a_reset_mask_leaves_the_others_alone() -> None:
    vector = vector_of(3)
    vector.reset(seed=0)
    stepped = vector.step(["a", "b", "c"])[0]
    after, infos = vector.reset(seed=[7, 8, 9], options={"reset_mask": np.array([False, True, False])})
    assert (after["text"][0], after["text"][2]) == (stepped["text"][0], stepped["text"][2])
    assert after["role"] == ("tool", "user", "tool")
    assert list(infos["_task_id"]) == [False, True, False]
    assert list(vector.step(["a", "b", "c"])[4]["step_index"]) == [2, 1, 2]


def test_a_masked_reset_clears_a_pending_autoreset() -> None:
    vector = vector_of(2)
    vector.reset(seed=0)
    vector.step(["done", "go on"])
    vector.reset(options={"reset_mask": np.array([True, False])})
    observations = vector.step(["first", "second"])[0]
    assert observations["text"][0].startswith("first|")


def test_returned_observations_are_not_changed_by_later_steps() -> None:
    vector = vector_of(2)
    first, _ = vector.reset(seed=0)
    kept = {key: tuple(value) for key, value in first.items()}
    vector.step(["a", "b"])
    assert first == kept


def test_seeds_repeat() -> None:
    one, other = vector_of(4), vector_of(4)
    assert one.reset(seed=3)[0] == other.reset(seed=3)[0]
    assert one.reset(seed=[1, 2, None, 4])[0]["text"][0] == other.reset(seed=[1, 5, None, 6])[0]["text"][0]


def test_the_users_mistakes_are_named() -> None:
    with pytest.raises(UserError, match="at least 1"):
        EchoVectorEnv(0, tasks=TASKS)
    vector = vector_of(2)
    with pytest.raises(UserError, match="2 seeds for 3"):
        EchoVectorEnv(3, tasks=TASKS).reset(seed=[1, 2])
    vector.reset()
    for actions in ("ab", ["a"], ["a", "b", "c"]):
        with pytest.raises(UserError, match="sequence of 2 actions"):
            vector.step(actions)
    for mask in (np.array([False, False]), np.array([True]), [True, False]):
        with pytest.raises(UserError, match="reset_mask"):
            vector.reset(options={"reset_mask": mask})


def test_it_says_how_it_resets() -> None:
    vector = vector_of(2)
    assert vector.metadata["autoreset_mode"] is gym.vector.AutoresetMode.NEXT_STEP
    assert (vector.num_envs, len(vector.render())) == (2, 2)


class Shaky(EchoEnv):
    """Its resets fail while `failures` is above 0; the others take a few turns of the loop."""

    failures = 0

    async def _start(self, task: Task) -> Observation:
        if self.failures:
            self.failures -= 1
            raise InfrastructureError("no machine to be had")
        for _ in range(5):
            await asyncio.sleep(0)
        return await super()._start(task)


class ShakyVector(EchoVectorEnv):
    env_class = Shaky


def shaky(*failures: int) -> ShakyVector:
    vector = ShakyVector(len(failures), tasks=TASKS)
    for env, count in zip(vector.envs, failures, strict=True):
        assert isinstance(env, Shaky)
        env.failures = count
    return vector


def test_a_failed_reset_leaves_the_others_reset_and_is_made_up_for() -> None:
    vector = shaky(1, 0, 0)
    with pytest.raises(InfrastructureError, match="no machine"):
        vector.reset(seed=0)
    alone = EchoEnv(TASKS)
    alone.reset(seed=1)
    observations, _, _, truncated, infos = vector.step(["ignored", "a", "b"])
    assert observations["role"] == ("user", "tool", "tool")
    assert observations["text"][1] == alone.step("a")[0]["text"]
    assert list(infos["step_index"]) == [0, 1, 1]
    assert not truncated.any()


def test_nothing_runs_on_after_a_failed_reset() -> None:
    async def run() -> int:
        vector = shaky(1, 0)
        with pytest.raises(InfrastructureError):
            await vector.areset(seed=0)
        return len(asyncio.all_tasks())

    assert asyncio.run(run()) == 1


@pytest.mark.parametrize("failures", [1, 2])
def test_an_autoreset_is_tried_again(failures: int) -> None:
    vector = shaky(0, 0)
    vector.reset(seed=0)
    vector.step(["done", "a"])
    vector.envs[0].failures = failures  # type: ignore[attr-defined]
    observations, _, _, truncated, infos = vector.step(["ignored", "b"])
    assert observations["role"] == ("user", "tool")
    assert list(truncated) == [False, False]
    assert list(infos["status"]) == ["RUNNING", "RUNNING"]


def test_an_autoreset_that_keeps_failing_is_reported_as_aborted() -> None:
    vector = shaky(0, 0)
    vector.reset(seed=0)
    last = vector.step(["done", "a"])[0]
    vector.envs[0].failures = 3  # type: ignore[attr-defined]
    observations, rewards, terminated, truncated, infos = vector.step(["ignored", "b"])
    assert observations["text"][0] == last["text"][0]
    assert observations["text"][1].startswith("b|")
    assert (list(rewards), list(terminated), list(truncated)) == ([0.0, 0.0], [False, False], [True, False])
    assert list(infos["status"]) == ["ABORTED", "RUNNING"]
    assert list(infos["_error"]) == [True, False]
    assert infos["error"][0] == "no machine to be had"
    observations, *_, infos = vector.step(["ignored", "c"])
    assert (observations["role"][0], infos["status"][0]) == ("user", "RUNNING")

"""The roll-out loop with real conversations, the real judge and a policy that always says the same."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from claw_envs.chat.env import ChatEnv
from claw_envs.core.env import Action, ClawEnv, Step
from claw_envs.core.episode import Turn, Verdict
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from judges.rules import RulesJudge
from trainers.collector import Collector
from trainers.config import Config, load_config
from trainers.judging import JudgeLoop
from trainers.pacer import Pacer
from trainers.policies.base import Completion, Prompt, Sampling
from trainers.records import RecordWriter
from trainers.store import Store, Unit


class Parrot:
    """Says one thing, at once."""

    version = 0

    def __init__(self, text: str) -> None:
        self.text = text

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Completion:
        return Completion([1, 2], [3, 4], [-0.1, -0.2], [0, 0], "stop", self.text)

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        raise NotImplementedError

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        """Nothing to release."""


class Flaky(ChatEnv):
    """Its infrastructure fails at every third step."""

    steps = 0

    async def _act(self, action: Action) -> Step:
        Flaky.steps += 1
        if Flaky.steps % 3 == 0:
            raise InfrastructureError("the line went dead")
        return await super()._act(action)


class Seen(ChatEnv):
    """Shows a screen with each reply."""

    async def _act(self, action: Action) -> Step:
        step = await super()._act(action)
        seen = msgspec.structs.replace(step.observation, screenshot=np.full((2, 3, 3), self._step_index, np.uint8))
        return step._replace(observation=seen)


class Parts:
    """A collector and what it is made of."""

    def __init__(self, directory: Path, config: Config, env: type[ChatEnv], text: str) -> None:
        self.store = Store(directory / "store.sqlite")
        self.pacer = Pacer((config.rollout.max_staleness + 1) * config.batch_size)
        self.judging = JudgeLoop(RulesJudge(), workers=2, capacity=4)
        self.records = RecordWriter(directory / "records")
        envs: list[ClawEnv] = [env() for _ in range(config.rollout.parallel)]
        self.collector = Collector(envs, Parrot(text), self.judging, self.store, self.pacer, self.records, config)

    async def until_full(self) -> None:
        """Run until admission has closed: every slot is held by a queued sample."""
        loops = [asyncio.create_task(self.judging.run()), asyncio.create_task(self.collector.run())]
        async with asyncio.timeout(60):
            while self.pacer.queued < self.pacer.capacity:
                self.collector.accepted.clear()
                await self.collector.accepted.wait()
        await self.stop(loops)

    async def stop(self, loops: list["asyncio.Task[None]"]) -> None:
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)
        self.records.close()


def config_of(**overrides: str) -> Config:
    return load_config("chat", None, {"batch_size": "8", "rollout.parallel": "4", **overrides})


def all_units(store: Store) -> list[Unit]:
    return store.claim(1, store.queued(0))


LONG = "To find the answer, let's break it down step by step.\n1. First, **we add** the numbers.\n#### 7"


def test_each_judged_turn_is_a_unit_with_its_reaction_and_verdict(tmp_path: Path) -> None:
    parts = Parts(tmp_path, config_of(), ChatEnv, LONG)
    asyncio.run(parts.until_full())
    units = all_units(parts.store)
    assert len(units) == 16 == parts.pacer.queued
    turns = [unit.episodes[0].turns[0] for unit in units]
    assert all(turn.verdict is not None and turn.observation is not None for turn in turns)
    assert all(turn.verdict.score == -1.0 for turn in turns if turn.verdict and not turn.verdict.hint)
    assert len({unit.id for unit in units}) == 16
    assert any(turn.verdict.hint for turn in turns if turn.verdict)


def test_aborted_episodes_are_counted_and_leave_no_slot_and_no_unit(tmp_path: Path) -> None:
    parts = Parts(tmp_path, config_of(), Flaky, LONG)
    asyncio.run(parts.until_full())
    assert parts.collector.aborted > 0
    assert parts.pacer.queued == parts.store.queued(0) == 16
    assert parts.pacer.in_flight == 0
    observed = [turn.observation.text for unit in all_units(parts.store) for turn in unit.episodes[0].turns]
    assert not any("aborted" in text for text in observed)


def test_groups_arrive_whole_with_outcomes_and_every_turn_judged(tmp_path: Path) -> None:
    parts = Parts(tmp_path, config_of(signal="step_index", **{"rollout.group_size": "4"}), ChatEnv, LONG)
    asyncio.run(parts.until_full())
    for unit in all_units(parts.store):
        assert [len(unit.episodes), unit.samples] == [4, 4]
        assert {episode.group_id for episode in unit.episodes} == {unit.id}
        assert len({episode.task_id for episode in unit.episodes}) == 1
        assert sorted(episode.sample_index for episode in unit.episodes) == [0, 1, 2, 3]
        assert all(episode.outcome is not None for episode in unit.episodes)
        assert all(turn.verdict is not None for episode in unit.episodes for turn in episode.turns)


@pytest.mark.parametrize("signal", ["binary", "step_index"])
def test_screens_are_judged_and_then_let_go(tmp_path: Path, signal: str) -> None:
    class Looking(RulesJudge):
        seen: set[tuple[int, int]] = set()

        async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
            for each in (*history, turn):
                assert each.observation is not None
                assert each.observation.screenshot is not None
                self.seen.add((each.step + 1, int(each.observation.screenshot[0, 0, 0])))
            return await super().judge(turn, history, task)

    parts = Parts(tmp_path, config_of(signal=signal, **{"rollout.group_size": "2"}), Seen, LONG)
    parts.judging = parts.collector.judging = JudgeLoop(Looking(), workers=2, capacity=4)
    asyncio.run(parts.until_full())
    assert {(1, 1), (2, 2)} <= Looking.seen
    assert all(step == shade for step, shade in Looking.seen)
    turns = [turn for unit in all_units(parts.store) for episode in unit.episodes for turn in episode.turns]
    assert {turn.step for turn in turns} >= {0, 1}
    assert all(turn.observation is not None and turn.observation.screenshot is None for turn in turns)
    lines = [line for path in (tmp_path / "records").glob("turns-*") for line in path.read_text().splitlines()]
    assert lines
    assert not any('"zlib"' in line or '"shape"' in line for line in lines)


def test_a_group_that_lost_members_for_good_is_accepted_without_them_and_still_fills_its_place(tmp_path: Path) -> None:
    overrides = {"rollout.group_size": "4", "rollout.abort_retries": "0", "rollout.max_staleness": "0"}
    parts = Parts(tmp_path, config_of(signal="step_index", **overrides), Flaky, LONG)
    asyncio.run(parts.until_full())
    units = all_units(parts.store)
    assert all(unit.samples == 4 for unit in units)
    assert any(len(unit.episodes) < 4 for unit in units)


def test_a_slow_judge_never_lets_a_group_go_with_a_turn_unjudged(tmp_path: Path) -> None:
    class Slow(RulesJudge):
        async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
            for _ in range(50 * (3 - int(turn.episode_id[-1]))):  # the first member is judged last
                await asyncio.sleep(0)
            return await super().judge(turn, history, task)

    parts = Parts(tmp_path, config_of(signal="step_index", **{"rollout.group_size": "4"}), ChatEnv, LONG)
    parts.judging = parts.collector.judging = JudgeLoop(Slow(), workers=4, capacity=4)
    asyncio.run(parts.until_full())
    units = all_units(parts.store)
    assert all(turn.verdict is not None for unit in units for episode in unit.episodes for turn in episode.turns)
    assert len(parts.collector.rewards) == sum(len(unit.episodes) for unit in units) == 16


def test_a_backend_that_never_works_ends_the_run_with_its_reason(tmp_path: Path) -> None:
    class Dead(ChatEnv):
        async def _act(self, action: Action) -> Step:
            raise InfrastructureError("no power")

    parts = Parts(tmp_path, config_of(), Dead, LONG)

    async def scenario() -> None:
        judging = asyncio.create_task(parts.judging.run())
        try:
            await parts.collector.run()
        finally:
            await parts.stop([judging])

    with pytest.raises(ExceptionGroup) as raised:
        asyncio.run(scenario())
    assert raised.group_contains(InfrastructureError, match=r"17 episodes in a row.*no power")
    assert len((tmp_path / "records" / "aborted.jsonl").read_text().splitlines()) >= 17


def test_an_environment_that_comes_back_after_the_run_was_ended_leaves_nothing_undone(tmp_path: Path) -> None:
    started = asyncio.Event()

    class Stubborn(ChatEnv):
        async def _act(self, action: Action) -> Step:
            with contextlib.suppress(asyncio.CancelledError):
                started.set()
                await asyncio.Event().wait()
            raise InfrastructureError("it was late")

    parts = Parts(tmp_path, config_of(signal="grpo"), Stubborn, LONG)

    async def scenario() -> None:
        judging = asyncio.create_task(parts.judging.run())
        collecting = asyncio.create_task(parts.collector.run())
        await started.wait()
        await parts.stop([judging, collecting])
        assert collecting.cancelled()

    asyncio.run(scenario())

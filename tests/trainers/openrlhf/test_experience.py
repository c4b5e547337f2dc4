"""Batches of episodes through OpenRLHF's sample generator, experience maker and replay buffer, with our signals."""

import asyncio
import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from claw_envs.core.episode import Status, Verdict
from claw_envs.core.tasksets import load_tasks
from tests.trainers.openrlhf.made import NAN, by_row, episode, experiences, on_tokens, turn
from tests.trainers.openrlhf.parts import LocalEngine, execute, logprobs, maker_of, taken
from trainers import advantages
from trainers.config import Config
from trainers.openrlhf.agent import AgentExecutor
from trainers.openrlhf.executor import response_of
from trainers.openrlhf.records import KEY, unpack
from trainers.policies.render import Renderer, with_hint
from trainers.signals import process_reward

pytestmark = pytest.mark.usefixtures("cluster")
Configure = Callable[..., Config]


def test_real_episodes_get_the_step_index_advantages_of_the_pure_function(
    configure: Configure, tiny: tuple[Any, Any]
) -> None:
    config = configure(
        "toolcall",
        signal="step_index",
        batch_size=8,
        rollout__group_size=4,
        optim__microbatch=4,
        updates=1,
        generation__max_new_tokens=24,
        env__tools='["python"]',
        env__max_steps=3,
    )
    tasks = [task.id for task in load_tasks("toolcall", None)[:2]]
    said = iter(["```python\nprint(1)\n```", "\\boxed{41}", "```python\n1/0\n```", "Hello."] * 9)
    engine = LocalEngine(*tiny, says=lambda ids: next(said))

    async def play() -> list[dict[str, Any]]:
        executor = AgentExecutor()
        answers = [await execute(executor, engine, task, label=task) for task in tasks for _ in range(4)]
        await executor.pool.aclose()
        return answers

    responses = asyncio.run(play())
    records = [unpack(response["extra_logs"][KEY]) for response in responses]
    made = maker_of(config, tiny, reference=copy.deepcopy(tiny[0])).make_experience_batch(
        [taken(response) for response in responses]
    )

    turns = [(i, each) for i, record in enumerate(records) for each in record.episode.turns]
    rewards = [
        advantages.step_rewards(records[i].episode.outcome or 0.0, [process_reward(each.verdict)])[0]
        for i, each in turns
    ]
    expected = advantages.step_index([str(i // 4) for i, _ in turns], [each.step for _, each in turns], rewards)
    assert len(turns) > len(records)
    assert np.nanstd(expected) > 0.1
    sequences, values, masks = (by_row(made, name) for name in ("sequences", "advantages", "action_mask"))
    for i, record in enumerate(records):
        own = iter(expected[[n for n, (j, _) in enumerate(turns) if j == i]])
        for each, place in zip(record.episode.turns, record.places, strict=True):
            assert place is not None
            columns = slice(place.start - 1, place.start - 1 + len(each.response_ids))
            assert sequences[i][1:][columns].tolist() == each.response_ids
            value = next(own)
            assert masks[i][columns].tolist() == [0 if np.isnan(value) else 1] * len(each.response_ids)
            assert_allclose(values[i][columns], np.full(len(each.response_ids), np.nan_to_num(value)), rtol=1e-6)


def test_abstentions_failures_aborts_single_samples_and_constant_buckets(
    batch_config: Configure, tiny: tuple[Any, Any]
) -> None:
    failed = Verdict(status="failed")
    episodes = [
        episode([1.0, None, 1.0], outcome=1.0),
        episode([-1.0, -1.0], outcome=0.0),
        episode([failed, 1.0], outcome=0.0),
        episode([1.0, 1.0, 1.0], outcome=None, status=Status.ABORTED),
    ]
    episodes[3].turns = []  # as the executor hands it over
    made = experiences(batch_config(signal="step_index", loss__kl_coef=0), tiny, episodes)
    # step 0: 2 against -1; step 1: 1, -1 and 1; step 2: one sample, as it is
    high, low = 2**-0.5, -(2**0.5)
    expected = [[[1.0], [high] * 2, [2.0] * 3], [[-1.0], [low] * 2], [[NAN], [high] * 2]]
    for row, values in enumerate(expected):
        for got, wanted in zip(on_tokens(made, row, episodes[row].turns), values, strict=True):
            assert_allclose(got, wanted, rtol=1e-5)
    assert not by_row(made, "action_mask")[3].any()
    whole_mean = (1.0 + 0.0 + 0.0) / 3
    assert torch.cat([each.info["reward"] for each in made]).tolist() == pytest.approx([1.0, 0.0, 0.0, whole_mean])
    info = made[0].info
    assert (info["claw_aborted"].tolist(), info["claw_dropped_tokens"].tolist()) == ([1.0, 1.0], [1.0, 1.0])
    assert info["claw_trained_tokens"].tolist() == [11.0, 11.0]


def test_a_bucket_of_equal_rewards_is_left_out_of_the_mask(batch_config: Configure, tiny: tuple[Any, Any]) -> None:
    episodes = [episode([1.0, score]) for score in (1.0, 1.0, -1.0, -1.0)]
    made = experiences(batch_config(signal="step_index", loss__kl_coef=0), tiny, episodes)
    for row, each in enumerate(episodes):
        first, second = on_tokens(made, row, each.turns)
        assert np.isnan(first).all()
        assert_allclose(second, np.full(2, 1.0 if row < 2 else -1.0), rtol=1e-5)
    # what a mask hides is hidden in the old log-probs as in the new ones
    for old, mask in zip(by_row(made, "action_log_probs"), by_row(made, "action_mask"), strict=True):
        assert not old[~mask.bool()].any()


def test_groups_are_compared_within_themselves(batch_config: Configure, tiny: tuple[Any, Any]) -> None:
    config = batch_config(signal="step_index", rollout__group_size=2, loss__kl_coef=0)
    episodes = [episode([0.5], outcome=outcome) for outcome in (0.0, 1.0, 5.0, 3.0)]
    made = experiences(config, tiny, episodes)
    values = [on_tokens(made, row, each.turns)[0][0] for row, each in enumerate(episodes)]
    assert_allclose(values, [-1.0, 1.0, 1.0, -1.0], rtol=1e-5)


@pytest.mark.parametrize("signal", ["grpo", "rloo", "reinforce_baseline"])
def test_the_other_grouped_signals_are_those_of_the_outcomes(
    batch_config: Configure, tiny: tuple[Any, Any], signal: str
) -> None:
    outcomes = [0.0, 1.0, 0.25, 0.5]
    episodes = [episode([1.0, 1.0], outcome=outcome) for outcome in outcomes]
    made = experiences(batch_config(signal=signal, loss__kl_coef=0), tiny, episodes)
    expected = getattr(advantages, signal)(["g"] * 4, outcomes)
    for row, each in enumerate(episodes):
        first, second = on_tokens(made, row, each.turns)
        assert_allclose([*first, *second], np.full(3, expected[row]), rtol=1e-6)


def test_binary_trains_what_was_scored_and_normalises_nothing(batch_config: Configure, tiny: tuple[Any, Any]) -> None:
    episodes = [episode([1.0, None]), episode([-1.0]), episode([0.0]), episode([1.0], status=Status.FAILED)]
    made = experiences(batch_config(signal="binary", loss__kl_coef=0), tiny, episodes)
    got = [on_tokens(made, row, each.turns) for row, each in enumerate(episodes)]
    assert_allclose(got[0][0] + got[0][1], [1.0, NAN, NAN])
    assert_allclose(got[1] + got[2] + got[3], [[-1.0], [NAN], [1.0]])


def test_a_rewritten_history_has_rows_of_its_own_and_blank_ones_fill_the_step(
    batch_config: Configure, tiny: tuple[Any, Any]
) -> None:
    config = batch_config(signal="step_index", loss__kl_coef=0, loss__importance_cap=2.0)
    episodes = [episode([score], outcome=score) for score in (1.0, -1.0, 0.5, 0.0)]
    rewritten = [turn(1, [40, 41], [42, 43], Verdict(score=1.0)), turn(2, [40, 41, 42, 43, 44], [45])]
    episodes[0].turns += [*rewritten, turn(3, [50], [51])]
    episodes[1].turns += [turn(1, [60], [61, 62], Verdict(score=-1.0))]
    made = experiences(config, tiny, episodes)
    sequences, values, masks, sampled = (
        by_row(made, name) for name in ("sequences", "advantages", "action_mask", "rollout_log_probs")
    )
    assert len(sequences) == 8  # 4 episodes and 3 further sequences, filled up to whole steps of 4
    assert sequences[4][:6].tolist() == [40, 41, 42, 43, 44, 45]
    assert masks[4].tolist()[:5] == [0, 1, 1, 0, 1]
    assert_allclose(values[4][:5], [0, 1, 1, 0, 1], rtol=1e-5)  # step 1: 2 against -2; step 2: alone, 1 + 0
    assert_allclose(sampled[4][:5], [0, -1.042, -1.043, 0, -1.045], rtol=1e-6)
    assert masks[5].tolist()[:1] == [1]
    assert_allclose(values[6][:2], [-1, -1], rtol=1e-5)
    assert sequences[7][:2].tolist() == [0, 0]
    assert not masks[7].any()
    rewards = torch.cat([each.info["reward"] for each in made])
    assert rewards.mean().item() == pytest.approx(0.125)  # of the four episodes


@pytest.mark.parametrize("signal", ["opd", "combined"])
@pytest.mark.parametrize("weights", ["reference", "current"])
def test_hints_are_read_by_the_reference_or_by_the_policy_itself(
    batch_config: Configure, tiny: tuple[Any, Any], signal: str, weights: str
) -> None:
    config = batch_config(
        signal=signal,
        teacher=weights,
        weights__opd_baseline="false",
        weights__opd_clip=0.75,
        weights__binary=0.5,
        generation__temperature=0.7,
        loss__kl_coef=0.01,
    )
    reference = copy.deepcopy(tiny[0])
    with torch.no_grad():
        for parameter in reference.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)), alpha=0.05)
    hint = Verdict(score=-1.0, hint="Shorter, please.")
    episodes = [episode([hint, 1.0, hint]), episode([Verdict(hint="Sooner.")]), episode([1.0]), episode([None])]
    for each in episodes:
        for one in each.turns:
            one.logprobs = []
    made = experiences(config, tiny, episodes, reference=reference)

    renderer, teacher = Renderer(tiny[1]), reference if weights == "reference" else tiny[0]
    for row, each in enumerate(episodes):
        ids = by_row(made, "sequences")[row].tolist()
        for one, got in zip(each.turns, on_tokens(made, row, each.turns), strict=True):
            score, distilled = one.verdict.score or 0.0, 0.0
            if one.verdict.hint:
                prompt = renderer.prompt_ids(with_hint(one.messages, one.verdict.hint))
                theirs = logprobs(teacher, prompt + one.response_ids, 0.7)[len(prompt) - 1 :]
                start = len(one.prompt_ids)
                own = logprobs(tiny[0], ids[: start + len(one.response_ids)], 0.7)[start - 1 :]
                distilled = (theirs - own).clamp(-0.75, 0.75).numpy()
            wanted = distilled if signal == "opd" else 0.5 * score + distilled
            untrained = not one.verdict.hint and (signal == "opd" or not score)
            assert_allclose(got, np.broadcast_to(NAN if untrained else wanted, len(got)), atol=1e-5)


def test_rows_and_hints_are_shared_out_evenly_among_the_processes(
    batch_config: Configure, tiny: tuple[Any, Any]
) -> None:
    config = batch_config(
        signal="opd", teacher="current", weights__opd_baseline="false", loss__kl_coef=0, optim__microbatch=1
    )
    episodes = [episode([Verdict(hint="Sooner.")]), episode([None]), episode([None]), episode([None])]
    episodes[1].turns.append(turn(1, [60], [61]))
    made = experiences(
        config, tiny, episodes, actor__num_gpus_per_node=4, ref__num_gpus_per_node=4, train__batch_size=4
    )
    assert len(made) == 8
    assert np.isfinite(on_tokens(made, 0, episodes[0].turns)[0]).all()  # one hint for four processes


def test_what_is_handed_on_goes_through_the_replay_buffer(batch_config: Configure, tiny: tuple[Any, Any]) -> None:
    from openrlhf.trainer.ppo_utils.experience import (
        make_experience_batch,
        remove_padding_in_sequences,
        split_experience_batch,
    )

    episodes = [episode([1.0, score], outcome=score) for score in (1.0, 0.0, -1.0)] + [episode([], outcome=0.0)]
    made = experiences(batch_config(signal="step_index", loss__kl_coef=0), tiny, episodes)
    items = [item for each in made for item in remove_padding_in_sequences(split_experience_batch(each))]
    assert len(items) == 4
    together = make_experience_batch(items)
    assert together.advantages.shape == together.action_mask.shape == together.action_log_probs.shape
    assert KEY not in together.info
    assert all(torch.is_tensor(value) or isinstance(value, list) for value in together.info.values())


def test_a_batch_of_aborted_episodes_trains_nothing(batch_config: Configure, tiny: tuple[Any, Any]) -> None:
    episodes = [episode([], outcome=None, status=Status.ABORTED) for _ in range(4)]
    made = experiences(batch_config(signal="step_index", loss__kl_coef=0), tiny, episodes)
    assert not torch.cat(by_row(made, "action_mask")).any()
    assert torch.cat([each.rewards for each in made]).tolist() == [0.0] * 4


def test_rows_that_are_no_whole_episode_move_no_statistic(batch_config: Configure, tiny: tuple[Any, Any]) -> None:
    from openrlhf.trainer.ppo_utils.experience import make_experience_batch, split_experience_batch

    episodes = [
        episode([], outcome=None, status=Status.ABORTED),
        episode([1.0, 1.0], outcome=1.0),
        episode([None], outcome=None),
        episode([1.0], outcome=0.5),
    ]
    episodes[1].turns.append(turn(2, [60], [61, 62], Verdict(score=-1.0)))  # a row of its own, and three blank ones
    episodes[1].turns[-1].finish_reason = "length"
    made = experiences(batch_config(signal="step_index", loss__kl_coef=0), tiny, episodes)
    rewards = torch.cat([each.info["reward"] for each in made])
    assert len(rewards) == 8
    assert rewards.mean().item() == pytest.approx(0.75)
    together = make_experience_batch([item for each in made for item in split_experience_batch(each)])
    assert together.response_length.float().mean().item() == pytest.approx((5 + 1 + 1) / 3)
    assert together.total_length.float().mean().item() == pytest.approx((8 + 4 + 4) / 3)
    assert together.truncated.float().mean().item() == pytest.approx(1 / 3)


def test_every_model_computes_the_same_number_of_micro_batches_on_each_process(
    batch_config: Configure, tiny: tuple[Any, Any]
) -> None:
    config = batch_config(signal="step_index", loss__kl_coef=0.1, optim__microbatch=1)
    ours = maker_of(config, tiny, reference=tiny[0])
    ours.initial_model_group._actor_handlers *= 3
    ours.initial_model_group.duplicate_actors = 1
    samples = [taken(response_of(episode([1.0]), config, Renderer(tiny[1]), logprobs=False)) for _ in range(4)]
    assert len(ours.split_rollout_samples(samples)) == 12


def test_no_samples_make_no_experience(batch_config: Configure, tiny: tuple[Any, Any]) -> None:
    assert maker_of(batch_config(signal="step_index", loss__kl_coef=0), tiny).split_rollout_samples([]) == []

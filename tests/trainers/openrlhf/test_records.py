from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from claw_envs.core.episode import Episode, Status, Turn, Verdict
from trainers.config import Config
from trainers.openrlhf.records import pack, record_of, reward_of, unpack
from trainers.policies.render import Renderer, with_hint
from trainers.sequences import Place

Configure = Callable[..., Config]


def turn(step: int, prompt: list[int], response: list[int], **said: object) -> Turn:
    return Turn(
        episode_id="e",
        step=step,
        messages=[{"role": "user", "content": f"Question {step}?"}],
        response="words " * 50,
        prompt_ids=prompt,
        response_ids=response,
        logprobs=[-0.5] * len(response),
        versions=[0] * len(response),
        verdict=Verdict(score=1.0, votes=[1.0, None], raw=["the judge's words"] * 9, **said),
    )


def episode(turns: list[Turn]) -> Episode:
    return Episode(id="e", task_id="t", family="chat", turns=turns, outcome=0.5, status=Status.COMPLETED)


def test_a_record_keeps_what_signals_need_and_leaves_the_conversation_behind(configure: Configure) -> None:
    config = configure(signal="step_index")
    turns = [turn(0, [1, 2], [3, 4]), turn(1, [1, 2, 3, 4, 9], [5]), turn(2, [7, 8], []), turn(3, [7, 8], [6])]
    record, first = record_of(episode(turns), config, renderer=None)
    assert first == [1, 2, 3, 4, 9, 5]
    assert record.sequences == [[7, 8, 6]]
    assert record.places == [Place(0, 2), Place(0, 5), None, Place(1, 2)]
    kept = unpack(pack(record))
    assert [each.response_ids for each in kept.episode.turns] == [[3, 4], [5], [], [6]]
    assert [each.step for each in kept.episode.turns] == [0, 1, 2, 3]
    assert kept.episode.turns[0].logprobs == [-0.5, -0.5]
    assert (kept.episode.outcome, kept.episode.status) == (0.5, Status.COMPLETED)
    for each in kept.episode.turns:
        assert (each.messages, each.response, each.prompt_ids) == ([], "", [])
        assert each.verdict is not None
        assert (each.verdict.score, each.verdict.votes, each.verdict.raw) == (1.0, [1.0, None], [])


def test_the_prompt_with_the_hint_is_found_again_in_every_sequence(configure: Configure, tiny: tuple[Any, Any]) -> None:
    config = configure(signal="combined", weights__opd_baseline="false")
    renderer = Renderer(tiny[1])
    turns = [turn(step, [], [100 + step], hint="Shorter.") for step in range(3)]
    for each in turns:
        each.prompt_ids = renderer.prompt_ids(each.messages)
    turns[1].verdict = Verdict(score=1.0)  # no hint
    record, first = record_of(episode(turns), config, renderer)
    record = unpack(pack(record))
    for number, each in enumerate(turns):
        expected = renderer.prompt_ids(with_hint(each.messages, "Shorter.")) + each.response_ids
        assert record.hinted_row(number, first) == (None if number == 1 else expected)
    hinted = record.hinted[0]
    assert hinted is not None
    assert len(hinted.other) < len(turns[0].prompt_ids)  # what both prompts begin and end with travels once


def test_what_follows_a_hint_early_in_the_conversation_travels_once(
    configure: Configure, tiny: tuple[Any, Any]
) -> None:
    config, renderer = configure(signal="opd", weights__opd_baseline="false"), Renderer(tiny[1])
    turns = [turn(0, [], [100], hint="Look it up.")]
    turns[0].messages += [{"role": "tool", "content": "nothing found " * 99}]
    turns[0].prompt_ids = renderer.prompt_ids(turns[0].messages)
    record, first = record_of(episode(turns), config, renderer)
    expected = renderer.prompt_ids(with_hint(turns[0].messages, "Look it up."))
    assert record.hinted_row(0, first) == [*expected, 100]
    hinted = record.hinted[0]
    assert hinted is not None
    assert len(hinted.other) < 40
    assert hinted.tail > 99


def test_numbers_travel_with_padding_behind_them(configure: Configure) -> None:
    config = configure(signal="step_index")
    for tokens in (1, 4000):  # as it is, and compressed
        record, _ = record_of(episode([turn(0, [1], list(range(tokens)))]), config, renderer=None)
        numbers = pack(record)
        assert unpack([*numbers, 0, 0, 0]) == unpack(numbers)
        assert all(-(2**63) <= number < 2**63 for number in numbers)


def test_it_grows_with_the_conversation_and_not_with_its_square(configure: Configure) -> None:
    config = configure(signal="step_index")

    def size(count: int) -> int:
        ids, turns = [1], []
        for step in range(count):
            turns.append(turn(step, ids, [step * 7919 % 50_000, step * 104_729 % 50_000]))
            ids = [*ids, *turns[-1].response_ids, 9]
        return len(pack(record_of(episode(turns), config, renderer=None)[0]))

    assert size(200) < 2.5 * size(100)


def test_numbers_that_are_no_record_are_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        unpack([4, 0])


def test_the_reward_for_statistics_is_the_outcome_or_the_mean_of_what_was_scored() -> None:
    scored = episode([turn(0, [1], [2]), turn(1, [1], [2]), turn(2, [1], [2])])
    scored.turns[1].verdict = Verdict(score=-1.0)
    scored.turns[2].verdict = Verdict(status="failed")
    assert reward_of(scored, grouped=True) == 0.5
    assert reward_of(scored, grouped=False) == 0.0
    assert reward_of(episode([]), grouped=False) is None
    for status, outcome in ((Status.COMPLETED, None), (Status.ABORTED, 1.0)):
        scored.status, scored.outcome = status, outcome
        assert reward_of(scored, grouped=True) is None

import numpy as np
import pytest

from claw_envs.core.episode import Turn
from trainers.sequences import Place, build, lay_out


def turn(step: int, prompt: list[int], response: list[int]) -> Turn:
    return Turn(
        episode_id="e",
        step=step,
        messages=[],
        response="",
        prompt_ids=prompt,
        response_ids=response,
        logprobs=[-float(i) for i in response],
        versions=[step] * len(response),
    )


def test_turns_that_extend_each_other_share_one_sequence_with_the_observation_untrained() -> None:
    turns = [turn(0, [1, 2], [3, 4]), turn(1, [1, 2, 3, 4, 9, 9], [5])]
    (sequence,) = build(turns, [np.array([0.5, 0.5]), np.array([-1.0])])
    assert sequence.ids == [1, 2, 3, 4, 9, 9, 5]
    assert sequence.positions.tolist() == [2, 3, 6]
    assert sequence.advantages.tolist() == [0.5, 0.5, -1.0]
    assert sequence.logprobs.tolist() == [-3.0, -4.0, -5.0]
    assert sequence.versions.tolist() == [0, 0, 1]


def test_a_rewritten_history_begins_a_new_sequence() -> None:
    turns = [turn(0, [1, 2], [3]), turn(1, [7, 8], [5])]
    first, second = build(turns, [np.array([1.0]), np.array([2.0])])
    assert (first.ids, second.ids) == ([1, 2, 3], [7, 8, 5])
    assert second.positions.tolist() == [2]


def test_every_response_has_its_place_but_an_empty_one() -> None:
    turns = [turn(0, [1, 2], [3]), turn(1, [1, 2, 3], []), turn(2, [1, 2, 3, 4], [5]), turn(3, [6], [7])]
    sequences, places = lay_out(turns)
    assert sequences == [[1, 2, 3, 4, 5], [6, 7]]
    assert places == [Place(0, 2), None, Place(0, 4), Place(1, 1)]


def test_an_empty_response_has_nothing_to_train() -> None:
    assert build([turn(0, [1], [])], [np.zeros(0)]) == []


def test_arrays_that_disagree_are_an_error() -> None:
    with pytest.raises(ValueError, match="e/0: 2 tokens"):
        build([turn(0, [1], [3, 4])], [np.zeros(3)])

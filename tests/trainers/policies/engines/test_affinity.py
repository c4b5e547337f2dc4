"""Where the beginning of a prompt is cached."""

from trainers.policies.engines.affinity import BLOCK, Affinity


def test_a_conversation_goes_where_its_earlier_turns_went() -> None:
    affinity = Affinity()
    first = list(range(5 * BLOCK))
    affinity.note(first, 1)
    assert affinity.find([*first, *range(2 * BLOCK)]) == 1
    assert affinity.find(first[: 3 * BLOCK]) == 1
    assert affinity.find([7, *first]) is None


def test_what_many_share_binds_nobody() -> None:
    affinity = Affinity()
    system = list(range(2 * BLOCK))
    affinity.note([*system, *[1] * 4 * BLOCK], 0)
    assert affinity.find([*system, *[2] * 4 * BLOCK]) is None


def test_the_oldest_are_forgotten() -> None:
    affinity = Affinity(capacity=4)
    affinity.note([1] * 4 * BLOCK, 0)
    affinity.note([2] * 4 * BLOCK, 1)
    assert affinity.find([1] * 4 * BLOCK) is None
    assert affinity.find([2] * 4 * BLOCK) == 1

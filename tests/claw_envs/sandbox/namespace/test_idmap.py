import doctest

import pytest

from claw_envs.sandbox.namespace import idmap


def test_the_map_is_as_documented() -> None:
    assert doctest.testmod(idmap).failed == 0


@pytest.mark.parametrize("agent", [1, 1000, 65535])
def test_the_map_is_a_permutation_of_all_ids(agent: int) -> None:
    seen: dict[int, int] = {}
    for line in idmap.id_map(100_000, agent).splitlines():
        inside, outside, count = map(int, line.split())
        seen |= {inside + offset: outside + offset for offset in range(count)}
    assert sorted(seen) == list(range(65536))
    assert sorted(seen.values()) == list(range(100_000, 165_536))
    assert (seen[0], seen[agent]) == (100_000 + agent, 100_000)

"""The prefix cache: longest match, bound, order of eviction."""

import torch

from trainers.policies.prefixes import Layers, PrefixCache


def _layers(ids: list[int]) -> Layers:
    """One layer whose keys spell out the ids."""
    keys = torch.tensor(ids, dtype=torch.float32)[None, :, None]
    return [(keys, -keys)]


def _match(cache: PrefixCache, ids: list[int]) -> list[int]:
    found = cache.match(ids)
    return found[0][0].flatten().int().tolist() if found else []


def test_longest_beginning_without_the_last_token() -> None:
    cache = PrefixCache(tokens=100)
    assert _match(cache, [1, 2, 3]) == []
    cache.add([1, 2, 3, 4], _layers([1, 2, 3, 4]))
    cache.add([1, 2, 9], _layers([1, 2, 9]))
    assert _match(cache, [1, 2, 3, 7, 8]) == [1, 2, 3]
    assert _match(cache, [1, 2, 9, 9]) == [1, 2, 9]
    assert _match(cache, [1, 2, 3, 4]) == [1, 2, 3]
    assert _match(cache, [5, 1]) == []
    assert _match(cache, [1]) == []
    cache.clear()
    assert _match(cache, [1, 2, 3]) == []


def test_bound_evicts_the_least_recently_used() -> None:
    cache = PrefixCache(tokens=6)
    cache.add([1, 1, 1], _layers([1, 1, 1]))
    cache.add([2, 2, 2], _layers([2, 2, 2]))
    assert _match(cache, [1, 1, 1, 0]) == [1, 1, 1]
    cache.add([3, 3, 3], _layers([3, 3, 3]))
    assert _match(cache, [2, 2, 2, 0]) == []
    assert _match(cache, [1, 1, 1, 0]) == [1, 1, 1]
    cache.add([4] * 7, _layers([4] * 7))
    assert _match(cache, [4] * 8) == []


def test_an_extension_replaces_what_it_extends() -> None:
    cache = PrefixCache(tokens=5)
    cache.add([1, 2], _layers([1, 2]))
    cache.add([7], _layers([7]))
    cache.add([1, 2, 3, 4], _layers([1, 2, 3, 4]))
    assert _match(cache, [7, 8]) == [7]
    assert _match(cache, [1, 2, 3, 4, 5]) == [1, 2, 3, 4]

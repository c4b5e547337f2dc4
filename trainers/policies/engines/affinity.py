"""Which replica holds the cache of a prompt's beginning: turns of a conversation go where the earlier ones went."""

from collections import OrderedDict
from collections.abc import Sequence

BLOCK = 64
"""Tokens that are remembered as one."""


class Affinity:
    """Remembers which replica was last asked for a prefix, block by block. The oldest are forgotten."""

    def __init__(self, capacity: int = 65_536) -> None:
        """
        Args:
            capacity: blocks that are remembered.
        """
        self._capacity = capacity
        self._seen: OrderedDict[int, int] = OrderedDict()

    def find(self, ids: Sequence[int]) -> int | None:
        """The replica that was asked for at least half of `ids`, None where none was: a system prompt binds nobody."""
        blocks = _chain(ids)
        for count in range(len(blocks), 0, -1):
            if 2 * count * BLOCK < len(ids):
                break
            replica = self._seen.get(blocks[count - 1])
            if replica is not None:
                return replica
        return None

    def note(self, ids: Sequence[int], replica: int) -> None:
        """`replica` has all of `ids` in its cache now."""
        for block in _chain(ids):
            self._seen[block] = replica
            self._seen.move_to_end(block)
        while len(self._seen) > self._capacity:
            self._seen.popitem(last=False)


def _chain(ids: Sequence[int]) -> list[int]:
    """A hash for every full block, of it and all before it."""
    hashes: list[int] = []
    for start in range(0, len(ids) - BLOCK + 1, BLOCK):
        hashes.append(hash((hashes[-1] if hashes else 0, *ids[start : start + BLOCK])))
    return hashes

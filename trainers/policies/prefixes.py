"""`PrefixCache`: keys and values of recent conversations, so that a prompt which continues one computes only its rest.

A turn's prompt begins with the ids of the turns before it, and different prompts share the template's opening. Entries
belong to one version of the weights: whoever changes them clears the cache.
"""

from collections import OrderedDict
from collections.abc import Sequence

import torch

Layers = list[tuple[torch.Tensor, torch.Tensor]]
"""Keys and values of each layer, of shape (key-value heads, tokens, head size)."""


class PrefixCache:
    """The least recently used entries go first."""

    def __init__(self, *, tokens: int) -> None:
        """
        Args:
            tokens: bound on the tokens of all entries together; 0 keeps none.
        """
        self._bound = tokens
        self._entries: OrderedDict[tuple[int, ...], Layers] = OrderedDict()

    def match(self, ids: Sequence[int]) -> Layers:
        """Keys and values of the longest known beginning of `ids`, without their last token; empty if there is none."""
        best, shared = None, 0
        for known in self._entries:
            length = _shared(known, ids)
            if length > shared:
                best, shared = known, length
        if best is None or (shared := min(shared, len(ids) - 1)) == 0:
            return []
        self._entries.move_to_end(best)
        return [(keys[:, :shared], values[:, :shared]) for keys, values in self._entries[best]]

    def add(self, ids: Sequence[int], layers: Layers) -> None:
        """Keep the keys and values of all of `ids`."""
        if len(ids) > self._bound:
            return
        for known in [known for known in self._entries if _shared(known, ids) == len(known)]:
            del self._entries[known]  # the new entry begins with it
        self._entries[tuple(ids)] = layers
        while sum(map(len, self._entries)) > self._bound:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()


def _shared(first: Sequence[int], second: Sequence[int]) -> int:
    """Length of the common beginning."""
    differing = (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    return next(differing, min(len(first), len(second)))

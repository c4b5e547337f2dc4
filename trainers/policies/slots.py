"""`SlotCache`: the keys and values of a running batch, one slot a row, each row as long as it is.

Rows join, leave and grow without moving their neighbours: a slot holds its row from position 0, and the attention mask
hides what lies beyond its length. Buffers grow in blocks, so that a decode step copies nothing but its own token.
For models whose every layer attends to the whole sequence; sliding windows and recurrent layers are not covered.
"""

from typing import Any

import torch
from transformers import Cache

from trainers.policies.prefixes import Layers

_BLOCK = 64  # positions by which buffers grow


class SlotCache(Cache):
    """A transformers cache for one new token a row at positions that differ between rows.

    Tensors are of shape (slots, key-value heads, capacity, head size), one pair a layer.
    """

    def __init__(self) -> None:
        """An empty cache; buffers are made when the first row is stored."""
        super().__init__(layers=[])
        self._keys: list[torch.Tensor] = []
        self._values: list[torch.Tensor] = []
        self._positions = torch.zeros(0, dtype=torch.long)
        self._span = 0

    def place(self, positions: torch.Tensor) -> torch.Tensor:
        """Say where the next token of each row goes.

        Args:
            positions: int64 of shape (rows,): tokens already stored for each of the first rows.

        Returns:
            The attention mask of that step: bool of shape (rows, 1, 1, longest), True where a row may look.
        """
        self._positions, self._span = positions, int(positions.max()) + 1
        self._reserve(len(positions), self._span)
        self._rows = torch.arange(len(positions), device=positions.device)
        span = torch.arange(self._span, device=positions.device)
        return (span <= positions[:, None])[:, None, None, :]

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Store one layer's new token of each row; called by the model's attention."""
        keys, values, rows = self._keys[layer_idx], self._values[layer_idx], len(self._rows)
        keys[self._rows, :, self._positions] = key_states[:, :, 0]
        values[self._rows, :, self._positions] = value_states[:, :, 0]
        return keys[:rows, :, : self._span], values[:rows, :, : self._span]

    def store(self, slot: int, layers: Layers) -> None:
        """Copy a prefilled prompt into `slot`."""
        length = layers[0][0].shape[1]
        if not self._keys:
            self._keys = [keys.new_zeros(1, keys.shape[0], _BLOCK, keys.shape[2]) for keys, _ in layers]
            self._values = [values.new_zeros(1, values.shape[0], _BLOCK, values.shape[2]) for _, values in layers]
        self._reserve(slot + 1, length)
        for layer, (keys, values) in enumerate(layers):
            self._keys[layer][slot, :, :length] = keys
            self._values[layer][slot, :, :length] = values

    def read(self, slot: int, length: int) -> Layers:
        """A copy of the first `length` positions of `slot`."""
        pairs = zip(self._keys, self._values, strict=True)
        return [(keys[slot, :, :length].clone(), values[slot, :, :length].clone()) for keys, values in pairs]

    def move(self, source: int, target: int, length: int) -> None:
        """Copy the first `length` positions of one slot over another."""
        for buffer in (*self._keys, *self._values):
            buffer[target, :, :length] = buffer[source, :, :length]

    def _reserve(self, slots: int, length: int) -> None:
        have_slots, _, have_length, _ = self._keys[0].shape
        if slots <= have_slots and length <= have_length:
            return
        slots = have_slots if slots <= have_slots else max(slots, 2 * have_slots)
        length = max(have_length, -(-length // _BLOCK) * _BLOCK)
        for buffers in (self._keys, self._values):
            for layer, old in enumerate(buffers):
                new = old.new_zeros(slots, old.shape[1], length, old.shape[3])
                new[:have_slots, :, :have_length] = old
                buffers[layer] = new

"""Observation spaces on the wire, so that a client needs none of a family's packages: text and boxes."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import msgspec
import numpy as np

from claw_envs.core.spaces import Unicode


class TextField(msgspec.Struct, tag="text"):
    """A `Unicode` space."""

    max_length: int


class BoxField(msgspec.Struct, tag="box"):
    """A `Box` with one lower and one upper bound for all its elements."""

    low: int | float
    high: int | float
    shape: tuple[int, ...]
    dtype: str


Field = TextField | BoxField


def field(space: gym.Space[Any]) -> Field:
    """`space` for the wire.

    Raises:
        NotImplementedError: for a kind of space that no family uses so far.
    """
    if isinstance(space, Unicode):
        return TextField(space.max_length)
    if isinstance(space, gym.spaces.Box):
        low, high = space.low.min(), space.high.max()
        if (space.low == low).all() and (space.high == high).all():
            return BoxField(low.item(), high.item(), space.shape, space.dtype.str)
    raise NotImplementedError(f"{space} cannot be sent between client and server")


def spaces_of(fields: Mapping[str, Field]) -> dict[str, gym.Space[Any]]:
    """Inverse of `field`, for each."""
    return {name: _space(each) for name, each in fields.items()}


def _space(field: Field) -> gym.Space[Any]:
    if isinstance(field, TextField):
        return Unicode(field.max_length)
    kind: Any = np.dtype(field.dtype).type
    return gym.spaces.Box(low=kind(field.low), high=kind(field.high), shape=field.shape, dtype=kind)

"""What two episodes show that should be equal: compared to the last bit, but for pictures of a screen.

Of those a few points at the edges of what is drawn may differ: a browser draws in pieces, which depend on how busy the
machine is.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from claw_envs.core.episode import Observation

POINTS = 0.0001
"""Share of a picture's points that may differ."""


def differences(one: Any, other: Any) -> list[str]:
    """Where two values differ, and how; empty where they don't."""
    return list(_differences(one, other, "it"))


def _differences(one: Any, other: Any, path: str) -> Iterator[str]:
    one, other = _whole(one), _whole(other)
    if type(one) is not type(other):
        yield f"{path}: {type(one).__name__}, {type(other).__name__}"
    elif isinstance(one, np.ndarray):
        yield from _of_arrays(one, other, path)
    elif isinstance(one, dict):
        if one.keys() != other.keys():
            yield f"{path}: keys {sorted(one)}, {sorted(other)}"
        for key in one.keys() & other.keys():
            yield from _differences(one[key], other[key], f"{path}[{key!r}]")
    elif isinstance(one, list | tuple):
        if len(one) != len(other):
            yield f"{path}: {len(one)}, {len(other)} items"
        for i, (mine, yours) in enumerate(zip(one, other, strict=False)):
            yield from _differences(mine, yours, f"{path}[{i}]")
    elif isinstance(one, Observation):
        yield from _differences(msgspec.structs.asdict(one), msgspec.structs.asdict(other), path)
    elif one != other:
        yield f"{path}: {one!r:.300}, {other!r:.300}"


def _whole(value: Any) -> Any:
    """A number of NumPy's, which an array of numbers is made of, as the array without dimensions that it stands for."""
    return np.asarray(value) if isinstance(value, np.generic) else value


def _of_arrays(one: np.ndarray, other: np.ndarray, path: str) -> Iterator[str]:
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        yield f"{path}: {one.dtype} {one.shape}, {other.dtype} {other.shape}"
    elif one.dtype == object:
        yield from _differences(one.tolist(), other.tolist(), path)
    elif one.ndim >= 3 and one.dtype == np.uint8:
        differ = (one != other).any(axis=-1)
        if differ.mean() > POINTS:
            places = [f"{axis.min()} to {axis.max()}" for axis in np.nonzero(differ)]
            yield f"{path}: {differ.mean():.4%} of the points, at {', '.join(places)}"
    elif not np.array_equal(one, other):
        yield f"{path}: {one!r:.300}, {other!r:.300}"

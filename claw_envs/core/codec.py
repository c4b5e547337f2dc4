"""Structs to bytes and back: msgpack for the store and the wire, JSON lines for people. Arrays keep dtype and shape.

Screenshots are compressed without loss: of a screen with text some fifty times, within ten milliseconds.
"""

import math
import zlib
from collections.abc import Sequence
from typing import Any, TypeVar, get_origin

import msgspec
import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
_LEVEL = 3  # twice as fast as the default, for half as much again of a screenshot's bytes
_WORTHWHILE = 4096  # bytes


def packed(array: NDArray[Any]) -> bytes | None:
    """The compressed bytes of an array that is worth it, as screenshots are; None for any other."""
    if array.dtype != np.uint8 or array.nbytes < _WORTHWHILE:
        return None
    return zlib.compress(array.tobytes(), _LEVEL)


def unpacked(data: bytes, shape: Sequence[int]) -> bytes:
    """Inverse of `packed`.

    Raises:
        ValueError: if there are not as many bytes as the array has.
    """
    size = math.prod(shape)
    unpacker = zlib.decompressobj()
    try:
        found = unpacker.decompress(data, size + 1)  # and no more, whatever the bytes claim
    except zlib.error as error:
        raise ValueError(f"a compressed array cannot be read: {error}") from None
    if len(found) != size:
        raise ValueError(f"a compressed array has other than the {size} bytes of its shape")
    return found


def _encode_array(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        small = packed(value)
        data = {"data": value.tobytes()} if small is None else {"zlib": small}
        return {"dtype": value.dtype.str, "shape": value.shape, **data}
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(f"cannot encode {type(value).__name__}")


def _decode_array(kind: type, value: Any) -> Any:
    if (get_origin(kind) or kind) is np.ndarray:
        name = "zlib" if "zlib" in value else "data"
        data = value[name]
        if isinstance(data, str):  # JSON carries bytes as base64
            data = msgspec.convert(data, bytes)
        if name == "zlib":
            data = unpacked(data, value["shape"])
        return np.frombuffer(data, dtype=value["dtype"]).reshape(value["shape"])
    raise NotImplementedError(f"cannot decode {kind}")


def to_bytes(value: Any) -> bytes:
    """Msgpack, exact for every struct of the data model."""
    return msgspec.msgpack.encode(value, enc_hook=_encode_array)


def from_bytes(data: bytes, kind: type[T]) -> T:
    """Inverse of `to_bytes`.

    Raises:
        msgspec.ValidationError: if the bytes do not describe a `kind`.
    """
    return msgspec.msgpack.decode(data, type=kind, dec_hook=_decode_array)


def to_json(value: Any) -> bytes:
    """One line of JSON."""
    return msgspec.json.encode(value, enc_hook=_encode_array)


def from_json(data: bytes | str, kind: type[T]) -> T:
    """Inverse of `to_json`.

    Raises:
        msgspec.ValidationError: if the text does not describe a `kind`.
    """
    return msgspec.json.decode(data, type=kind, dec_hook=_decode_array)

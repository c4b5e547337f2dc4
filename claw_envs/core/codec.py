"""Structs to bytes and back: msgpack for the store and the wire, JSON lines for people. Arrays keep dtype and shape."""

from typing import Any, TypeVar, get_origin

import msgspec
import numpy as np

T = TypeVar("T")


def _encode_array(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.str, "shape": value.shape, "data": value.tobytes()}
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(f"cannot encode {type(value).__name__}")


def _decode_array(kind: type, value: Any) -> Any:
    if (get_origin(kind) or kind) is np.ndarray:
        data = value["data"]
        if isinstance(data, str):  # JSON carries bytes as base64
            data = msgspec.convert(data, bytes)
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

"""Msgpack in which arrays survive wherever they stand, also within untyped values such as `info`.

An array travels as an extension with dtype, shape and bytes, which are compressed where that is worth it, as of a
screenshot; tuples arrive as lists, as msgpack has no tuple.
"""

from collections import UserDict
from typing import Any, get_origin

import msgspec
import numpy as np
from msgspec.msgpack import Ext

from claw_envs.core.codec import packed, unpacked

_ARRAY = 1  # the extension's type code


class _Array(msgspec.Struct, array_like=True):
    dtype: str
    shape: tuple[int, ...] | None
    """None for a NumPy scalar."""
    data: bytes
    packed: bool = False


def encode_hook(value: Any) -> Any:
    """Encode what msgpack does not know."""
    if isinstance(value, np.ndarray | np.generic):
        shape, small = (value.shape, packed(value)) if isinstance(value, np.ndarray) else (None, None)
        data = value.tobytes() if small is None else small
        return Ext(_ARRAY, msgspec.msgpack.encode(_Array(value.dtype.str, shape, data, small is not None)))
    if isinstance(value, UserDict):
        return value.data
    raise NotImplementedError(f"cannot send {type(value).__name__} between client and server")


def ext_hook(code: int, data: memoryview) -> Any:
    """Decode an array; it can be written to, like one that was made here.

    Raises:
        ValueError: if the bytes do not describe one.
    """
    if code != _ARRAY:
        raise ValueError(f"unknown msgpack extension {code}")
    array = msgspec.msgpack.decode(data, type=_Array)
    plain = unpacked(array.data, array.shape or ()) if array.packed else array.data
    flat = np.frombuffer(bytearray(plain), dtype=array.dtype)
    return flat[0] if array.shape is None else flat.reshape(array.shape)


def decode_hook(kind: type, value: Any) -> Any:
    """Accept an array where a struct asks for one."""
    if (get_origin(kind) or kind) is np.ndarray and isinstance(value, np.ndarray):
        return value
    raise NotImplementedError(f"cannot receive {kind}")

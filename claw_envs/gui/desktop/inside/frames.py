"""Frames between host and machine: four bytes of length, that much JSON, then as many raw bytes as its `size` says.

Both ends use this module. Not covered: what the headers mean.
"""

import json
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

LONGEST_HEADER = 16 << 20
LONGEST_BODY = 256 << 20
_LENGTH = struct.Struct(">I")

Frame = tuple[dict[str, Any], bytes]


class FrameError(ValueError):
    """What came is no frame."""


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """One frame.

    >>> pack({"do": "look"}, b"ab")[:4], pack({}, b"ab")[-2:]
    (b'\\x00\\x00\\x00\\x19', b'ab')
    """
    text = json.dumps(header | {"size": len(body)}).encode()
    return _LENGTH.pack(len(text)) + text + body


def read(stream: BinaryIO) -> Frame | None:
    """The next frame of a blocking stream; None at its end."""
    start = stream.read(_LENGTH.size)
    if len(start) < _LENGTH.size:
        return None
    header = _header(stream.read(_LENGTH.unpack(start)[0]))
    return header, stream.read(header["size"])


def _header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except ValueError as error:
        raise FrameError(f"a frame's header is no JSON: {error}") from error
    if not isinstance(header, dict) or not isinstance(header.get("size"), int):
        raise FrameError("a frame's header is no object with a size")
    if not 0 <= header["size"] <= LONGEST_BODY:
        raise FrameError(f"a frame of {header['size']} bytes")
    return header


class Frames:
    """Frames out of pieces that come as they like."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._head: dict[str, Any] | None = None

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that `data` completes.

        Raises:
            FrameError: if there is something else.
        """
        self._held += data
        while True:
            if self._head is None:
                if len(self._held) < _LENGTH.size:
                    return
                (length,) = _LENGTH.unpack_from(self._held)
                if length > LONGEST_HEADER:
                    raise FrameError(f"a frame's header of {length} bytes")
                end = _LENGTH.size + length
                if len(self._held) < end:
                    return
                self._head = _header(bytes(self._held[_LENGTH.size : end]))
                del self._held[:end]
            size = self._head["size"]
            if len(self._held) < size:
                return
            header, self._head = self._head, None
            body = bytes(self._held[:size])
            del self._held[:size]
            yield header, body

"""What a program on a terminal shows: a screen of characters, and the lines that scrolled off it.

Bytes are held, bounded, and interpreted (by pyte) only when somebody looks. Whatever a program prints, hostile
sequences too, that raises nothing, yields to the event loop every few milliseconds and takes a bounded time.

Not covered: colours and styles, a second screen (`TERM=linux` programs use none), resizing, the mouse.
"""

import asyncio
import codecs
import unicodedata
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyte
from pyte import modes
from wcwidth import wcwidth

from claw_envs.sandbox.process.output import Capture

_CHUNK = 512
"""Characters interpreted between two turns of the event loop; the dearest sequences take 0.1 ms each."""
_MOST_COMBINING = 8
_UNSUPPORTED_MODES = {modes.DECSCNM, modes.DECCOLM}
"""Reverse video, which text cannot show, and 132 columns, which the program's window does not have."""


class Picture(NamedTuple):
    """What there is to see."""

    text: str
    """Lines that scrolled off the screen since the last picture, unless they were in it, and the screen itself;
    trailing blanks are left out."""
    scrolled: int
    """How many lines of `text` (before it was cut) stand above the screen."""
    row: int
    column: int
    """Of the cursor, from 1."""
    missing: int
    """Bytes of output that were never interpreted, and of `text` that were cut."""


class Screen:
    """A screen that is fed by a program.

    Args:
        limit: bytes of output, and of text above the screen, that are kept between two pictures (head and tail).
    """

    def __init__(self, *, rows: int, columns: int, limit: int) -> None:
        self._screen = _Screen(columns, rows, limit)
        self._stream = _Stream(self._screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._capture = Capture(limit)
        self._fresh = False
        self._missing = 0

    @property
    def fresh(self) -> bool:
        """Whether something came that was not interpreted."""
        return self._fresh

    def feed(self, data: bytes) -> None:
        """Take what the program printed."""
        self._fresh = True
        self._capture.feed(data)

    async def interpret(self) -> None:
        """Bring the screen up to date with what came."""
        self._fresh = False
        head, tail, missing = self._capture.take_bytes()
        await self._draw(head)
        if missing:
            self._missing += missing
            self._decoder.reset()
            self._stream = _Stream(self._screen)
            await self._draw(f"\r\n[... {missing} bytes of output omitted ...]\r\n".encode())
        await self._draw(tail)

    def picture(self) -> Picture:
        """The screen as it was interpreted, which counts as seen from now on."""
        above, cut, scrolled = self._screen.take_scrolled()
        text = above + "\n".join(self._screen.take_lines())
        row, column = self._screen.position()
        missing, self._missing = self._missing + cut, 0
        return Picture(text, scrolled, row, column, missing)

    def take_replies(self) -> bytes:
        """What a terminal would answer to the program's questions so far (where is the cursor, what are you)."""
        replies, self._screen.replies = self._screen.replies, b""
        return replies

    async def _draw(self, data: bytes) -> None:
        text = self._decoder.decode(data)
        for start in range(0, len(text), _CHUNK):
            self._stream.feed(text[start : start + _CHUNK])
            await asyncio.sleep(0)


class _Stream(pyte.Stream):
    """Passes over sequences that pyte knows but not with these parameters: it raises whatever comes to hand."""

    def _send_to_parser(self, data: str) -> bool | None:
        try:
            return super()._send_to_parser(data)
        except Exception:  # the parser has begun anew
            return self._taking_plain_text


class _Screen(pyte.Screen):
    """pyte's screen, with the lines that scroll off it, and without what hostile output could make dear."""

    def __init__(self, columns: int, lines: int, limit: int) -> None:
        self._scrolled = Capture(limit)
        self._scrolled_lines = 0
        self._seen: deque[str] = deque()
        self.replies = b""
        super().__init__(columns, lines)

    def take_lines(self) -> list[str]:
        """The lines, which count as seen from now on."""
        lines = [self._line(y) for y in range(self.lines)]
        self._seen = deque(lines)
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def position(self) -> tuple[int, int]:
        """Row and column of the cursor, from 1; one that waits to wrap is in the last column."""
        return self.cursor.y + 1, min(self.cursor.x + 1, self.columns)

    def take_scrolled(self) -> tuple[str, int, int]:
        """Lines that scrolled off unseen (each with its newline), bytes of them that are missing, number of lines."""
        lines, self._scrolled_lines = self._scrolled_lines, 0
        return *self._scrolled.take(), lines

    def _line(self, y: int) -> str:
        cells = self.buffer[y]
        return "".join(cells[x].data for x in range(min(max(cells, default=-1) + 1, self.columns))).rstrip()

    def index(self) -> None:
        if self.margins is None and self.cursor.y == self.lines - 1:
            line = self._line(0)
            if self._seen and self._seen[0] == line:
                self._seen.popleft()
            else:
                self._seen.clear()
                self._scrolled_lines += 1
                self._scrolled.feed(f"{line}\n".encode())
        super().index()

    def draw(self, data: str) -> None:
        super().draw(data if data.isascii() and data.isprintable() else "".join(self._drawable(data)))

    def _drawable(self, data: str) -> Iterator[str]:
        """What pyte can draw: it drops the rest of a text after a character without width, and its time for combining
        characters on one cell grows with their square."""
        x = self.cursor.x
        combining = 0 if x and len(self.buffer[self.cursor.y][x - 1].data) < 2 else _MOST_COMBINING
        for character in data:
            if wcwidth(character) > 0:
                combining = 0
                yield character
            elif unicodedata.combining(character) and combining < _MOST_COMBINING:
                combining += 1
                yield character

    def save_cursor(self) -> None:
        super().save_cursor()
        del self.savepoints[:-1]

    def set_mode(self, *wanted: int, **kwargs: Any) -> None:
        super().set_mode(*_supported(wanted, **kwargs), **kwargs)

    def reset_mode(self, *wanted: int, **kwargs: Any) -> None:
        super().reset_mode(*_supported(wanted, **kwargs), **kwargs)

    def alignment_display(self) -> None:
        """Nothing: a test picture for adjusting tubes."""

    def write_process_input(self, data: str) -> None:
        self.replies = (self.replies + data.encode())[-256:]


def _supported(wanted: tuple[int, ...], *, private: bool = False) -> list[int]:
    return [mode for mode in wanted if (mode << 5 if private else mode) not in _UNSUPPORTED_MODES]

"""What is on the screen, whatever bytes came."""

import asyncio
import random

import pytest

from claw_envs.terminal.screen import Picture, Screen

LIMIT = 64_000


def shown(*pieces: str | bytes, limit: int = LIMIT) -> list[Picture]:
    """A picture after each of `pieces`, all printed on one screen."""

    async def main() -> list[Picture]:
        screen = Screen(rows=24, columns=80, limit=limit)
        pictures = []
        for piece in pieces:
            screen.feed(piece if isinstance(piece, bytes) else piece.encode())
            await screen.interpret()
            pictures.append(screen.picture())
        return pictures

    return asyncio.run(main())


SCREENS = {
    "lines": ("one\r\ntwo\r\n", "one\ntwo", (3, 1)),
    "carriage return": ("50%\r99%", "99%", (1, 4)),
    "backspace": ("ab\b \b", "a", (1, 2)),
    "trailing blanks": ("a   \r\n   \r\n\r\n", "a", (4, 1)),
    "moves": ("\x1b[3;5Hx\x1b[Ay", "\n     y\n    x", (2, 7)),
    "erased": ("gone\x1b[2J\x1b[Hhere", "here", (1, 5)),
    "colours": ("\x1b[31mred\x1b[0m\x1b[?25l", "red", (1, 4)),
    "a long line wraps": ("x" * 81, "x" * 80 + "\nx", (2, 2)),
    "a full line does not wrap yet": ("x" * 80, "x" * 80, (1, 80)),
    "wide and combined": ("\u5b57e\u0301x\u0301", "\u5b57\u00e9x\u0301", (1, 5)),
    "characters without width": ("❤\ufe0f a\u200db", "❤ ab", (1, 5)),
    "control characters": ("a\x01\x02b", "ab", (1, 3)),
    "no text": (b"\xff\xfea", "\ufffd\ufffda", (1, 4)),
    "a title": ("\x1b]0;title\x07x", "x", (1, 2)),
    "unknown parameters": ("\x1b[?5Aa\x1b[9Kb\x1b[1;2;3;4Ac\x1b[\u00b2md\x1b[?6ne", "abcde", (1, 6)),
    "lines of an origin that is not set": ("\x1b[?6h\x1b[3dx\x1b[6n", "\n\nx", (3, 2)),
    "too many digits": (f"\x1b[{'9' * 5000}mx", "x", None),
    "132 columns, reverse video, test picture": ("\x1b[?3h\x1b[?5h\x1b#8x", "x", (1, 2)),
}  # fmt: skip


@pytest.mark.parametrize(("printed", "text", "cursor"), SCREENS.values(), ids=SCREENS)
def test_what_is_on_the_screen(printed: str | bytes, text: str, cursor: tuple[int, int] | None) -> None:
    [picture] = shown(printed)
    assert picture.text == text
    assert cursor is None or (picture.row, picture.column) == cursor
    assert picture.missing == 0


def numbered(start: int, end: int) -> str:
    return "".join(f"line {i}\r\n" for i in range(start, end))


def test_lines_that_scrolled_by_are_shown_once() -> None:
    first, second, third = shown(numbered(0, 10), numbered(10, 40), numbered(40, 41))
    assert first.scrolled == 0
    assert second.text == numbered(10, 40).replace("\r", "").rstrip()
    assert second.scrolled == 40 + 1 - 24 - 10
    assert third.scrolled == 0
    assert third.text.splitlines() == [f"line {i}" for i in range(18, 41)]


def test_a_line_that_changed_since_is_shown_again() -> None:
    _, picture = shown("$ ", "ls\r\n" + numbered(0, 30))
    assert picture.text.startswith("$ ls\nline 0\n")


def test_a_part_of_the_screen_that_scrolls_is_no_history() -> None:
    [picture] = shown("top\r\n\x1b[2;10r\x1b[10;1H" + numbered(0, 50))
    assert picture.scrolled == 0
    assert picture.text.startswith("top\n")


def test_a_character_may_come_in_pieces() -> None:
    first, second = shown(b"\xc3", b"\xa9\x1b[")
    assert (first.text, second.text) == ("", "é")


def test_a_flood_keeps_head_and_tail_and_is_counted() -> None:
    [picture] = shown("first\r\n" + "x" * 9_000_000 + "\r\nlast", limit=4000)
    assert picture.text.startswith("first\n")
    assert picture.text.endswith("last")
    assert "bytes of output omitted" in picture.text
    assert picture.missing > 8_990_000
    assert len(picture.text) < 8000


def test_a_flood_of_lines_is_cut_above_the_screen() -> None:
    fill = "x" * 1920
    [picture] = shown(*["".join(f"\x1b[H{fill}\x1b[24;1H" + "\n" * 24 for _ in range(4))], limit=8000)
    assert picture.scrolled > 90
    assert len(picture.text) < 8000 + 1920 + 200


def test_questions_to_the_terminal_have_answers() -> None:
    async def main() -> bytes:
        screen = Screen(rows=24, columns=80, limit=LIMIT)
        screen.feed(b"ab\x1b[6n\x1b[c\x1b[5n")
        await screen.interpret()
        assert screen.take_replies() == b"\x1b[1;3R\x1b[?6c\x1b[0n"
        screen.feed(b"\x1b[6n" * 100_000)
        await screen.interpret()
        return screen.take_replies()

    assert len(asyncio.run(main())) <= 256


HOSTILE = {
    "combining": "a" + "\u0301" * 30_000,
    "combining at the margin": ("\u0301" * 8 + "\r") * 3000,
    "combining in pieces": ("a" + "\u0301\u0302" * 4 + "\0") * 3000,
    "saved cursors": "\x1b7" * 32_000,
    "erasing": "E" * 1920 + "\x1b[2J" * 16_000,
    "test pictures": "\x1b#8" * 20_000,
    "reverse video": "E" * 1920 + "\x1b[?5h\x1b[?5l" * 6000,
    "parameters": "\x1b[" + ";" * 60_000 + "m",
    "an endless title": "\x1b]0;" + "x" * 60_000,
    "lines": "\n" * 64_000,
}


@pytest.mark.parametrize("printed", HOSTILE.values(), ids=HOSTILE)
def test_hostile_output_takes_bounded_work_and_memory(printed: str) -> None:
    turns = 0

    async def main() -> Picture:
        nonlocal turns
        screen = Screen(rows=24, columns=80, limit=LIMIT)
        screen.feed(printed.encode())
        drawing = asyncio.ensure_future(screen.interpret())
        while not drawing.done():
            await asyncio.sleep(0)
            turns += 1
        assert len(screen._screen.savepoints) <= 1
        assert max((len(cell.data) for row in screen._screen.buffer.values() for cell in row.values()), default=0) < 20
        return screen.picture()

    picture = asyncio.run(main())
    assert len(picture.text) <= LIMIT + 9 * 1920
    assert turns >= min(len(printed.encode()), LIMIT) // 3 // 512  # others had their turn


def test_no_bytes_raise() -> None:
    rng = random.Random(1)
    parts = (
        b"\x1b \x1b[ ? ; 5 9999 \x9b \x1b] \x07 \xc3 \xcc\x81 \x1b7 \x1b8 \x1bM $ #8 %G (0 6n ?6h \x1b[2;3r d".split(
            b" "
        )
    )
    parts += [bytes([i]) for i in range(256)]
    pieces = [b"".join(rng.choice(parts) for _ in range(2000)) for _ in range(60)]
    for picture in shown(*pieces):
        assert picture.text.encode().count(b"\n") < LIMIT
        assert 1 <= picture.row <= 24
        assert 1 <= picture.column <= 80

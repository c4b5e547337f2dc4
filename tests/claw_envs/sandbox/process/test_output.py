from claw_envs.sandbox.process.output import Capture


def test_short_output_is_kept_whole() -> None:
    capture = Capture(100)
    capture.feed(b"one\n")
    capture.feed(b"two\n")
    assert capture.take() == ("one\ntwo\n", 0)
    assert capture.take() == ("", 0)


def test_head_and_tail_are_kept_and_the_rest_is_counted() -> None:
    capture = Capture(10)
    for byte in b"abcdefghijklmnopqrstuvwxyz" * 3:
        capture.feed(bytes([byte]))
    text, missing = capture.take()
    assert text.startswith("abcde")
    assert text.endswith("vwxyz")
    assert missing == 68
    assert "68 bytes" in text


def test_exactly_the_limit_is_kept_whole() -> None:
    capture = Capture(9)
    capture.feed(b"123456789")
    assert capture.take() == ("123456789", 0)


def test_a_flood_is_not_held_in_memory() -> None:
    capture = Capture(1000)
    for _ in range(1000):
        capture.feed(b"x" * 65536)
    assert len(capture._head) + len(capture._tail) <= 3000
    assert capture.take()[1] == 65_536_000 - 1000


def test_any_bytes_give_valid_text() -> None:
    capture = Capture(7)
    capture.feed("äöü".encode() * 9 + b"\xff\x00")
    text, _ = capture.take()
    text.encode("utf-8")

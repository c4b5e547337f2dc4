import pytest

from claw_envs.sandbox.docker.hush import Hush

COMPLAINT = b"bash: [27: 1 (255)] tcsetattr: Inappropriate ioctl for device\n"


@pytest.mark.parametrize("size", [1, 2, 5, 30, 1000])
@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (b"one\n" + COMPLAINT + b"two\n", b"one\ntwo\n"),
        (b"no newline" + COMPLAINT * 2, b"no newline"),
        (b"bash: line 1: nope: command not found\n", b"bash: line 1: nope: command not found\n"),
        (b"bash: [27: 1 (255)] tcgetattr: other\n", b"bash: [27: 1 (255)] tcgetattr: other\n"),
        (b"ends in bash: [27", b"ends in bash: [27"),
        (b"bash: [" + b"x" * 500, b"bash: [" + b"x" * 500),
        (b"bashbash: [b", b"bashbash: [b"),
    ],
)
def test_bashs_own_complaint_goes_and_all_else_stays(size: int, said: bytes, heard: bytes) -> None:
    passed = bytearray()
    hush = Hush(passed.extend)
    for start in range(0, len(said), size):
        hush.feed(said[start : start + size])
    hush.settle()
    assert passed == heard


def test_little_is_held_back() -> None:
    passed = bytearray()
    hush = Hush(passed.extend)
    hush.feed(b"x" * 1000 + b"bas")
    assert passed == b"x" * 1000
    hush.feed(b"h: [" + b"y" * 1000)
    assert len(passed) == 2007

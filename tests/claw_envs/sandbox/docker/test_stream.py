import asyncio
import os
import re
import subprocess

import pytest

from claw_envs.sandbox.docker.stream import Command, Stream

MARK = "0123456789abcdef"
HEAD = b"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n"


def message(text: str) -> bytes:
    return f"\0{MARK} {text}\0".encode()


def frame(kind: int, data: bytes) -> bytes:
    return bytes([kind, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


class Heard:
    """A stream that was given `data` in pieces of `size`, and what it made of it."""

    def __init__(self, data: bytes, size: int, *, tty: bool = False) -> None:
        self.stdout, self.stderr, self.messages = bytearray(), bytearray(), bytearray()

        async def main() -> None:
            stream = Stream(
                "id",
                MARK,
                tty=tty,
                stdout=self.stdout.extend,
                stderr=self.stderr.extend,
                message=self.messages.extend,
            )
            for start in range(0, len(data), size):
                stream.data_received(data[start : start + size])
            self.pid = stream.pid.result() if stream.pid.done() else None
            self.code = stream.ended.result() if stream.ended.done() else "runs"
            stream.connection_lost(None)
            self.at_end = await stream.ended

        asyncio.run(main())


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 50, 10_000])
def test_output_messages_and_errors_are_told_apart_however_they_are_cut(size: int) -> None:
    data = HEAD
    data += frame(1, message("begin 17")) + frame(1, b"one\0two") + frame(2, b"error") + frame(1, message("tok 0 /x"))
    data += frame(1, b"three" + message("tok 3 /y z") + b"four") + frame(1, b"") + frame(1, message("end 5"))
    heard = Heard(data, size)
    assert (heard.pid, heard.code, heard.at_end) == (17, 5, 5)
    assert heard.stdout == b"one\0twothreefour"
    assert heard.stderr == b"error"
    assert heard.messages == b"tok 0 /x\0tok 3 /y z\0"


def test_a_message_without_a_number_is_forged() -> None:
    data = HEAD + frame(1, message("begin x") + message("begin 17") + message("end -") + message(f"end {'9' * 99}"))
    heard = Heard(data + frame(1, b"on" + message("end 3")), 10_000)
    assert (heard.pid, heard.code, heard.stdout) == (17, 3, b"on")


@pytest.mark.parametrize("size", [1, 13, 10_000])
def test_what_only_begins_like_a_message_is_output(size: int) -> None:
    near = b"\0" + MARK[:-1].encode() + b"\0\0" + MARK.encode() + b"x " + b"\0" * 40
    heard = Heard(HEAD + frame(1, near), size)
    assert heard.stdout == near
    assert (heard.code, heard.at_end) == ("runs", None)


def test_a_message_without_an_end_is_output_at_last() -> None:
    endless = message("x")[:-1] + b"y" * 20_000
    assert Heard(HEAD + frame(1, endless), 4096).stdout == endless


def test_a_terminals_stream_has_no_frames() -> None:
    heard = Heard(HEAD + message("begin 3") + b"\x01\x00\x00\x00prompt> " + message("end 0"), 5, tty=True)
    assert (heard.pid, heard.code) == (3, 0)
    assert heard.stdout == b"\x01\x00\x00\x00prompt> "


def test_what_an_engine_says_instead_of_a_stream_is_output() -> None:
    answer = b'HTTP/1.1 409 Conflict\r\nContent-Length: 23\r\n\r\n{"message":"no longer"}'
    heard = Heard(answer, 10_000)
    assert heard.stdout == b'{"message":"no longer"}'
    assert (heard.pid, heard.code) == (None, None)


def _run(command: Command, stdin: bytes = b"") -> tuple[bytes, bytes]:
    done = subprocess.run(command.wrapped(MARK), input=stdin, capture_output=True, timeout=60, check=False)
    return re.sub(rb"begin \d+", b"begin N", done.stdout), done.stderr


def test_the_shell_around_a_command_tells_how_it_begins_and_ends() -> None:
    script = ["sh", "-c", 'echo "$0"; pwd; cat; echo err >&2; exit 7', "a  'b\""]
    command = Command(script, user="", env={}, cwd="/usr", stdin=b"in")
    out, err = _run(command, b"input that goes on")
    assert out == message("begin N") + b"a  'b\"\n/usr\ninerr\n" + message("end 7")
    assert err == b""
    out, err = _run(command._replace(joined=False, stdin=None), b"all")
    assert out == message("begin N") + b"a  'b\"\n/usr\nall" + message("end 7")
    assert err == b"err\n"


def test_a_missing_directory_is_an_error_or_replaced() -> None:
    command = Command(["pwd"], user="", env={}, cwd="/no/such", stdin=b"")
    out, _ = _run(command)
    assert b"/no/such" in out
    assert out.endswith(message(f"end {2 if os.path.realpath('/bin/sh').endswith('dash') else 1}"))
    assert _run(command._replace(strict=False))[0] == message("begin N") + b"/\n" + message("end 0")

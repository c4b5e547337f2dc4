"""Carrying out a user's code: values and exceptions as text, and time limits that hold whatever it does."""

import asyncio
import contextvars
import dataclasses
import functools
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.toolcall.tools.base import ToolResult
from claw_envs.toolcall.tools.calling import MAX_OVERDUE, Caller
from claw_envs.toolcall.tools.text import MAX_TEXT

PATIENT = 60.0
SHORT = 0.05


def call(function: Callable[..., Any], timeout: float = PATIENT) -> ToolResult:
    return asyncio.run(Caller(function).call([], {}, timeout=timeout))


@dataclasses.dataclass
class Weather:
    city: str
    highs: list[float]


class Opaque:
    def __repr__(self) -> str:
        return "<opaque>"


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n", "as it is\n"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        (float("nan"), "NaN"),
        (2**100, str(2**100)),
        ({"città": [1, None]}, '{"città": [1, null]}'),
        ({1: 2}, '{"1": 2}'),
        (Weather("Rome", [31.0]), '{"city": "Rome", "highs": [31.0]}'),
        (np.float32(0.5), "0.5"),
        (np.arange(3), "[0, 1, 2]"),
        (b"\xff", "b'\\xff'"),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        (Opaque(), "<opaque>"),
        ([Opaque()], "[<opaque>]"),
        (CYCLE, "[[...]]"),
        ("half \ud800", "half ?"),
    ],
)
def test_values_are_told_as_text(value: Any, text: str) -> None:
    assert call(lambda: value) == ToolResult(text)


def test_a_long_text_keeps_its_head_and_tail() -> None:
    text = call(lambda: "a" * MAX_TEXT + "b" * MAX_TEXT).text
    assert len(text) < MAX_TEXT + 100
    assert text.startswith("aaa")
    assert text.endswith("bbb")
    assert f"[... {MAX_TEXT} characters omitted ...]" in text


class MyError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("not a city"), "ValueError: not a city"),
        (KeyError("Rome"), "KeyError: 'Rome'"),
        (MyError(), "MyError"),
        (UserError("give me a key"), "UserError: give me a key"),
        (
            FileNotFoundError(2, "No such file or directory", "/home/someone/.cache/x"),
            "FileNotFoundError: No such file or directory",
        ),
        (SystemExit(3), "SystemExit: 3"),
        (StopIteration(), "StopIteration"),
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_exceptions_are_told_without_where_they_came_from(error: BaseException, text: str, asynchronous: bool) -> None:
    def fail() -> NoReturn:
        raise error

    async def fail_later() -> NoReturn:
        raise error

    if asynchronous and isinstance(error, StopIteration):
        text = "RuntimeError: coroutine raised StopIteration"  # so Python has it
    assert call(fail_later if asynchronous else fail) == ToolResult(text, error=True)


def test_a_value_that_cannot_be_told_is_an_error() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise ValueError("no words")

    assert call(Broken) == ToolResult("ValueError: no words", error=True)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_function_can_say_that_it_is_infrastructure(asynchronous: bool) -> None:
    def lost() -> NoReturn:
        raise InfrastructureError("the database is gone")

    async def lost_later() -> NoReturn:
        lost()

    with pytest.raises(InfrastructureError, match="the database is gone"):
        call(lost_later if asynchronous else lost)


def test_asynchronous_functions_in_every_guise() -> None:
    async def answer(value: int = 42) -> int:
        await asyncio.sleep(0)
        return value

    class Answering:
        async def __call__(self) -> int:
            return await answer()

    @functools.wraps(answer)
    def hidden() -> Any:
        return answer()

    assert [call(each).text for each in (answer, functools.partial(answer, 1), Answering(), hidden)] == [
        "42",
        "1",
        "42",
        "42",
    ]


def test_context_reaches_the_thread() -> None:
    user = contextvars.ContextVar("user", default="nobody")

    async def run() -> ToolResult:
        user.set("Ada")
        return await Caller(user.get).call([], {}, timeout=PATIENT)

    assert asyncio.run(run()).text == "Ada"


# --- time limits ----------------------------------------------------------------------------------------------------


def test_a_hanging_function_is_left_behind_and_delays_nobody() -> None:
    leave = threading.Event()

    async def run() -> list[ToolResult]:
        hanging = Caller(leave.wait).call([], {}, timeout=SHORT)
        return await asyncio.gather(hanging, Caller(lambda: "other").call([], {}, timeout=PATIENT))

    stopped, other = asyncio.run(run())
    leave.set()
    assert stopped == ToolResult("It took too long and was given up.", error=True, head="stopped after 0.05 s")
    assert other == ToolResult("other")


def test_a_coroutine_that_takes_too_long_is_cancelled() -> None:
    cancelled = threading.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    assert call(hang, SHORT).head == "stopped after 0.05 s"
    assert cancelled.is_set()


def test_a_coroutine_that_will_not_be_cancelled_is_left_behind() -> None:
    async def run() -> ToolResult:
        leave = asyncio.Event()

        async def stubborn() -> str:
            while not leave.is_set():
                try:
                    await leave.wait()
                except asyncio.CancelledError:
                    continue
            return "too late"

        result = await Caller(stubborn).call([], {}, timeout=SHORT)
        leave.set()
        return result

    assert asyncio.run(run()).head == "stopped after 0.05 s"


def test_a_function_s_own_time_limit_is_its_own_error() -> None:
    async def impatient() -> None:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    assert call(impatient) == ToolResult("TimeoutError", error=True)


def test_a_caller_that_is_cancelled_cancels_the_coroutine() -> None:
    async def run() -> bool:
        begun, cancelled = asyncio.Event(), asyncio.Event()

        async def hang() -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        calling = asyncio.create_task(Caller(hang).call([], {}, timeout=PATIENT))
        await begun.wait()
        calling.cancel()
        async with asyncio.timeout(PATIENT):
            await cancelled.wait()
        return calling.cancelled()

    assert asyncio.run(run())


def test_threads_left_behind_are_bounded_and_the_tool_works_again_once_they_came_back() -> None:
    leave = threading.Event()

    async def run() -> list[ToolResult]:
        caller = Caller(leave.wait)
        await asyncio.gather(*(caller.call([], {}, timeout=SHORT) for _ in range(MAX_OVERDUE)))
        refused = await caller.call([], {}, timeout=PATIENT)
        leave.set()
        await asyncio.wait(set(caller._overdue), timeout=PATIENT)
        return [refused, await caller.call([], {}, timeout=PATIENT)]

    refused, after = asyncio.run(run())
    assert (refused.error, refused.head) == (True, None)
    assert "busy" in refused.text
    assert after == ToolResult("true")


def test_many_calls_at_once_are_fine_while_they_are_in_time() -> None:
    count = 2 * MAX_OVERDUE
    barrier = threading.Barrier(count)

    async def run() -> list[ToolResult]:
        caller = Caller(lambda: barrier.wait(PATIENT) >= 0)
        return await asyncio.gather(*(caller.call([], {}, timeout=PATIENT) for _ in range(count)))

    assert asyncio.run(run()) == [ToolResult("true")] * count


HANGS = """
import asyncio, threading
from claw_envs.toolcall.tools.calling import Caller
print(asyncio.run(Caller(threading.Event().wait).call([], {}, timeout=0.05)).head)
"""


def test_a_hanging_function_does_not_hold_up_the_end_of_the_program() -> None:
    done = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=PATIENT, check=True)
    assert (done.stdout, done.stderr) == ("stopped after 0.05 s\n", "")

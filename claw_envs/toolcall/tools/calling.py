"""Calling a user's code for the agent: bounded in time, its faults told and not raised.

A plain function runs in a thread of its own, which a time limit cannot end: it is left behind, and neither the event
loop, nor other episodes, nor the interpreter's exit wait for it. A coroutine is cancelled; one that computes without
awaiting anything holds up the loop, and is better written as a plain function.
"""

import asyncio
import concurrent.futures
import contextvars
import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any

from claw_envs.core.errors import InfrastructureError
from claw_envs.toolcall.tools.base import ToolResult
from claw_envs.toolcall.tools.text import bounded, text_of

MAX_OVERDUE = 32
"""Calls of one tool that may still run after their time; while there are more, further ones are refused."""
_GRACE = 1.0
"""Seconds that a cancelled coroutine has to end."""


class Caller:
    """Calls one function of the user's. Use on one event loop."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._asynchronous = _is_async(function)
        self._overdue: set[asyncio.Future[ToolResult]] = set()

    async def call(self, args: Sequence[Any], kwargs: dict[str, Any], *, timeout: float) -> ToolResult:
        """The function's value as text, or its exception's type and message.

        Args:
            args: by position.
            kwargs: by name.
            timeout: seconds after which the call is given up.

        Raises:
            InfrastructureError: if the function raises it.
        """
        if len(self._overdue) >= MAX_OVERDUE:
            return ToolResult("The tool is busy: too many earlier calls have not come back yet.", error=True)
        call: asyncio.Future[ToolResult]
        if self._asynchronous:
            call = asyncio.ensure_future(_awaited(self._function, args, kwargs))
        else:
            call = _in_thread(self._function, args, kwargs)
        try:
            await asyncio.wait({call}, timeout=timeout)
        finally:
            if not call.done():
                self._give_up(call)
        if call in self._overdue:
            if self._asynchronous:
                await asyncio.wait({call}, timeout=_GRACE)
            return ToolResult("It took too long and was given up.", error=True, head=f"stopped after {timeout:.3g} s")
        if call.cancelled():
            return ToolResult("The call was cancelled.", error=True)
        return call.result()

    def _give_up(self, call: asyncio.Future[ToolResult]) -> None:
        self._overdue.add(call)
        call.add_done_callback(self._came_back)
        if self._asynchronous:
            call.cancel()

    def _came_back(self, call: asyncio.Future[ToolResult]) -> None:
        self._overdue.discard(call)
        if not call.cancelled():
            call.exception()  # nobody else asks for it any more


def _is_async(function: Callable[..., Any]) -> bool:
    """Whether calling `function` gives a coroutine: also a partial, and an object whose `__call__` is asynchronous."""
    if isinstance(function, functools.partial):
        return _is_async(function.func)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


async def _awaited(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> ToolResult:
    try:
        return ToolResult(text_of(await function(*args, **kwargs)))
    except InfrastructureError:
        raise
    except (Exception, SystemExit) as error:  # whatever a user's code raises is told to the agent
        return failure(error)


def _in_thread(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> asyncio.Future[ToolResult]:
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    future: concurrent.futures.Future[ToolResult] = concurrent.futures.Future()
    future.set_running_or_notify_cancel()  # from now on nobody can cancel it

    def called() -> Any:
        value = function(*args, **kwargs)
        if inspect.iscoroutine(value):  # a decorator hid that the function is asynchronous
            return asyncio.run_coroutine_threadsafe(value, loop).result()
        return value

    def work() -> None:
        try:
            future.set_result(ToolResult(text_of(context.run(called))))
        except InfrastructureError as error:
            future.set_exception(error)
        except BaseException as error:  # the same; nothing above this frame could catch it
            future.set_result(failure(error))

    thread = threading.Thread(target=work, name=f"tool-{getattr(function, '__name__', 'call')}", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        raise InfrastructureError(f"no thread could be started: {error}") from error
    return asyncio.wrap_future(future)


def failure(error: BaseException) -> ToolResult:
    """An exception as the agent reads it: type and message; no traceback, and no host path that an `OSError` names.

    >>> failure(KeyError("Rome")).text
    "KeyError: 'Rome'"
    """
    message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return ToolResult(bounded(f"{type(error).__name__}: {message}".removesuffix(": "), 2000), error=True)

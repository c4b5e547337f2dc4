"""The one verdict on an answer, for environments and evaluations alike."""

import asyncio
import functools
import inspect
import math
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from fractions import Fraction
from typing import Any, NamedTuple

from claw_envs.core.errors import UserError
from claw_envs.toolcall.answers import plain
from claw_envs.toolcall.answers.extract import final_answer, final_json, last_box
from claw_envs.toolcall.answers.pool import Pool
from claw_envs.toolcall.answers.quick import quick
from claw_envs.toolcall.answers.verdict import Verdict

MAX_LENGTH = 10_000
"""Characters of an answer; a longer one is not correct."""

_PLAIN: dict[str, Callable[..., Verdict]] = {
    "exact": plain.exact,
    "numeric": plain.numeric,
    "set": plain.unordered,
    "json": plain.same_json,
}
KINDS = ("math", *_PLAIN)


class Check(NamedTuple):
    """What became of an answer."""

    correct: bool
    answer: str | None
    """As it was found in the response; None where none was."""
    reason: str
    """Why, in a few words."""


async def check(
    response: str, answer: Any, *, kind: str = "math", strict: bool = False, pool: Pool | None = None, **options: Any
) -> Check:
    """Whether the final answer of `response` is `answer`. From any event loop.

    Args:
        answer: the expected one: text or a number; of kind set also a collection, of kind json any JSON value.
        kind: one of `KINDS`.
        strict: only a boxed answer counts.
        pool: of the processes that kind math needs at times; one for all by default.
        options: of the kind; see `claw_envs.toolcall.answers.plain`.

    Raises:
        UserError: if the kind, an option or the expected answer is none.
        InfrastructureError: if no process can be run here.
    """
    verdict = _begin(response, answer, kind, strict, pool, options)
    if isinstance(verdict, Check):
        return verdict
    found, future = verdict
    said = await asyncio.wrap_future(future)
    return Check(said.correct, found, said.reason)


def check_sync(
    response: str, answer: Any, *, kind: str = "math", strict: bool = False, pool: Pool | None = None, **options: Any
) -> Check:
    """As `check`, from any thread, which waits."""
    verdict = _begin(response, answer, kind, strict, pool, options)
    if isinstance(verdict, Check):
        return verdict
    found, future = verdict
    try:
        said = future.result()
    except KeyboardInterrupt:
        future.cancel()
        raise
    return Check(said.correct, found, said.reason)


def check_expected(answer: Any, kind: str, options: Mapping[str, Any]) -> None:
    """Say before an episode what `check` would say after it: that nothing could be compared with `answer` like this.

    Raises:
        UserError: if the kind, an option or the expected answer is none.
    """
    own = {option: value for option, value in options.items() if option != "strict"}
    _known(kind, own)
    if kind == "math":
        _expected(answer)
    else:
        _PLAIN[kind](answer, "", **own)


def _begin(
    response: str, gold: Any, kind: str, strict: bool, pool: Pool | None, options: dict[str, Any]
) -> "Check | tuple[str, Future[Verdict]]":
    """The verdict, or the answer and the verdict to come."""
    _known(kind, options)
    found = _found(response, kind, strict)
    if found is None:
        return Check(False, None, "no boxed answer" if strict else "no answer")
    if len(found) > MAX_LENGTH:
        return Check(False, found[:100] + "…", f"the answer is longer than {MAX_LENGTH} characters")
    if kind != "math":
        verdict = _PLAIN[kind](gold, found, **options)
        return Check(verdict.correct, found, verdict.reason)
    expected = _expected(gold)
    known = quick(expected, found)
    if known:
        return Check(known.correct, found, known.reason)
    return found, (pool or shared_pool()).submit(expected, found)


def _found(response: str, kind: str, strict: bool) -> str | None:
    if kind == "json":
        return final_json(response, strict=strict)
    return final_answer(response, strict=strict, reading="text" if kind == "exact" else "math")


def _known(kind: str, options: dict[str, Any]) -> None:
    if kind not in KINDS:
        raise UserError(f"unknown kind of answer {kind!r}: use one of {', '.join(KINDS)}")
    parameters = list(inspect.signature(_PLAIN[kind]).parameters.values())[2:] if kind != "math" else []
    known = {parameter.name: isinstance(parameter.default, bool) for parameter in parameters}
    for option, value in options.items():
        if option not in known:
            raise UserError(f"unknown option {option!r} of answers of kind {kind}: use {', '.join(known) or 'none'}")
        number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
        if not (isinstance(value, bool) if known[option] else number):
            meant = "true or false" if known[option] else "a number, 0 or more"
            raise UserError(f"option {option!r} of answers of kind {kind} must be {meant}, got {value!r}")


def _expected(gold: Any) -> str:
    if isinstance(gold, bool) or not isinstance(gold, str | int | float | Fraction):
        raise UserError(f"an answer of kind math is text or a number, not {type(gold).__name__}")
    text = str(gold)
    expected = last_box(text)
    if expected is None:
        expected = text
    if not expected.strip() or len(expected) > MAX_LENGTH or text in ("nan", "inf", "-inf"):
        raise UserError(
            f"the expected answer {expected[:50]!r} is empty, infinite or of more than {MAX_LENGTH} characters"
        )
    return expected


@functools.cache
def shared_pool() -> Pool:
    """The pool that is used where none is given."""
    return Pool()

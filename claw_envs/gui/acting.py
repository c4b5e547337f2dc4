"""The calls of one message, carried out on a screen: in order, up to the first that fails or ends the episode."""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from claw_envs.core.results import Result, not_run
from claw_envs.gui.actions import Parsed
from claw_envs.gui.acts import Answer, Done, Ending, Fail, ScreenAct
from claw_envs.gui.screen import Screen
from claw_envs.wire.calls import Malformed


class Carried(NamedTuple):
    """What came of a message."""

    results: list[Result]
    """One a call."""
    acts: list[ScreenAct]
    """Those that were carried out."""
    ending: Ending | None = None
    """What the agent ended the episode by."""
    by_itself: bool = False
    """The task ended the episode."""

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.ending is not None or self.by_itself

    @property
    def touched(self) -> bool:
        """Whether anything was done on the screen."""
        return sum(result.ran for result in self.results) > (self.ending is not None)


async def carry_out(
    calls: Sequence[Parsed], screen: Screen, ended: Callable[[], Awaitable[bool]], *, limit: float
) -> Carried:
    """Carry out the calls of a message.

    Args:
        ended: whether the task has ended by itself.
        limit: seconds for all of them together.

    Raises:
        InfrastructureError: if the screen is lost.
    """
    deadline = time.monotonic() + limit
    results: list[Result] = []
    acts: list[ScreenAct] = []
    for call in calls:
        match call.act:
            case Malformed(problem=problem):
                return Carried(_rest(results, calls, problem, "an earlier call could not be read"), acts)
            case Done() | Fail() | Answer():
                results.append(Result("ok", ""))
                return Carried(_rest(results, calls), acts, ending=call.act)
            case act:
                left = deadline - time.monotonic()
                if left <= 0:
                    why = f"this message's {limit:g} s were used up; send it again"
                    return Carried(_rest(results, calls, why, why), acts)
                error = await screen.do(act, timeout=left)
        head = "ok" if time.monotonic() < deadline else f"stopped after {limit:g} s"
        results.append(Result(f"error: {' '.join(error.split())}" if error else head, ""))
        if not error:
            acts.append(act)
        if await ended():
            return Carried(_rest(results, calls), acts, by_itself=True)
        if error:
            return Carried(_rest(results, calls, after="an earlier action failed"), acts)
    return Carried(results, acts)


def _rest(
    results: Sequence[Result], calls: Sequence[Parsed], why: str | None = None, after: str = "the episode has ended"
) -> list[Result]:
    """`results` with one for each call that is not carried out.

    Args:
        why: the next one is not; None where it was.
        after: why those after it are not.
    """
    whys = ([] if why is None else [why]) + [after] * len(calls)
    return [*results, *map(not_run, whys[: len(calls) - len(results)])]

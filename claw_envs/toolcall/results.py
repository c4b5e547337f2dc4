"""What the calls of one message gave, as the agent is shown it: `[ok]`, `[error]`, `[stopped after 5 s]`, `[not run]`,
then the text; where there are several calls, `[1/2 python | ok]`.
"""

import re
from collections.abc import Sequence

from claw_envs.core import results as shared
from claw_envs.core.episode import Observation
from claw_envs.core.results import Asked, Result, not_run
from claw_envs.wire.calls import Call, Malformed, Parsed

__all__ = ["Result", "not_run", "observation"]

_SHOWABLE = re.compile(r"[\w.:/-]{1,128}", re.ASCII)


def observation(parsed: Parsed, results: Sequence[Result], *, native: bool) -> Observation:
    """The next state after a message with calls.

    Its `exit_code` is that of the last call that ran: 0 done, 1 failed.

    Args:
        parsed: the message.
        results: one a call, in order.
        native: whether the agent expects an answer to each call, however it wrote them.
    """
    return shared.shown(
        [Asked(_name(call), call.id) for call in parsed.calls],
        results,
        role="tool" if any(result.ran for result in results) else "environment",
        answers=native or parsed.form == "openai",
    )


def _name(call: Call | Malformed) -> str:
    """The tool's name for a header line, which a name that the agent made up must not break."""
    return call.name if isinstance(call, Call) and _SHOWABLE.fullmatch(call.name) else "malformed"

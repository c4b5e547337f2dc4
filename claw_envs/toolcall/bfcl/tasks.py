"""Tasks from the Berkeley function calling leaderboard, version 4, with its own ids.

The right answers stay in the package; a task holds what the agent is to see of it. Not covered: the agentic categories
(`memory`, `web_search`), which need other services, and `format_sensitivity`.

A history with several speakers, as eight live tasks have, becomes one text. Source of the data and the checkers: the
package `bfcl-eval` (Apache-2.0).
"""

from collections.abc import Sequence
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.core.task import Limits, Task, VerifierSpec
from claw_envs.toolcall.bfcl.client import ask_once
from claw_envs.toolcall.bfcl.schemas import tools

STEPS_PER_TURN = 20
"""Messages with calls in one turn; the next one ends the episode, as in the package's own runner."""

_SIMPLE = ("simple_python", "multiple", "parallel", "parallel_multiple", "irrelevance")
_OTHER_LANGUAGES = ("simple_java", "simple_javascript")
_LIVE = tuple(
    f"live_{name}" for name in ("simple", "multiple", "parallel", "parallel_multiple", "irrelevance", "relevance")
)
_MULTI_TURN = tuple(f"multi_turn_{name}" for name in ("base", "miss_func", "miss_param", "long_context"))
SETS: dict[str, tuple[str, ...]] = {
    "all": (*_SIMPLE, *_OTHER_LANGUAGES, *_LIVE, *_MULTI_TURN),
    "single_turn": (*_SIMPLE, *_OTHER_LANGUAGES, *_LIVE),
    "non_live": (*_SIMPLE, *_OTHER_LANGUAGES),
    "python": (*_SIMPLE, *_LIVE),
    "non_python": _OTHER_LANGUAGES,
    "live": _LIVE,
    "multi_turn": _MULTI_TURN,
}
"""Names for several categories."""
CATEGORIES = SETS["all"]


def load(category: str) -> list[Task]:
    """The tasks of a category, or of a set of them.

    Raises:
        UserError: if there is no such category, or `bfcl-eval` cannot be had.
    """
    return [task for name in categories(category) for task in _load(name)]


def categories(name: str) -> tuple[str, ...]:
    """The categories of a set, or the one of that name.

    Raises:
        UserError: if there is none.
    """
    if name in CATEGORIES:
        return (name,)
    if name not in SETS:
        raise UserError(f"no BFCL category {name!r}; there are: {', '.join([*CATEGORIES, *SETS])}")
    return SETS[name]


def _load(category: str) -> list[Task]:
    return [_task(category, row) for row in ask_once("tasks", category)]


def _task(category: str, row: dict[str, Any]) -> Task:
    first, *later = row["question"]
    system = "\n\n".join(message["content"] for message in first if message["role"] == "system")
    history = [message for message in first if message["role"] != "system"]
    options = {
        "category": category,
        "system": system,
        "tools": tools(row["function"]),
        "turns": [_said(turn) for turn in later],
        "later_tools": {turn: tools(functions) for turn, functions in row.get("missed_function", {}).items()},
    }
    several = "multi_turn" in category
    return Task(
        id=row["id"],
        family="toolcall",
        instruction=_said(history),
        verifier=VerifierSpec(kind="bfcl", timeout=120.0, options=options),
        limits=Limits(max_steps=len(row["question"]) * (STEPS_PER_TURN + 2) if several else 1),
        metadata={"category": category, "turns": len(row["question"])},
    )


def _said(messages: Sequence[dict[str, str]]) -> str:
    """What the user says; where others have spoken before, who said what."""
    if len(messages) == 1:
        return messages[0]["content"]
    return "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in messages)

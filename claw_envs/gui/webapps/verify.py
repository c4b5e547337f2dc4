"""The verdict on a task in a web application: a function of its first and last state and of how the episode ended.

Success needs every condition to hold, nothing else to have changed, and the right answer where one is asked for. A task
that cannot be done is solved by saying so, with nothing else changed; of any other, saying so is failure.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathTypeError

from claw_envs.gui import acts
from claw_envs.gui.scenario import name_of
from claw_envs.gui.webapps.goal import Answer, Condition, Goal, State
from claw_envs.toolcall.answers.check import check_sync

Path = tuple[str, ...]


def verify(goal: Goal, before: State, after: State, ending: acts.Ending | None) -> dict[str, Any]:
    """The report: `success`, and what it follows from.

    Returns:
        `success`, `score` (1.0 or 0.0), `ending` (`done`, `fail`, `answer` or `limit`), `conditions` (each with
        `path`, `test`, `wanted`, `found`, `ok`), `unwanted` (paths of what changed and must not), and where an answer
        is asked for `answer` (`given`, `ok`, `reason`).
    """
    conditions = [_tried(condition, after) for condition in goal.expect]
    unwanted = [".".join(path) for path in differences(before, after) if not _allowed(path, goal.changed, before)]
    report: dict[str, Any] = {"ending": name_of(ending), "conditions": conditions, "unwanted": unwanted}
    right = not unwanted and all(tried["ok"] for tried in conditions)
    if goal.answer is not None:
        report["answer"] = _answered(goal.answer, ending)
        right = right and report["answer"]["ok"]
    success = right and isinstance(ending, acts.Fail) != goal.feasible
    return {"success": success, "score": float(success)} | report


def differences(before: Any, after: Any, at: Path = ()) -> Iterator[Path]:
    """Paths of the topmost values that differ; objects are compared key by key, lists as a whole."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            if key in before and key in after:
                yield from differences(before[key], after[key], (*at, key))
            else:
                yield (*at, key)
    elif before != after:
        yield at


def _allowed(path: Path, patterns: tuple[str, ...], before: State) -> bool:
    return any(_covers(pattern.split("."), path, before) for pattern in patterns)


def _covers(pattern: list[str], path: Path, before: Any) -> bool:
    if len(pattern) > len(path):
        return False
    for wanted, key in zip(pattern, path, strict=False):
        there = isinstance(before, dict) and key in before
        if wanted != key and wanted != "*" and not (wanted == "+" and not there):
            return False
        before = before[key] if there else None
    return True


def _tried(condition: Condition, state: State) -> dict[str, Any]:
    test = condition.test
    wanted = getattr(condition, test)
    try:
        found = jmespath.search(condition.path, state)
    except JMESPathTypeError:  # a function of what is not there, as sort(null)
        found, ok = None, False
    else:
        ok = _near(found, wanted, condition.within) if test == "near" else _TRY[test](found, wanted)
    if test == "count" and isinstance(found, list | dict):
        found = len(found)  # that is what was asked for, and the things themselves may be many
    return {"path": condition.path, "test": test, "wanted": wanted, "found": found, "ok": ok}


def _near(found: Any, wanted: float, within: float) -> bool:
    return isinstance(found, int | float) and not isinstance(found, bool) and abs(found - wanted) <= within


def _contains(found: Any, wanted: Any) -> bool:
    if isinstance(found, str):
        return isinstance(wanted, str) and wanted.casefold() in found.casefold()
    return isinstance(found, list | dict) and wanted in found


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


_TRY: dict[str, Callable[[Any, Any], bool]] = {
    "equals": lambda found, wanted: found == wanted,
    "text": lambda found, wanted: isinstance(found, str) and _plain(found) == _plain(wanted),
    "matches": lambda found, wanted: isinstance(found, str) and re.search(wanted, found, re.IGNORECASE) is not None,
    "contains": _contains,
    "count": lambda found, wanted: isinstance(found, list | dict) and len(found) == wanted,
    "absent": lambda found, wanted: (found in (None, [], {}, "")) == wanted,
}


def _answered(answer: Answer, ending: acts.Ending | None) -> dict[str, Any]:
    if not isinstance(ending, acts.Answer):
        return {"given": None, "ok": False, "reason": "no answer"}
    checked = check_sync(ending.text, answer.value, kind=answer.kind, **answer.options)
    return {"given": ending.text, "ok": checked.correct, "reason": checked.reason}

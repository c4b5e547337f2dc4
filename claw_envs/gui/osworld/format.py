"""OSWorld's task JSON: from a file to a `Task`, and from a `Task` to what its set-up and its evaluators are.

Fields that it reads: `id`, `instruction`, `config`, `evaluator`, `snapshot`, `related_apps`, `source`; and of our own,
all optional: `max_steps`, and `solution` (lines for a scripted expert). Everything else is left out.
"""

import json
from pathlib import Path
from typing import Any, Literal

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.task import Limits, Task, VerifierSpec

KIND = "osworld"
"""Of these tasks' verifiers."""
INFEASIBLE = "infeasible"
_LIMITS = Limits(max_steps=30, step_timeout=30.0, episode_timeout=3600.0)
_VERIFY_TIMEOUT = 900.0
"""Seconds for the steps that come before the evaluators, which may start programs, and the evaluators."""
_SEVERAL_APPS = "multi_apps"
_Config = dict[str, Any]


class ConfigStep(msgspec.Struct, frozen=True):
    """One step of set-up: a name from the table in `setup.steps`, and its arguments."""

    type: str
    parameters: _Config = {}


class Check(msgspec.Struct, frozen=True):
    """One metric, over what its getters find."""

    metric: str
    result: _Config | None = None
    """`type` names the getter, the rest is its arguments."""
    expected: _Config | None = None
    options: _Config = {}


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How a task is set up and scored; a task's `verifier.options`."""

    config: list[ConfigStep] = []
    postconfig: list[ConfigStep] = []
    """Steps before the evaluation."""
    checks: list[Check] = []
    conj: Literal["and", "or"] = "and"
    feasible: bool = True
    snapshot: str = ""


class _Evaluator(msgspec.Struct, frozen=True):
    func: str | list[str]
    result: _Config | list[_Config | None] | None = None
    expected: _Config | list[_Config | None] | None = None
    options: _Config | list[_Config | None] | None = None
    conj: Literal["and", "or"] = "and"
    postconfig: list[ConfigStep] = []


class _Row(msgspec.Struct, frozen=True):
    id: str
    instruction: str
    evaluator: _Evaluator
    config: list[ConfigStep] = []
    snapshot: str = ""
    related_apps: list[str] = []
    source: Any = ""
    max_steps: int = _LIMITS.max_steps
    solution: list[str] = []


def plan_of(task: Task) -> Plan:
    """How `task` is set up and scored."""
    return msgspec.convert(task.verifier.options, Plan)


def read(path: Path) -> Task:
    """The task of one JSON file.

    Raises:
        UserError: naming what is wrong with it.
        OSError: if it cannot be read.
    """
    try:
        row = msgspec.convert(json.loads(path.read_text()), _Row)
    except ValueError as error:  # msgspec's are too
        raise UserError(f"{path}: not a task of OSWorld's: {error}") from None
    plan = Plan(
        config=row.config,
        postconfig=row.evaluator.postconfig,
        checks=_checks(row.evaluator, path),
        conj=row.evaluator.conj,
        feasible=row.evaluator.func not in (INFEASIBLE, [INFEASIBLE]),
        snapshot=row.snapshot,
    )
    return Task(
        id=row.id,
        family="gui",
        instruction=row.instruction,
        verifier=VerifierSpec(kind=KIND, timeout=_VERIFY_TIMEOUT, options=msgspec.to_builtins(plan)),
        limits=msgspec.structs.replace(_LIMITS, max_steps=row.max_steps),
        path=str(path.parent.absolute()),
        metadata={
            "domain": _domain(path, row.related_apps),
            "related_apps": row.related_apps,
            "feasible": plan.feasible,
            "source": row.source,
            **({"solution": row.solution} if row.solution else {}),
        },
    )


def _domain(path: Path, apps: list[str]) -> str:
    """The folder in OSWorld's own layout, else the application."""
    if path.parent.parent.name.startswith("examples"):
        return path.parent.name
    return apps[0] if len(apps) == 1 else _SEVERAL_APPS


def _checks(evaluator: _Evaluator, path: Path) -> list[Check]:
    if evaluator.func in (INFEASIBLE, [INFEASIBLE]):
        return []
    names = [evaluator.func] if isinstance(evaluator.func, str) else evaluator.func
    columns = [_column(given, evaluator.func) for given in (evaluator.result, evaluator.expected, evaluator.options)]
    if not names or any(len(column) != len(names) for column in columns):
        raise UserError(f"{path}: result, expected and options must be as many as func, which are {len(names)}")
    results, expecteds, options = columns
    if untyped := [given for given in (*results, *expecteds) if given and not isinstance(given.get("type"), str)]:
        raise UserError(f"{path}: a getter names its type, {untyped[0]} does not")
    rows = zip(names, results, expecteds, options, strict=True)
    return [Check(name, result or None, expected or None, option or {}) for name, result, expected, option in rows]


def _column(given: _Config | list[_Config | None] | None, func: str | list[str]) -> list[_Config | None]:
    """What belongs to each metric: OSWorld writes a list where `func` is one, and leaves out or empties what is not."""
    if isinstance(given, list):
        return given or [None] * (1 if isinstance(func, str) else len(func))
    return [given] if isinstance(func, str) else [given] * len(func)

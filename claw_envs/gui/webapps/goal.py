"""What a web application's task asks for: the first state, what must hold at the end, what may have changed.

Expressions are JMESPath (https://jmespath.org/specification.html) over the application's state.
"""

import re
from typing import Any, Literal

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task

State = dict[str, Any]
"""A JSON object; its keys are the application's parts, such as `basket` and `orders`."""
_TESTS = ("equals", "text", "matches", "contains", "count", "near", "absent")


class Condition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing that must hold of the state: what `path` finds there passes exactly one test."""

    path: str
    """A JMESPath expression."""
    equals: Any = msgspec.UNSET
    """The same JSON value."""
    text: str | msgspec.UnsetType = msgspec.UNSET
    """The same text but for upper case and white space."""
    matches: str | msgspec.UnsetType = msgspec.UNSET
    """Text in which this regular expression occurs, upper case aside."""
    contains: Any = msgspec.UNSET
    """A list or object with this element or key, or text with this in it, upper case aside."""
    count: int | msgspec.UnsetType = msgspec.UNSET
    """A list or object of so many elements."""
    near: float | msgspec.UnsetType = msgspec.UNSET
    """A number at most `within` away."""
    within: float = 0.005
    absent: bool | msgspec.UnsetType = msgspec.UNSET
    """Nothing there: null, or an empty list, text or object; false asks for something."""

    @property
    def test(self) -> str:
        """Which of the tests it is."""
        return next(name for name in _TESTS if getattr(self, name) is not msgspec.UNSET)

    def check(self) -> None:
        """See that it can be tried at all.

        Raises:
            UserError: if it has no test or several, or an expression that cannot be read.
        """
        if sum(getattr(self, name) is not msgspec.UNSET for name in _TESTS) != 1:
            raise UserError(f"a condition on {self.path!r} needs one of {', '.join(_TESTS)}")
        _check_path(self.path)
        if isinstance(self.matches, str):
            try:
                re.compile(self.matches)
            except re.error as error:
                raise UserError(f"{self.matches!r} is no regular expression: {error}") from None


def _check_path(path: str) -> None:
    try:
        import jmespath
    except ImportError:  # whoever only lists tasks does without; the environment asks for it
        return
    try:
        jmespath.compile(path)
    except jmespath.exceptions.ParseError as error:
        raise UserError(f"{path!r} is no JMESPath expression: {str(error).splitlines()[0]}") from None


class Answer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The answer to a task's question."""

    value: str | float | list[str]
    kind: Literal["exact", "numeric", "set"] = "exact"
    """How it is compared: see `claw_envs.toolcall.answers.check`."""
    options: dict[str, Any] = {}
    """Of the kind."""


class Goal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of a verifier of kind `webapp`."""

    start: str = "/"
    """Path of the page that the episode begins on."""
    state: State = {}
    """Laid over the application's first state; objects are merged, everything else is replaced."""
    expect: tuple[Condition, ...] = ()
    changed: tuple[str, ...] = ()
    """What may differ at the end, as dotted paths into the state: `basket`, `messages.m03.folder`. What lies below is
    included; `*` is any key, `+` one that was not there at the beginning. Everything else must be as it was."""
    answer: Answer | None = None
    feasible: bool = True
    """Whether it can be done; if not, only saying so and changing nothing else is right."""


def goal_of(task: Task) -> Goal:
    """The task's goal.

    Raises:
        UserError: if its verifier's options are none.
    """
    try:
        goal = msgspec.convert(task.verifier.options, Goal)
    except msgspec.ValidationError as error:
        raise UserError(f"task {task.id}: {error}") from None
    return goal

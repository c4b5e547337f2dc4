"""Real time over a change of the clocks."""

from .forms import SUBMIT, Step, bash, native, tagged

SHOW = """
cat > /tmp/night.py <<'EOF'
from datetime import timedelta
from daybook import BERLIN, Calendar, Event, Repeat, Span, show

shift = Event("night shift", BERLIN.at(2024, 3, 30, 22), timedelta(hours=8), Repeat(days=1, count=2))
for span in shift.occurrences(BERLIN.span((2024, 3, 30), (2024, 4, 2))):
    print(show(span))
print(BERLIN.span((2024, 10, 27), (2024, 10, 28)).duration / timedelta(hours=1), "hours")
try:
    print(show(Span(BERLIN.at(2024, 10, 27, 2, 30), BERLIN.at(2024, 10, 27, 2, 15, fold=1))))
except ValueError as error:
    print("ValueError:", error)
EOF
PYTHONPATH=. python3 /tmp/night.py
"""
SPAN = '''"""Spans of time."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Iterable, Optional


class Span:
    """From `start` to just before `end`; both have a time zone.

    Everything is compared and counted in UTC: in a zone that changes its clocks, Python would go by the clocks.
    """

    __slots__ = ("_first", "_last", "end", "start")

    def __init__(self, start: datetime, end: datetime) -> None:
        if start.tzinfo is None or end.tzinfo is None:
            raise ValueError("a span begins and ends in a time zone")
        self._first = start.astimezone(timezone.utc)
        self._last = end.astimezone(timezone.utc)
        if self._last <= self._first:
            raise ValueError(f"a span ends after it begins: {start.isoformat()}, {end.isoformat()}")
        self.start = start
        self.end = end

    @property
    def first(self) -> datetime:
        """The start, in UTC."""
        return self._first

    @property
    def duration(self) -> timedelta:
        """How long it is."""
        return self._last - self._first

    def __contains__(self, moment: datetime) -> bool:
        return self._first <= moment.astimezone(timezone.utc) < self._last

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and (self._first, self._last) == (other._first, other._last)

    def __hash__(self) -> int:
        return hash((self._first, self._last))

    def __repr__(self) -> str:
        return f"Span({self.start.isoformat()}, {self.end.isoformat()})"

    def overlaps(self, other: Span) -> bool:
        """Whether a moment is in both."""
        return self._first < other._last and other._first < self._last

    def touches(self, other: Span) -> bool:
        """Whether they overlap, or one begins where the other ends."""
        return self._first <= other._last and other._first <= self._last

    def intersection(self, other: Span) -> Optional[Span]:
        """What is in both."""
        if not self.overlaps(other):
            return None
        start = self.start if self._first >= other._first else other.start
        end = self.end if self._last <= other._last else other.end
        return Span(start, end)

    def minus(self, other: Span) -> list[Span]:
        """What is in this one only: none, one or two spans."""
        if not self.overlaps(other):
            return [self]
        left = [Span(self.start, other.start)] if self._first < other._first else []
        right = [Span(other.end, self.end)] if other._last < self._last else []
        return left + right

    def and_on(self, other: Span) -> Span:
        """From the start of this one to the end of the one that ends last."""
        return Span(self.start, self.end if self._last >= other._last else other.end)


def merge(spans: Iterable[Span]) -> list[Span]:
    """The same moments in as few spans as possible, in order."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: span.first):
        if merged and merged[-1].touches(span):
            merged[-1] = merged[-1].and_on(span)
        else:
            merged.append(span)
    return merged
'''
OLD = """            start = self.start + timedelta(days=days)
            span = Span(start, start + self.duration)
            if span.start >= within.end:
"""
NEW = """            start = (self.start + timedelta(days=days)).replace(fold=self.start.fold)
            end = (start.astimezone(timezone.utc) + self.duration).astimezone(start.tzinfo)
            span = Span(start, end)
            if span.first >= within.end.astimezone(timezone.utc):
"""

STEPS: list[Step] = [
    (bash("First the lie of the land.", "git status --short; ls daybook tests; cat README.md"), "span.py"),
    (bash("Now the pay slips.", SHOW), "2024-03-30 22:00 - 2024-03-31 06:00 (8 h)"),
    (tagged("", "bash", command="cat daybook/span.py daybook/event.py"), "return self.end - self.start"),
    (native("", "bash", command="cat daybook/calendar.py daybook/zone.py; grep -n fold -r daybook tests"), "agenda"),
    (
        tagged(
            "Python subtracts and compares the clocks' time within one zone. A span must do that in UTC, and still be "
            "written in its own zone.",
            "write_file",
            path="/testbed/daybook/span.py",
            content=SPAN,
        ),
        "",
    ),
    (
        native(
            "An event begins by the clocks, and ends after its duration of real time.",
            "edit_file",
            path="daybook/event.py",
            old=OLD,
            new=NEW,
        ),
        "",
    ),
    (
        bash(
            "The import, and the order of the agenda.",
            "sed -i 's/^from datetime import datetime, timedelta$/&, timezone/' daybook/event.py\n"
            "sed -i 's/(entry\\[0\\].start, entry\\[1\\])/(entry[0].first, entry[1])/' daybook/calendar.py\n"
            "git diff daybook/event.py daybook/calendar.py\n"
            "PYTHONPATH=. python3 /tmp/night.py; python3 -m pytest -q | tail -n 3",
        ),
        "2024-03-30 22:00 - 2024-03-31 07:00 (8 h)\n2024-03-31 22:00 - 2024-04-01 06:00 (8 h)\n25.0 hours\n",
    ),
    (SUBMIT, ""),
]

"""Handles that lose their event after its first run."""

from .forms import SUBMIT, Step, bash, native, tagged

STEPS: list[Step] = [
    (
        bash(
            "First an overview, and the parts that the issue is about.",
            "ls chime tests; cat chime/handle.py chime/entry.py; sed -n '/def run_until/,$p' chime/scheduler.py",
        ),
        "self._queue.push(Entry(entry.rule.after(entry.when), entry.handler, entry.rule))",
    ),
    (
        bash(
            "Each run of a recurring event is an entry of its own, and the handle knows the first. To see it happen:",
            """
cat > /tmp/poll.py <<'EOF'
from datetime import datetime, timedelta
from chime import Scheduler

start = datetime(2022, 9, 5, 8, 0)
scheduler = Scheduler(start)
runs = []

def poll():
    runs.append(scheduler.clock.now)
    if len(runs) == 3:
        print("stopping:", handle.cancel())

handle = scheduler.every(timedelta(minutes=10), poll)
scheduler.run_until(start + timedelta(hours=2))
print(len(runs))
EOF
PYTHONPATH=. python3 /tmp/poll.py
""",
        ),
        "stopping: False\n12",
    ),
    (
        native(
            "One entry should live as long as its event. It must know its next run, and whether there is one.",
            "write_file",
            path="chime/entry.py",
            content='''"""What waits in the queue of a scheduler: an event, under the time of its next run."""


class Entry:
    """An event: a handler, when it is to run next, and the rule for the runs after that.

    Attributes:
        when: a datetime; None where no run is to come.
        handler: is called without arguments.
        rule: has `after(when)`, the time of the run after the one at `when`; None where there is only one.
    """

    def __init__(self, when, handler, rule=None):
        self.when = when
        self.handler = handler
        self.rule = rule

    def step(self):
        """Goes on to the run after this one."""
        self.when = None if self.rule is None else self.rule.after(self.when)

    def end(self):
        """No run is to come; False where that was so already."""
        ended = self.when is None
        self.when = None
        return not ended
''',
        ),
        "",
    ),
    (
        bash(
            "The handle asks the entry, and the scheduler puts the same entry back.",
            """
python3 - <<'EOF'
from pathlib import Path

def edit(path, *pairs):
    text = Path(path).read_text()
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    Path(path).write_text(text)

edit(
    "chime/handle.py",
    ("return self._entry in self._queue", "return self._entry.when is not None"),
    ("return self._entry.when if self.active else None", "return self._entry.when"),
    ("return self._queue.remove(self._entry)", "self._queue.remove(self._entry)\\n        return self._entry.end()"),
)
edit(
    "chime/scheduler.py",
    (
        '''        entry.handler()
        if entry.rule is not None:
            self._queue.push(Entry(entry.rule.after(entry.when), entry.handler, entry.rule))
''',
        '''        entry.step()
        try:
            entry.handler()
        except BaseException:
            entry.end()
            raise
        if entry.when is not None:
            self._queue.push(entry)
''',
    ),
)
EOF
git diff --stat && PYTHONPATH=. python3 /tmp/poll.py
""",
        ),
        "stopping: True\n3",
    ),
    (
        native(
            "A test for the event that stops itself.",
            "edit_file",
            path="tests/test_recurring.py",
            old="def test_a_recurring_event_stays_pending(",
            new="""def test_a_recurring_event_stops_itself(scheduler, record, run):
    handle = scheduler.every(minutes(10), lambda: record() or handle.cancel())
    run(60)
    assert record.minutes == [10]
    assert scheduler.pending == 0


def test_a_recurring_event_stays_pending(""",
        ),
        "def test_a_recurring_event_stops_itself",
    ),
    (tagged("All tests.", "bash", command="python3 -m pytest -q 2>&1 | tail -n 3; git status --short"), "43 passed"),
    (SUBMIT, ""),
]

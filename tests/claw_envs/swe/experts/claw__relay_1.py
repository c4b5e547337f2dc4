"""Attempts that are forgotten with the process."""

from .forms import SUBMIT, Step, bash, native, tagged

STEPS: list[Step] = [
    (
        bash("I read what there is.", "cat README.md; wc -l relay/*.py; cat relay/attempts.py relay/job.py"),
        "AttemptTable",
    ),
    (native("And the queue.", "view_file", path="/testbed/relay/queue.py"), "self._attempts.forget(job.id)"),
    (
        bash(
            "The counts live in memory, and a retry is not in the journal. The issue's script, somewhat shorter:",
            """
cat > /tmp/restarts.py <<'EOF'
import os, sys
from relay import Backoff, Journal, Queue, Worker

def fail(payload):
    raise RuntimeError("down")

if os.path.exists("/tmp/jobs.journal"):
    os.remove("/tmp/jobs.journal")
clock = [1000.0]
process = lambda: Queue(Journal("/tmp/jobs.journal"), policy=Backoff(3, 10.0), now=lambda: clock[0])
process().add("mail", {})
for _ in range(40):
    queue = process()
    if Worker(queue, {"mail": fail}).run_once():
        print("ran at", clock[0])
    if "compact" in sys.argv:
        queue.compact()
    clock[0] += 1
print("dead:", list(process().dead))
EOF
PYTHONPATH=. python3 /tmp/restarts.py | tail -n 2
""",
        ),
        "ran at 1039.0\ndead: []",
    ),
    (
        bash(
            "The attempts belong to the job and go where it goes. Old journals do not have them.",
            r"""
python3 - <<'EOF'
from pathlib import Path

def edit(path, *pairs):
    text = Path(path).read_text()
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    Path(path).write_text(text)

edit(
    "relay/job.py",
    ("queue's clock.\n", "queue's clock.\n        attempts: how many have failed.\n"),
    ("    due: float\n", "    due: float\n    attempts: int = 0\n"),
    ("import dataclass\n", "import asdict, dataclass\n"),
    ('return {"id": self.id, "kind": self.kind, "payload": self.payload, "due": self.due}', "return asdict(self)"),
    ('return cls(record["id"], record["kind"], record["payload"], record["due"])', "return cls(**record)"),
)
edit(
    "relay/queue.py",
    ("from relay.attempts import AttemptTable\n", ""),
    ("        self._attempts = AttemptTable()\n", ""),
    ("del self._running[job.id]\n        self._attempts.forget(job.id)\n", "del self._running[job.id]\n"),
    ("        self._attempts.forget(job.id)\n", ""),
    ("        delay = self._policy.delay(self._attempts.add(job.id))\n", '''\
        job.attempts += 1
        delay = self._policy.delay(job.attempts)
'''),
    ("return self._attempts.count(job.id)", "return job.attempts"),
    ("self._running.pop(job.id)\n\n    def bury", '''\
self._running.pop(job.id)
        self._note("retry", job=job.to_record())

    def bury'''),
    ("        job.due = self._now()\n", "        job.due, job.attempts = self._now(), 0\n"),
    ('if event["event"] == "add":', 'if event["event"] in ("add", "retry"):'),
)
EOF
git rm -q relay/attempts.py
git status --short
""",
        ),
        "D  relay/attempts.py",
    ),
    (
        bash(
            "Every process should now go on where the last one ended, also after compacting.",
            "for how in compact plainly; do PYTHONPATH=. python3 /tmp/restarts.py $how; done",
        ),
        "ran at 1000.0\nran at 1010.0\nran at 1030.0\ndead: [1]\n" * 2,
    ),
    (
        native(
            "A test of it.",
            "edit_file",
            path="tests/test_journal.py",
            old="def test_a_line_that_was_not_finished_is_dropped(",
            new="""def test_a_job_that_failed_waits_on(open_queue):
    queue = open_queue()
    queue.add("a", {})
    queue.fail(queue.take(), "down")
    assert open_queue().next_due() == 1010.0


def test_a_line_that_was_not_finished_is_dropped(""",
        ),
        "test_a_job_that_failed_waits_on",
    ),
    (tagged("All tests.", "bash", command="python3 -m pytest -q 2>&1 | tail -n 3"), "28 passed"),
    (SUBMIT, ""),
]

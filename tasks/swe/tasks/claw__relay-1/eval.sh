#!/bin/bash
set -uxo pipefail
exec 2>&1
git -C /testbed checkout 9e2d960e48e9b0f2bf2d47a3b31684dd8a4a73b7 tests/
cd /testbed
git checkout 9e2d960e48e9b0f2bf2d47a3b31684dd8a4a73b7 tests/test_journal.py
rm -rf -- tests/test_restarts.py
git apply -v - <<'EOF_PATCH'
diff --git a/tests/test_journal.py b/tests/test_journal.py
index 1f67185..14a88b3 100644
--- a/tests/test_journal.py
+++ b/tests/test_journal.py
@@ -96,3 +96,14 @@ def test_a_journal_of_relay_0_3_is_read(open_queue, tmp_path):
     queue = open_queue()
     assert list(queue.dead) == [1]
     assert queue.take().payload == {"n": 2}
+
+
+def test_the_time_of_the_next_attempt_is_kept(open_queue, time):
+    queue = open_queue()
+    queue.add("a", {})
+    queue.fail(queue.take(), "down")
+    queue = open_queue()
+    assert queue.take() is None
+    assert queue.next_due() == 1010.0
+    time.now += 10
+    assert queue.take().id == 1
diff --git a/tests/test_restarts.py b/tests/test_restarts.py
new file mode 100644
index 0000000..fe676ee
--- /dev/null
+++ b/tests/test_restarts.py
@@ -0,0 +1,86 @@
+import pytest
+
+from relay import Backoff, Journal, Queue, Worker
+
+
+def fail(payload):
+    raise RuntimeError("down")
+
+
+@pytest.fixture
+def open_queue(tmp_path, time):
+    """Opens the queue in the same journal, as a new process would."""
+    return lambda: Queue(Journal(tmp_path / "jobs.journal"), policy=Backoff(attempts=3, first=10.0), now=time)
+
+
+def test_attempts_are_kept(open_queue, time):
+    queue = open_queue()
+    queue.add("a", {})
+    queue.fail(queue.take(), "down")
+    time.now += 10
+    queue = open_queue()
+    assert queue.attempts(queue.take()) == 1
+
+
+def test_a_job_that_always_fails_is_dead_though_every_run_is_a_new_process(open_queue, time):
+    open_queue().add("a", {})
+    runs = []
+    for _ in range(100):
+        queue = open_queue()
+        if Worker(queue, {"a": fail}).run_once():
+            runs.append(time.now)
+        time.now += 1
+    assert runs == [1000.0, 1010.0, 1030.0]
+    assert {job_id: reason for job_id, (_, reason) in open_queue().dead.items()} == {1: "RuntimeError: down"}
+
+
+@pytest.mark.parametrize("restart_first", [False, True], ids=["compacted", "reopened-and-compacted"])
+def test_compacting_keeps_attempts(open_queue, time, restart_first):
+    queue = open_queue()
+    queue.add("a", {})
+    for _ in range(2):
+        queue.fail(queue.take(), "down")
+        time.now = queue.next_due()
+    if restart_first:
+        queue = open_queue()
+    queue.compact()
+    queue = open_queue()
+    assert queue.next_due() == 1030.0
+    queue.fail(queue.take(), "down")
+    assert list(queue.dead) == [1]
+
+
+def test_a_job_that_was_running_keeps_its_attempts(open_queue, time):
+    queue = open_queue()
+    queue.add("a", {})
+    queue.fail(queue.take(), "down")
+    time.now += 10
+    queue.take()
+    queue = open_queue()
+    assert queue.attempts(queue.take()) == 1
+
+
+def test_a_revived_job_starts_over_in_a_new_process_too(open_queue, time):
+    queue = open_queue()
+    queue.add("a", {})
+    for _ in range(3):
+        queue.fail(queue.take(), "down")
+        time.now += 100
+    open_queue().revive(1)
+    queue = open_queue()
+    job = queue.take()
+    assert queue.attempts(job) == 0
+    queue.fail(job, "down")
+    assert queue.next_due() == time.now + 10
+
+
+def test_each_job_has_attempts_of_its_own(open_queue, time):
+    queue = open_queue()
+    queue.add("a", {"n": 1})
+    queue.add("a", {"n": 2})
+    queue.fail(queue.take(), "down")
+    queue = open_queue()
+    time.now += 10
+    second, first = queue.take(), queue.take()
+    assert (first.payload, queue.attempts(first)) == ({"n": 1}, 1)
+    assert (second.payload, queue.attempts(second)) == ({"n": 2}, 0)
EOF_PATCH
: '>>>>> Start Test Output'
python3 -m pytest -rA tests/test_journal.py tests/test_queue.py tests/test_restarts.py tests/test_retries.py tests/test_worker.py
: '>>>>> End Test Output'
git checkout 9e2d960e48e9b0f2bf2d47a3b31684dd8a4a73b7 tests/test_journal.py

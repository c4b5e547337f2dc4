#!/bin/bash
set -uxo pipefail
exec 2>&1
git -C /testbed checkout 4590608c3b188306761c687383a7f5729137bc83 tests/
cd /testbed
git checkout 4590608c3b188306761c687383a7f5729137bc83 tests/test_recurring.py
rm -rf -- tests/test_handle.py
git apply -v - <<'EOF_PATCH'
diff --git a/tests/test_handle.py b/tests/test_handle.py
new file mode 100644
index 0000000..84feb7a
--- /dev/null
+++ b/tests/test_handle.py
@@ -0,0 +1,78 @@
+from datetime import datetime, timedelta
+
+import pytest
+
+
+def minutes(number):
+    return timedelta(minutes=number)
+
+
+def test_a_handler_cancels_its_own_event(scheduler, record, run):
+    def poll():
+        record()
+        if len(record.calls) == 3:
+            assert handle.cancel()
+
+    handle = scheduler.every(minutes(10), poll)
+    run(120)
+    assert record.minutes == [10, 20, 30]
+    assert not handle.active
+    assert handle.next_run is None
+    assert scheduler.pending == 0
+
+
+def test_a_handler_cancels_its_own_event_in_its_first_run(scheduler, record, run):
+    def once():
+        record()
+        handle.cancel()
+
+    handle = scheduler.every(minutes(10), once)
+    assert run(60) == 1
+    assert not handle.cancel()
+
+
+def test_a_handler_cancels_another_event_of_the_same_time(scheduler, record, run):
+    scheduler.every(minutes(10), lambda: victim.cancel())
+    victim = scheduler.every(minutes(10), record)
+    run(60)
+    assert record.calls == []
+
+
+def test_another_event_is_cancelled_after_it_ran(scheduler, record, run):
+    victim = scheduler.every(minutes(10), record)
+    scheduler.after(minutes(35), lambda: victim.cancel())
+    run(60)
+    assert record.minutes == [10, 20, 30]
+
+
+@pytest.mark.parametrize("add", ["daily", "cron"])
+def test_handles_of_other_rules(scheduler, record, add):
+    handle = scheduler.daily(9, 0, record) if add == "daily" else scheduler.cron("0 9 * * *", record)
+    scheduler.run_until(datetime(2022, 9, 6, 10, 0))
+    assert handle.next_run == datetime(2022, 9, 7, 9, 0)
+    assert handle.cancel()
+    scheduler.run_until(datetime(2022, 9, 9, 10, 0))
+    assert len(record.calls) == 2
+
+
+def test_the_handle_of_an_event_that_failed(scheduler, run):
+    handle = scheduler.every(minutes(10), int, "ten")
+    with pytest.raises(ValueError):
+        run(60)
+    assert not handle.active
+    assert handle.next_run is None
+    assert not handle.cancel()
+
+
+def test_a_single_event_is_over_while_it_runs(scheduler, run):
+    results = []
+    handle = scheduler.after(minutes(5), lambda: results.append((handle.active, handle.cancel())))
+    run(10)
+    assert results == [(False, False)]
+
+
+def test_a_handler_sees_the_next_run_of_its_event(scheduler, run):
+    seen = []
+    handle = scheduler.every(minutes(10), lambda: seen.append(handle.next_run))
+    run(20)
+    assert seen == [datetime(2022, 9, 5, 8, 20), datetime(2022, 9, 5, 8, 30)]
diff --git a/tests/test_recurring.py b/tests/test_recurring.py
index 8f099af..1ff92c5 100644
--- a/tests/test_recurring.py
+++ b/tests/test_recurring.py
@@ -89,3 +89,20 @@ def test_an_event_whose_handler_fails_does_not_run_again(scheduler, record, run)
     assert scheduler.pending == 1
     run(60)
     assert record.calls == [(10, "fail"), (15, "tick"), (30, "tick"), (45, "tick"), (60, "tick")]
+
+
+def test_a_recurring_event_is_cancelled_between_its_runs(scheduler, record, run):
+    handle = scheduler.every(minutes(10), record)
+    run(25)
+    assert handle.active
+    assert handle.cancel()
+    assert scheduler.pending == 0
+    run(60)
+    assert record.minutes == [10, 20]
+    assert not handle.cancel()
+
+
+def test_next_run_follows_the_runs(scheduler, record, run):
+    handle = scheduler.every(minutes(10), record)
+    run(25)
+    assert handle.next_run == datetime(2022, 9, 5, 8, 30)
EOF_PATCH
: '>>>>> Start Test Output'
python3 -m pytest -rA tests/test_clock.py tests/test_cron.py tests/test_handle.py tests/test_recurring.py tests/test_scheduler.py
: '>>>>> End Test Output'
git checkout 4590608c3b188306761c687383a7f5729137bc83 tests/test_recurring.py

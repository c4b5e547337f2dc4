#!/bin/bash
set -uxo pipefail
exec 2>&1
git -C /testbed checkout 8572a21be124c73bb6990a0180e3aea50d6ecfa7 tests/
cd /testbed
git checkout 8572a21be124c73bb6990a0180e3aea50d6ecfa7 tests/test_calendar.py
rm -rf -- tests/test_clock_changes.py
git apply -v - <<'EOF_PATCH'
diff --git a/tests/test_calendar.py b/tests/test_calendar.py
index 3b06542..93e5df4 100644
--- a/tests/test_calendar.py
+++ b/tests/test_calendar.py
@@ -69,6 +69,13 @@ def test_the_time_of_day_stays_when_the_clocks_change(month, day):
     assert len({span.start.utcoffset() for span in days}) == 2
 
 
+def test_free_time_of_the_night_on_which_clocks_change():
+    night = BERLIN.span((2024, 3, 31), (2024, 3, 31, 4))
+    made = calendar(Event("film", BERLIN.at(2024, 3, 31), timedelta(hours=2)))
+    assert made.free(night, at_least=timedelta(hours=1, minutes=30)) == []
+    assert [span.duration for span in made.free(night)] == [timedelta(hours=1)]
+
+
 def test_events_that_make_no_sense():
     with pytest.raises(ValueError, match="takes no time"):
         calendar(Event("x", BERLIN.at(2024, 1, 1), timedelta(0)))
diff --git a/tests/test_clock_changes.py b/tests/test_clock_changes.py
new file mode 100644
index 0000000..f674805
--- /dev/null
+++ b/tests/test_clock_changes.py
@@ -0,0 +1,71 @@
+"""What lasts over a change of the clocks; in Berlin on 31 March and 27 October 2024."""
+
+from datetime import timedelta
+
+import pytest
+
+from daybook import BERLIN, LONDON, NEW_YORK, Calendar, Event, Repeat, Span, merge, show
+
+HOUR = timedelta(hours=1)
+
+
+@pytest.mark.parametrize(
+    ("zone", "month", "day", "hours"),
+    [(BERLIN, 3, 31, 23), (BERLIN, 10, 27, 25), (LONDON, 3, 31, 23), (NEW_YORK, 3, 10, 23), (NEW_YORK, 11, 3, 25), (BERLIN, 5, 1, 24)],
+    ids=["berlin-spring", "berlin-autumn", "london", "york-spring", "york-autumn", "may"],
+)
+def test_days_are_shorter_and_longer(zone, month, day, hours):
+    start = zone.at(2024, month, day)
+    assert Span(start, start + timedelta(days=1)).duration == hours * HOUR
+
+
+def test_a_night_is_written_with_its_true_length():
+    assert show(BERLIN.span((2024, 3, 30, 22), (2024, 3, 31, 6))) == "2024-03-30 22:00 - 2024-03-31 06:00 (7 h)"
+
+
+def test_the_hour_that_comes_twice_has_two_hours():
+    first, second = (BERLIN.at(2024, 10, 27, 2, 30, fold=fold) for fold in (0, 1))
+    assert Span(first, second).duration == HOUR
+    assert Span(first, BERLIN.at(2024, 10, 27, 2, 15, fold=1)).duration == 45 * timedelta(minutes=1)
+    assert BERLIN.at(2024, 10, 27, 2, 45) in Span(first, second)
+    assert BERLIN.at(2024, 10, 27, 2, 45, fold=1) not in Span(first, second)
+
+
+def test_the_hours_do_not_overlap():
+    first = Span(BERLIN.at(2024, 10, 27, 2), BERLIN.at(2024, 10, 27, 2, fold=1))
+    second = Span(BERLIN.at(2024, 10, 27, 2, fold=1), BERLIN.at(2024, 10, 27, 3))
+    assert not first.overlaps(second)
+    assert first.intersection(second) is None
+    (both,) = merge([second, first])
+    assert both.duration == 2 * HOUR
+
+
+def test_an_event_takes_as_long_as_it_says():
+    shift = Event("shift", BERLIN.at(2024, 3, 30, 22), 8 * HOUR)
+    (span,) = shift.occurrences(BERLIN.span((2024, 3, 30), (2024, 4, 2)))
+    assert span.duration == 8 * HOUR
+    assert span.end.isoformat() == "2024-03-31T07:00:00+02:00"
+    shift = Event("shift", BERLIN.at(2024, 10, 26, 22), 8 * HOUR)
+    (span,) = shift.occurrences(BERLIN.span((2024, 10, 26), (2024, 10, 28)))
+    assert span.end.isoformat() == "2024-10-27T05:00:00+01:00"
+
+
+def test_a_week_of_shifts():
+    shifts = Calendar()
+    shifts.add(Event("night", BERLIN.at(2024, 3, 29, 22), 8 * HOUR, Repeat(days=1, count=3)))
+    week = BERLIN.span((2024, 3, 29), (2024, 4, 5))
+    assert [span.start.hour for span in shifts.busy(week)] == [22, 22, 22]
+    assert [span.end.hour for span in shifts.busy(week)] == [6, 7, 6]
+    assert shifts.total(week) == 24 * HOUR
+    assert sum((span.duration for span in shifts.free(week)), timedelta(0)) == week.duration - 24 * HOUR
+    assert week.duration == 7 * 24 * HOUR - HOUR
+
+
+def test_an_agenda_of_the_hour_that_comes_twice():
+    calendar = Calendar()
+    for fold, title in (1, "second"), (0, "first"):
+        calendar.add(Event(title, BERLIN.at(2024, 10, 27, 2, 30 - fold, fold=fold), HOUR / 2))
+    day = BERLIN.span((2024, 10, 27), (2024, 10, 28))
+    assert [title for _, title in calendar.agenda(day)] == ["first", "second"]
+    assert len(calendar.busy(day)) == 2
+    assert calendar.total(day) == HOUR
EOF_PATCH
: '>>>>> Start Test Output'
python3 -m pytest -rA tests/test_calendar.py tests/test_clock_changes.py tests/test_span.py tests/test_text.py tests/test_zone.py
: '>>>>> End Test Output'
git checkout 8572a21be124c73bb6990a0180e3aea50d6ecfa7 tests/test_calendar.py

"""Time in hand, by a clock that the test turns."""

import pytest

from trainers import meters
from trainers.meters import BusyMeter


class Clock:
    now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(meters, "time", clock)
    return clock


def test_overlapping_items_count_once_and_pauses_not_at_all(clock: Clock) -> None:
    meter = BusyMeter()
    with meter.busy():
        clock.now += 1
        with meter.busy():
            clock.now += 2
        clock.now += 4
    clock.now += 8
    with meter.busy():
        clock.now += 16
    assert meter.seconds == 1 + 2 + 4 + 16


def test_items_that_begin_and_end_crosswise(clock: Clock) -> None:
    meter = BusyMeter()
    first, second = meter.busy(), meter.busy()
    first.__enter__()
    clock.now += 1
    second.__enter__()
    clock.now += 2
    first.__exit__(None, None, None)
    clock.now += 4
    second.__exit__(None, None, None)
    clock.now += 8
    assert meter.seconds == 1 + 2 + 4


def test_what_is_in_hand_counts_so_far_and_an_error_ends_it(clock: Clock) -> None:
    meter = BusyMeter()

    def fail() -> None:
        with meter.busy():
            clock.now += 3
            assert meter.seconds == 3
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    clock.now += 5
    assert meter.seconds == 3

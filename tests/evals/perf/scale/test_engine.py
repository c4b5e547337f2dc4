"""An engine against closed forms: alone, saturated, limited by memory; pauses, drains and the fleet."""

import pytest

from evals.perf.scale.clock import Clock
from evals.perf.scale.curve import Curve
from evals.perf.scale.engine import Limits, Request
from evals.perf.scale.fleet import Fleet
from tests.evals.perf.scale.tables import CURVE

LIMITS = Limits(8, 1e9)


class Ends:
    """A fleet whose requests leave behind when they began and ended."""

    def __init__(self, curve: Curve = CURVE, limits: Limits = LIMITS, engines: int = 1) -> None:
        self.clock = Clock()
        self.fleet = Fleet(self.clock, curve, limits, engines)
        self.begun: dict[str, float] = {}
        self.ended: dict[str, float] = {}

    def submit(self, name: str, *, new: float = 0.0, context: float = 0.0, response: float = 10.0) -> Request:
        request = Request(
            name,
            new=new,
            context=context,
            response=response,
            begun=lambda who: self.begun.__setitem__(who, self.clock.now),
            done=lambda who: self.ended.__setitem__(who, self.clock.now),
        )
        self.fleet.submit(request)
        return request

    def at(self, when: float, name: str, **figures: float) -> None:
        """Submit a request later."""

        def late(_: None) -> None:
            self.submit(name, **figures)

        self.clock.at(when, late)


def test_a_request_alone_takes_its_prefill_and_its_steps() -> None:
    ends = Ends()
    ends.submit("one", new=1000, context=1000, response=20)
    ends.clock.run()
    assert ends.ended["one"] == pytest.approx(1000 * 1e-5 + 20 * CURVE.step(1, 1010))


def test_two_requests_share_every_step_while_both_are_there() -> None:
    ends = Ends(Curve(base=1.0, sequence=0.5, cached=0.0, prefill=0.0))
    ends.submit("short", response=4)
    ends.submit("long", response=10)
    ends.clock.run()
    assert ends.ended == {"short": pytest.approx(4 * 2.0), "long": pytest.approx(4 * 2.0 + 6 * 1.5)}


def test_a_prompt_holds_up_everybody() -> None:
    ends = Ends(Curve(base=1.0, sequence=0.0, cached=0.0, prefill=0.01))
    ends.submit("first", response=5)
    ends.at(2.0, "second", new=300, response=1)
    ends.clock.run()
    assert ends.ended == {"second": pytest.approx(2 + 3 + 1), "first": pytest.approx(5 + 3)}


@pytest.mark.parametrize("concurrent", [1, 3, 8])
def test_a_closed_loop_reaches_the_closed_form(concurrent: int) -> None:
    ends = Ends()
    count = 0

    def again(_: object) -> None:
        nonlocal count
        count += 1
        if ends.clock.now < 2000:
            send()

    def send() -> None:
        ends.fleet.submit(Request(None, new=60, context=100, response=50, begun=lambda _: None, done=again))

    for _ in range(concurrent):
        send()
    ends.clock.run()
    expected = CURVE.requests_per_second(100, 50, concurrent, new=60)
    assert count / ends.clock.now == pytest.approx(expected, rel=0.01)


def test_memory_limits_what_is_sampled_at_once_and_a_request_too_large_runs_alone() -> None:
    ends = Ends(Curve(base=1.0, sequence=0.0, cached=0.0, prefill=0.0), Limits(8, 100.0))
    for name in ("a", "b", "c"):
        ends.submit(name, context=30, response=20)
    ends.submit("huge", context=900, response=20)
    ends.clock.run()
    assert ends.begun == {"a": 0.0, "b": 0.0, "c": pytest.approx(20.0), "huge": pytest.approx(40.0)}
    assert ends.ended["huge"] == pytest.approx(60.0)


def test_a_pause_shifts_everything_that_is_under_way() -> None:
    ends = Ends(Curve(base=1.0, sequence=0.0, cached=0.0, prefill=0.1))
    ends.submit("one", new=50, response=5)
    ends.clock.at(3.0, lambda _: ends.fleet.pause())
    ends.at(4.0, "two", response=1)
    ends.clock.at(10.0, lambda _: ends.fleet.resume())
    ends.clock.run()
    assert ends.begun["two"] == 10.0
    assert ends.ended["one"] == pytest.approx(5 + 5 + 7)


def test_a_drain_ends_when_the_last_response_has_and_begins_nothing_new() -> None:
    ends = Ends(Curve(base=1.0, sequence=0.0, cached=0.0, prefill=0.0), engines=2)
    drained: list[float] = []
    ends.submit("short", response=3)
    ends.submit("long", response=8)
    ends.clock.at(1.0, lambda _: ends.fleet.drain(lambda: drained.append(ends.clock.now)))
    ends.at(2.0, "late", response=1)
    ends.clock.run()
    assert drained == [pytest.approx(8.0)]
    assert "late" not in ends.begun
    ends.fleet.resume()
    ends.clock.run()
    assert ends.ended["late"] == pytest.approx(9.0)


def test_an_empty_fleet_is_drained_at_once() -> None:
    ends = Ends(engines=3)
    drained: list[bool] = []
    ends.fleet.drain(lambda: drained.append(True))
    assert drained == [True]


def test_requests_go_where_the_least_is_in_flight() -> None:
    ends = Ends(engines=3)
    assert sorted(ends.submit(str(number)).engine for number in range(3)) == [0, 1, 2]
    assert sorted(ends.submit(str(number)).engine for number in range(3, 6)) == [0, 1, 2]


def test_littles_law_holds_in_the_batch() -> None:
    ends = Ends()
    for number in range(40):
        ends.at(0.3 * number, str(number), new=20, context=50, response=30)
    ends.clock.run()
    spent = sum(ends.ended[name] - ends.begun[name] for name in ends.ended)
    assert ends.fleet.areas()[0] == pytest.approx(spent)

"""Stations against queueing theory: M/M/1, M/M/c, Little's law; and the order of jobs."""

import math
from typing import Any

import numpy as np
import pytest

from evals.perf.scale.clock import Clock
from evals.perf.scale.station import Station


def _queue(servers: int, arrivals: float, service: float, jobs: int) -> tuple[float, float, float, float]:
    """Poisson arrivals and exponential service: mean time in the system, its integral, utilisation, and the end."""
    clock, rng = Clock(), np.random.default_rng(0)
    station = Station(clock, servers)
    came = np.cumsum(rng.exponential(1 / arrivals, jobs))
    taking = rng.exponential(1 / service, jobs)
    spent: list[float] = []

    def arrive(number: int) -> None:
        station.submit(float(taking[number]), 1.0, leave, number)

    def leave(number: int) -> None:
        spent.append(clock.now - float(came[number]))

    for number in range(jobs):
        clock.at(float(came[number]), arrive, number)
    clock.run()
    return float(np.mean(spent)), float(np.sum(spent)), station.area() / clock.now / servers, clock.now


def test_one_server_is_the_queue_m_m_1() -> None:
    spent, _, busy, _ = _queue(1, arrivals=0.7, service=1.0, jobs=200_000)
    assert busy == pytest.approx(0.7, rel=0.02)
    assert spent == pytest.approx(1 / (1.0 - 0.7), rel=0.05)


def test_several_servers_are_the_queue_m_m_c() -> None:
    servers, offered = 4, 3.2
    spent, _, busy, _ = _queue(servers, arrivals=offered, service=1.0, jobs=200_000)
    share = offered / servers
    last = offered**servers / math.factorial(servers) / (1 - share)
    wait = last / (sum(offered**k / math.factorial(k) for k in range(servers)) + last)  # Erlang's C
    assert busy == pytest.approx(share, rel=0.02)
    assert spent == pytest.approx(1 + wait / (servers - offered), rel=0.05)


def test_work_is_neither_lost_nor_made() -> None:
    clock, rng = Clock(), np.random.default_rng(1)
    station = Station(clock, 3.0)
    work, done = 0.0, list[int]()
    for number in range(500):
        seconds, load = float(rng.exponential()), float(rng.choice([0.5, 1.0, 2.0]))
        work += seconds * load
        station.submit(seconds, load, done.append, number)
    clock.run()
    assert station.area() == pytest.approx(work)
    assert sorted(done) == list(range(500))
    assert station.done == 500
    assert station.used == pytest.approx(0.0, abs=1e-9)
    assert station.waiting == 0


def test_jobs_begin_in_the_order_they_came_and_never_exceed_the_capacity() -> None:
    clock = Clock()
    station = Station(clock, 2.0)
    ended: list[tuple[float, str]] = []

    def end(name: str) -> None:
        assert station.used <= 2.0 + 1e-9
        ended.append((clock.now, name))

    for name, seconds, load in (("a", 1.0, 1.0), ("wide", 1.0, 2.0), ("late", 1.0, 1.0), ("all of it", 1.0, 9.0)):
        station.submit(seconds, load, end, name)
    clock.run()
    assert ended == [(1.0, "a"), (2.0, "wide"), (3.0, "late"), (4.0, "all of it")]


def test_a_full_queue_takes_jobs_one_by_one_as_others_begin() -> None:
    clock = Clock()
    station = Station(clock, 1.0, room=1)
    taken: list[tuple[float, Any]] = []
    for number in range(4):
        station.submit(1.0, 1.0, lambda _: None, number, lambda who: taken.append((clock.now, who)))
    assert station.waiting == 3
    clock.run()
    assert taken == [(0.0, 0), (0.0, 1), (1.0, 2), (2.0, 3)]

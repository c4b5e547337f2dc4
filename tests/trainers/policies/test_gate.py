"""The gate: mutual exclusion, decoding first, a bounded wait for the learner, and nothing left behind by failures."""

import threading
from collections import deque
from collections.abc import Callable

import pytest

from trainers.policies.gate import ComputeGate


def _start(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


class Queue(deque[threading.Event]):
    """A queue of the gate that tells when somebody has lined up."""

    def __init__(self) -> None:
        super().__init__()
        self.arrivals = threading.Semaphore(0)

    def append(self, ticket: threading.Event) -> None:
        super().append(ticket)
        self.arrivals.release()


def _watched(*, burst: int) -> tuple[ComputeGate, Queue, Queue]:
    """A gate with its queues of decoders and learners."""
    gate = ComputeGate(burst=burst)
    decoders, learners = gate._decoders, gate._learners = Queue(), Queue()
    return gate, decoders, learners


def test_one_at_a_time() -> None:
    gate, inside, most = ComputeGate(burst=2), 0, 0

    def work(*, learner: bool) -> None:
        nonlocal inside, most
        for _ in range(50):
            with gate.learn() if learner else gate.decode():
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [_start(lambda learner=learner: work(learner=learner)) for learner in (True, True, False, False)]
    for thread in threads:
        thread.join(timeout=30)
        assert not thread.is_alive()
    assert most == 1


def test_learner_waits_for_the_burst_and_no_longer() -> None:
    gate, _, learners = _watched(burst=3)
    order: list[str] = []

    def learn() -> None:
        with gate.learn():
            order.append("learn")

    with gate.decode() as pause:
        learner = _start(learn)
        assert learners.arrivals.acquire(timeout=30)
        for _ in range(5):
            order.append("decode")
            pause()
    learner.join(timeout=30)
    assert order == ["decode"] * 3 + ["learn"] + ["decode"] * 2


def test_learner_takes_over_when_decoding_ends() -> None:
    gate, _, learners = _watched(burst=100)
    order: list[str] = []

    def learn() -> None:
        with gate.learn():
            order.append("learn")

    with gate.decode() as pause:
        learner = _start(learn)
        assert learners.arrivals.acquire(timeout=30)
        order.append("decode")
        pause()
    learner.join(timeout=30)
    assert order == ["decode", "learn"]


def test_waiting_decoder_goes_before_waiting_learner() -> None:
    gate, decoders, learners = _watched(burst=100)
    order: list[str] = []

    def learn() -> None:
        with gate.learn():
            order.append("learn")

    def decode() -> None:
        with gate.decode():
            order.append("decode")

    with gate.learn():
        learner = _start(learn)
        assert learners.arrivals.acquire(timeout=30)
        decoder = _start(decode)
        assert decoders.arrivals.acquire(timeout=30)
    learner.join(timeout=30)
    decoder.join(timeout=30)
    assert order == ["decode", "learn"]


def test_failure_inside_frees_the_machine_and_is_counted() -> None:
    gate = ComputeGate()
    with pytest.raises(ZeroDivisionError), gate.learn():
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), gate.decode():
        raise ZeroDivisionError
    with gate.decode():
        pass
    assert all(seconds > 0 for seconds in gate.busy().values())

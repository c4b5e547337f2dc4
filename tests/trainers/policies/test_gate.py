"""The gate: mutual exclusion, decoding first, a bounded wait for the learner, and nothing left behind by failures."""

import threading
from collections.abc import Callable

import pytest

from trainers.policies.gate import ComputeGate


def _start(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def _wait_for_waiting(gate: ComputeGate, *, learners: int = 0, decoders: int = 0) -> None:
    arrived = threading.Event()
    while len(gate._learners) < learners or len(gate._decoders) < decoders:
        arrived.wait(0.001)


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
    gate, order = ComputeGate(burst=3), []

    def learn() -> None:
        with gate.learn():
            order.append("learn")

    with gate.decode() as pause:
        learner = _start(learn)
        _wait_for_waiting(gate, learners=1)
        for _ in range(5):
            order.append("decode")
            pause()
    learner.join(timeout=30)
    assert order == ["decode"] * 3 + ["learn"] + ["decode"] * 2


def test_learner_takes_over_when_decoding_ends() -> None:
    gate, order = ComputeGate(burst=100), []

    def learn() -> None:
        with gate.learn():
            order.append("learn")

    with gate.decode() as pause:
        learner = _start(learn)
        _wait_for_waiting(gate, learners=1)
        order.append("decode")
        pause()
    learner.join(timeout=30)
    assert order == ["decode", "learn"]


def test_waiting_decoder_goes_before_waiting_learner() -> None:
    gate, order = ComputeGate(burst=100), []

    def learn() -> None:
        with gate.learn():
            order.append("learn")

    def decode() -> None:
        with gate.decode():
            order.append("decode")

    with gate.learn():
        learner = _start(learn)
        _wait_for_waiting(gate, learners=1)
        decoder = _start(decode)
        _wait_for_waiting(gate, learners=1, decoders=1)
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

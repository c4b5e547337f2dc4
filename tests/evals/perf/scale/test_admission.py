"""Admission in virtual time decides as the trainer's own pacer does."""

import asyncio

import numpy as np
import pytest

from evals.perf.scale.admission import Admission, Ticket
from trainers.pacer import Pacer
from trainers.pacer import Ticket as RealTicket


@pytest.mark.parametrize("seed", range(5))
def test_the_same_requests_are_granted_at_the_same_time_as_by_the_trainers_pacer(seed: int) -> None:
    assert _simulated(seed) == asyncio.run(_real(seed))


def _script(seed: int) -> list[tuple[str, int]]:
    rng = np.random.default_rng(seed)
    names = rng.choice(["admit", "accept", "let_go", "train"], p=[0.45, 0.3, 0.05, 0.2], size=600)
    return [(str(name), int(number)) for name, number in zip(names, rng.integers(1, 1000, 600), strict=True)]


def _simulated(seed: int) -> list[tuple[int, ...]]:
    admission, flying = Admission(24), list[Ticket]()
    log: list[tuple[int, ...]] = []
    for name, number in _script(seed):
        if name == "admit":
            admission.request(number % 8 + 1, flying.append)
        elif name == "train":
            if admission.accepted - admission.trained >= 8:
                admission.train(8)
        elif flying:
            ticket = flying.pop(number % len(flying))
            (admission.accept if name == "accept" else admission.let_go)(ticket)
        log.append((len(flying), admission.in_flight, admission.accepted - admission.trained))
    return log


async def _real(seed: int) -> list[tuple[int, ...]]:
    pacer, flying = Pacer(24), list[RealTicket]()
    log: list[tuple[int, ...]] = []
    waiting: list[asyncio.Task[None]] = []

    async def admit(samples: int) -> None:
        flying.append(await pacer.admit(samples))

    for name, number in _script(seed):
        if name == "admit":
            waiting.append(asyncio.create_task(admit(number % 8 + 1)))
        elif name == "train":
            if pacer.queued >= 8:
                pacer.train(8)
        elif flying:
            ticket = flying.pop(number % len(flying))
            (pacer.accept if name == "accept" else pacer.let_go)(ticket)
        for _ in range(3):
            await asyncio.sleep(0)
        log.append((len(flying), pacer.in_flight, pacer.queued))
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    return log

"""The call that a trainer makes, with policies of plain code and the trained model in the real environment."""

import asyncio
import math
from pathlib import Path

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.tasksets import load_tasks
from evals.toolcall.evaluate import evaluate
from trainers.policies.embedded import EmbeddedPolicy
from trainers.policies.endpoint import EndpointPolicy

from ..endpoint import serving
from .solver import Solver

SET = "procedural:heldout,levels=1"
TASKS = load_tasks("toolcall", SET)[:4]
IDS = [task.id for task in TASKS]


def scored(solver: Solver, **options: int) -> dict[str, float]:
    async def run(url: str) -> dict[str, float]:
        policy = EndpointPolicy(url, model="code")
        try:
            return await evaluate(policy, reference=policy, tasks=SET, limit=4, **options)
        finally:
            await policy.aclose()

    with serving(solver) as url:
        return asyncio.run(run(url))


def test_every_figure() -> None:
    figures = scored(Solver(TASKS, wrong=IDS[:1], silent=IDS[1:2]), max_steps=4)
    assert 0 < figures.pop("score_low") < 0.5 < figures.pop("score_high") < 1
    assert figures == {
        "score": 0.5,
        "called": 0.5,
        "valid_calls": 2 / 3,
        "steps": (1 + 4 + 2 + 2) / 4,
        "calls": 0.5,
        "truncated": 0.25,
    }


def test_without_a_call_there_are_no_valid_ones() -> None:
    figures = scored(Solver(TASKS, wrong=IDS))
    assert (figures["score"], figures["called"]) == (0.0, 0.0)
    assert math.isnan(figures["valid_calls"])


def test_a_set_that_is_not_there_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match="no tool-call task set 'nowhere'"):
        asyncio.run(evaluate(EndpointPolicy("http://localhost/v1", model="m"), tasks="nowhere"))


def test_an_engine_that_is_gone_gives_no_score() -> None:
    async def run() -> None:
        policy = EndpointPolicy("http://127.0.0.1:9/v1", model="m", timeout=0.1)  # nothing listens there
        try:
            await evaluate(policy, tasks=SET, limit=1)
        finally:
            await policy.aclose()

    with pytest.raises(InfrastructureError, match="no episode could be scored"):
        asyncio.run(run())


def test_a_model_that_is_trained_is_scored(tiny_model: Path) -> None:
    async def run() -> dict[str, float]:
        policy = EmbeddedPolicy.load(str(tiny_model))
        try:
            return await evaluate(policy, tasks=SET, limit=2, max_new_tokens=8, max_steps=2)
        finally:
            await policy.aclose()

    figures = asyncio.run(run())
    assert figures["score"] == 0.0  # its weights are random
    assert 1.0 <= figures["steps"] <= 2.0

"""The call that a trainer makes, with an agent of plain code in the real environment."""

import asyncio
import math

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import load_tasks
from evals.swe.evaluate import evaluate
from trainers.policies.endpoint import EndpointPolicy

from ..endpoint import serving
from .engineer import Engineer

TASKS = load_tasks("swe")[:2]


def scored(engineer: Engineer) -> dict[str, float]:
    async def run(url: str) -> dict[str, float]:
        policy = EndpointPolicy(url, model="code")
        try:
            return await evaluate(policy, reference=policy, limit=2, max_steps=3, tools="false", parallel=2)
        finally:
            await policy.aclose()

    with serving(engineer) as url:
        return asyncio.run(run(url))


def test_every_figure() -> None:
    figures = scored(Engineer(TASKS[0]))
    assert 0 < figures.pop("score_low") < 0.5 < figures.pop("score_high") < 1
    assert figures == {
        "score": 0.5,
        "fail_to_pass": 1.0,
        "pass_to_pass": 1.0,
        "submitted": 0.5,
        "steps": (2 + 3) / 2,
        "malformed": 3 / 2,
    }


def test_where_no_test_ran_there_is_no_share() -> None:
    figures = scored(Engineer())
    assert (figures["score"], figures["malformed"]) == (0.0, 3.0)
    assert math.isnan(figures["fail_to_pass"])


def test_a_set_that_is_not_there_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match="no SWE task set or path 'nowhere'"):
        asyncio.run(evaluate(EndpointPolicy("http://localhost/v1", model="m"), tasks="nowhere"))

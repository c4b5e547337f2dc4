"""This machine as a table: the embedded model that serves and learns, real environments, the rules that judge.

A few minutes, so the figures are rough. Serving and learning take turns at the same cores here, as with `sync`.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from claw_envs.core.episode import Observation, Turn
from claw_envs.core.task import Task, VerifierSpec
from evals.perf.scale import hosts
from evals.perf.scale.curve import fit_curve, fit_errors
from evals.perf.scale.table import (
    Hosts,
    Judging,
    LearnerPoint,
    Learning,
    Point,
    Section,
    Serving,
    Spread,
    Sync,
    Table,
    Workload,
)
from judges.rules import RulesJudge
from trainers.config import load_config
from trainers.learner import Learner
from trainers.policies.base import Sampling
from trainers.policies.embedded import EmbeddedPolicy
from trainers.policies.gate import ComputeGate
from trainers.policies.model import load_model, resolve_model
from trainers.sequences import Sequence

_LOADS = ((32, 16, 1), (256, 16, 1), (32, 16, 4), (128, 32, 4), (32, 32, 8))
"""Prompt tokens, response tokens and responses at once of each measurement."""
_ROUNDS = 2
_REPEATS = 3
"""Of each measurement; the fastest counts, as what else runs on the machine only slows it down."""
_CONTEXT = 2048
_ROWS, _TOKENS = 4, 128
"""Of the batch that the learner is measured with."""


async def calibrate(model: str, family: str, *, turns: int, say: Callable[[str], None]) -> Table:
    """Measure everything.

    Args:
        model: name or directory of the embedded model.
        family: of the environments.
        turns: of an episode.
    """
    say(f"{family}: steps and resets")
    host = await hosts.measure(family, turns=turns, episodes=4, crowd=8)
    say("the rules that judge")
    verdict = await _verdict_seconds()
    say(f"{model}: sampling")
    gate = ComputeGate()
    policy = EmbeddedPolicy.load(model, max_batch=max(load[2] for load in _LOADS), gate=gate, prefix_tokens=0)
    try:
        await _point(policy, *_LOADS[-1])  # the first call of a model does more than the later ones
        points = []
        for load in _LOADS:
            repeats = [await _point(policy, *load) for _ in range(_REPEATS)]
            points.append(max(repeats, key=lambda point: point.tokens_per_second))
        worst = max(abs(error) for error in fit_errors(fit_curve(points), points))
        say(f"{model}: the fitted curve is at most {100 * worst:.0f} % off; repeat on a quiet machine if that is much")
        say(f"{model}: training")
        learner = Learner(load_model(resolve_model(model))[0], load_config(None, None, {}), gate)
        speed = await asyncio.to_thread(_learner_speed, learner)
        began = time.perf_counter()
        await policy.update_weights(learner.state(), 1)
        sync = time.perf_counter() - began
    finally:
        await policy.aclose()
    return _table(model, host, points, verdict=verdict, speed=speed, sync=sync, turns=turns)


def _table(
    model: str, host: Hosts, points: list[Point], *, verdict: float, speed: float, sync: float, turns: int
) -> Table:
    config = load_config(None, None, {})
    most = max(load[2] for load in _LOADS)
    return Table(
        title=f"{model} on this machine",
        origin="measured",
        serving=Serving(max_sequences=most, kv_tokens=float(most * _CONTEXT), points=points),
        learning=Learning(points=[LearnerPoint(gpus=1, tokens_per_second=speed)]),
        sync=Sync(seconds=sync),
        judging=Judging(seconds=Spread(median=verdict), workers=config.judge.workers),
        hosts=host,
        workload=Workload(
            group_size=config.rollout.group_size,
            turns=Spread(median=float(turns)),
            prompt=Spread(median=300.0, sigma=0.3),
            response=Spread(median=40.0, sigma=0.5, most=float(config.generation.max_new_tokens)),
            observation=Spread(median=40.0, sigma=0.5),
            context=float(_CONTEXT),
            prefix_hit=1.0,
        ),
    )


async def _point(policy: EmbeddedPolicy, prompt: int, response: int, concurrent: int) -> Point:
    """Closed loop: each of `concurrent` callers asks again as soon as it has its answer."""
    rng = np.random.default_rng(0)
    sampled = 0

    async def ask() -> None:
        nonlocal sampled
        for _ in range(_ROUNDS):
            ids = rng.integers(100, 10_000, prompt).tolist()
            answer = await policy.generate(ids, Sampling(max_new_tokens=response))
            sampled += len(answer.response_ids)

    began = time.perf_counter()
    await asyncio.gather(*(ask() for _ in range(concurrent)))
    speed = sampled / (time.perf_counter() - began)
    mean = sampled / (concurrent * _ROUNDS)
    return Point(prompt=prompt, response=mean, concurrent=concurrent, tokens_per_second=speed)


def _learner_speed(learner: Learner) -> float:
    """Tokens/s of one update, the reference's pass included where the settings ask for it."""
    rng = np.random.default_rng(0)
    rows = [
        Sequence(
            ids=rng.integers(100, 10_000, _TOKENS).tolist(),
            positions=np.arange(1, _TOKENS),
            logprobs=np.full(_TOKENS - 1, -2.0, np.float32),
            versions=np.zeros(_TOKENS - 1, np.int64),
            advantages=rng.normal(size=_TOKENS - 1),
        )
        for _ in range(_ROWS)
    ]
    began = time.perf_counter()
    learner.update(rows, version=1)
    return _ROWS * _TOKENS / (time.perf_counter() - began)


async def _verdict_seconds() -> float:
    turn = Turn(episode_id="", step=0, messages=[], response="ls", observation=Observation(role="tool", text="a\nb"))
    task = Task(id="t", family="terminal", instruction="list the files", verifier=VerifierSpec(kind="harbor"))
    judge, count = RulesJudge(), 200
    began = time.perf_counter()
    for _ in range(count):
        await judge.judge(turn, [], task)
    return (time.perf_counter() - began) / count


def to_toml(table: Table) -> str:
    """The table as a file that `read_table` reads."""
    return "\n".join(_lines(table, ""))


def _lines(section: Section, path: str) -> list[str]:
    """Figures first, then sections below them, as TOML wants it."""
    plain, below = [], []
    for name in section.__struct_fields__:
        value: Any = getattr(section, name)
        inner = f"{path}.{name}" if path else name
        match value:
            case Spread():
                parts = [f"{key} = {_text(getattr(value, key))}" for key in value.__struct_fields__]
                plain.append(f"{name} = {{ {', '.join(parts)} }}")
            case Section():
                below += ["", f"[{inner}]", *_lines(value, inner)]
            case [Section(), *_]:
                for each in value:
                    below += ["", f"[[{inner}]]", *_lines(each, inner)]
            case _:
                plain.append(f"{name} = {_text(value)}")
    return plain + below


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value) if isinstance(value, int) else repr(value)

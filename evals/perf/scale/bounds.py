"""What no schedule can exceed: samples/s of each stage by itself, in closed form; and the split of GPUs from that."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from claw_envs.core.errors import UserError
from evals.perf.scale.curve import Curve, fit_curve, update_seconds
from evals.perf.scale.draws import mean, stream
from evals.perf.scale.pipeline import Mode, Plan
from evals.perf.scale.table import Table

_EPISODES = 4000
_SEED = 20_000


class Means(NamedTuple):
    """An average episode of a workload, and an average turn of it."""

    turns: float
    tokens: float
    """Of the sequence that is trained."""
    new: float
    """Prompt tokens that an engine has to read for a turn."""
    response: float
    cached: float
    """Tokens that a sequence holds in the engine, as an average step sees it: longer responses are seen more often."""
    whole: float
    """The same with the response complete: what memory is reserved for."""


class Rates(NamedTuple):
    """What each stage could do, in samples/s."""

    serving: float
    hosts: float
    judging: float
    learning: float
    environments: float
    """As many episodes at once as there are environments, each as fast as if it were alone."""

    def most(self, mode: Mode) -> float:
        """What the pipeline cannot exceed.

        With `sync` serving and learning take turns: a sample costs 1/serving + 1/learning.
        """
        return min(self) if mode != "sync" else min(*self[1:], 1 / (1 / self.serving + 1 / self.learning))


def means(table: Table) -> Means:
    """Of the workload, from draws with a seed of their own."""
    work = table.workload
    draws = [stream(spread, [_SEED, i]) for i, spread in enumerate((work.turns, work.prompt, work.response))]
    turns, prompt, response = draws
    observation = stream(work.observation, [_SEED, 3])
    count, tokens, new, sampled, cached, whole = 0, 0.0, 0.0, 0.0, 0.0, 0.0
    for _ in range(_EPISODES):
        context, read = prompt(), 0.0
        for _ in range(max(1, round(turns()))):
            length = max(1.0, response())
            count += 1
            new += context - work.prefix_hit * read
            sampled += length
            cached += length * (context + length / 2)
            whole += length * (context + length)
            read = context + length
            context = read + observation()
            if context >= work.context:
                break
        tokens += read
    return Means(count / _EPISODES, tokens / _EPISODES, new / count, sampled / count, cached / sampled, whole / sampled)


def turns_per_second(table: Table, curve: Curve, average: Means, concurrent: float | None = None) -> float:
    """Of one engine with so many responses at once; None: as many as it holds."""
    serving = table.serving
    if concurrent is None:
        concurrent = max(1.0, min(serving.max_sequences, serving.kv_tokens / average.whole))
    context = average.cached - average.response / 2
    return curve.requests_per_second(context, average.response, concurrent, new=average.new)


def rates(table: Table, plan: Plan, average: Means, curve: Curve) -> Rates:
    """The limits of each stage for this plan."""
    host = table.hosts
    step = mean(host.step) * (1 - host.hang) + (host.hang * host.step.most if host.hang else 0.0)
    reset, verify = mean(host.reset), mean(host.verify)
    alone = reset + verify + average.turns * (step + 1 / turns_per_second(table, curve, average, 1))
    work = reset * host.reset_load + (average.turns * step + verify) * host.step_load
    verdicts = average.turns * mean(table.judging.seconds)
    samples = average.turns if table.workload.sample == "turn" else 1.0
    engines = plan.serving // table.serving.gpus
    workers = plan.judging * table.judging.per_gpu or table.judging.workers
    return Rates(
        serving=samples * engines * turns_per_second(table, curve, average) / average.turns,
        hosts=samples * (host.cores + host.cores_per_gpu * plan.gpus) / work if work else math.inf,
        judging=samples * workers / verdicts if verdicts else math.inf,
        learning=_learning(table, plan, average),
        environments=samples * plan.environments / alone,
    )


def _learning(table: Table, plan: Plan, average: Means) -> float:
    tokens = average.tokens if table.workload.sample == "episode" else average.cached + average.response / 2
    update = update_seconds(table.learning, plan.learning, plan.batch * tokens, tokens)
    switch = table.sync.switch_s if plan.mode == "sync" else 0.0
    return plan.batch / (update + switch + table.sync.seconds)


def split(table: Table, plan: Plan, average: Means) -> Plan:
    """The plan with its GPUs shared out so that the slowest stage is as fast as it can be.

    Judges get GPUs where there are at least three and the table has judges on GPUs. With `sync` the others do both.

    Raises:
        UserError: if there are too few GPUs to do anything with.
    """
    curve = fit_curve(table.serving.points)

    def speed(candidate: Plan) -> tuple[float, float]:
        limits = rates(table, candidate, average, curve)
        plenty = limits._replace(hosts=math.inf, environments=math.inf)
        return limits.most(plan.mode), plenty.most(plan.mode)

    candidates = list(_shares(table, plan, _judges_an_engine(table, curve, average)))
    if not candidates:
        need = table.serving.gpus + (plan.mode != "sync")
        raise UserError(f"{plan.mode} with an engine of {table.serving.gpus} needs at least {need} GPUs")
    return max(candidates, key=speed)


def _judges_an_engine(table: Table, curve: Curve, average: Means) -> float:
    """GPUs of judges that keep up with one engine at its fastest."""
    if not table.judging.per_gpu:
        return 0.0
    return turns_per_second(table, curve, average) * mean(table.judging.seconds) / table.judging.per_gpu


def _shares(table: Table, plan: Plan, judges: float) -> Iterator[Plan]:
    """Ways to share out the GPUs: any number of engines, with so many GPUs of judges for each of them."""
    one, replace = table.serving.gpus, msgspec.structs.replace
    judged = judges > 0 and plan.gpus >= 3
    if plan.mode == "sync":
        for judging in range(1, plan.gpus - one + 1) if judged else [0]:
            if plan.gpus - judging >= one:
                yield replace(plan, judging=judging, learning=plan.gpus - judging)
        return
    for engines in range(1, plan.gpus // one + 1):
        for judging in {max(1, math.floor(engines * judges)), math.ceil(engines * judges)} if judged else {0}:
            learning = plan.gpus - engines * one - judging
            if learning >= 1:
                yield replace(plan, judging=judging, learning=learning)

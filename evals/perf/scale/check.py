"""The simulation held against real small runs on this machine: predicted, seen, and how far apart they are."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from evals.perf.report import markdown, shown
from evals.perf.scale import hosts
from evals.perf.scale.curve import Curve
from evals.perf.scale.pipeline import Plan
from evals.perf.scale.real import Played, RealRun, Seen
from evals.perf.scale.result import Result, simulate
from evals.perf.scale.table import Hosts, Judging, LearnerPoint, Learning, Serving, Spread, Sync, Table, Workload

PARALLEL = (1, 4, 16, 64)
_CROWD, _EPISODES = 16, 8
_ROWS: dict[str, tuple[Callable[[Result], float], Callable[[Seen], float]]] = {
    "samples/s": (lambda result: result.samples_per_second, lambda seen: seen.samples_per_second),
    "turns/s": (lambda result: result.turns_per_second, lambda seen: seen.turns_per_second),
    "learner busy": (lambda result: result.use.learning, lambda seen: seen.learning),
    "judges busy": (lambda result: result.use.judging, lambda seen: seen.judging),
    "staleness, mean": (lambda result: result.staleness_mean, lambda seen: mean_age(seen)),
}


class Checked(msgspec.Struct, kw_only=True):
    """One prediction and what became of it."""

    family: str
    parallel: int
    figure: str
    seen: float
    ahead: float
    """Predicted from the environments' times and their crowding as measured before the run."""
    after: float
    """Computed from the step and reset times of the run itself: what is left is the pipeline's own logic."""


def mean_age(seen: Seen) -> float:
    """Of the samples that were trained, in updates."""
    return sum(age * count for age, count in seen.staleness.items()) / seen.staleness.total()


def check(
    families: Sequence[str], parallels: Sequence[int], played: Played, say: Callable[[str], None]
) -> list[Checked]:
    """Run each family with so many environments at once, and predict it."""
    checked = []
    for family in families:
        say(f"{family}: steps and resets, alone and {_CROWD} at once")
        host = asyncio.run(hosts.measure(family, turns=played.turns, episodes=_EPISODES, crowd=_CROWD))
        for parallel in parallels:
            say(f"{family}: {parallel} in parallel, for real")
            batch = batch_of(parallel, played)
            with tempfile.TemporaryDirectory(prefix="claw-scale-") as directory:
                seen = asyncio.run(RealRun(Path(directory), family, parallel, batch, played).run())
            ahead = predict(host, parallel, batch, played)
            after = predict(seen.times.hosts(parallel), parallel, batch, played)
            checked += [
                Checked(
                    family=family,
                    parallel=parallel,
                    figure=name,
                    seen=observed(seen),
                    ahead=predicted(ahead),
                    after=predicted(after),
                )
                for name, (predicted, observed) in _ROWS.items()
            ]
            _hold(seen, played)
    return checked


def _hold(seen: Seen, played: Played) -> None:
    if max(seen.staleness) > played.max_staleness:
        raise AssertionError(f"staleness {max(seen.staleness)} in a real run, above {played.max_staleness}")


def batch_of(parallel: int, played: Played) -> int:
    """Samples an update: two groups, or as many as keep all environments busy while one batch is trained."""
    return max(2, parallel // (played.group * played.max_staleness)) * played.group


def predict(host: Hosts, parallel: int, batch: int, played: Played) -> Result:
    """The same run, simulated."""
    one = Spread(median=1.0)
    table = Table(
        title="played",
        origin="measured",
        serving=Serving(max_sequences=played.slots, kv_tokens=1e12, points=[]),
        learning=Learning(points=[LearnerPoint(gpus=1, tokens_per_second=1e12)], fixed_s=played.update_s),
        sync=Sync(seconds=0.0),
        judging=Judging(seconds=Spread(median=played.verdict_s), workers=played.judges),
        hosts=host,
        workload=Workload(
            group_size=played.group,
            turns=Spread(median=played.turns),
            prompt=one,
            response=played.response,
            observation=one,
        ),
    )
    plan = Plan(
        gpus=2,
        learning=1,
        environments=parallel,
        batch=batch,
        max_staleness=played.max_staleness,
        warm=played.warm,
        updates=20 * played.updates,
    )
    return simulate(table, plan, curve=Curve(played.token_s, 0.0, 0.0, 0.0))


def page(checked: Sequence[Checked]) -> str:
    """A row a figure: what was seen, and both predictions with their relative errors."""
    rows = [
        [
            each.family,
            str(each.parallel),
            each.figure,
            shown(each.seen),
            *(
                f"{shown(value)} ({100 * (value / each.seen - 1):+.0f} %)" if each.seen else shown(value)
                for value in pair
            ),
        ]
        for each in checked
        for pair in [(each.ahead, each.after)]
    ]
    head = ["environments", "in parallel", "figure", "real", "predicted", "with the run's own step times"]
    return markdown(head, rows)

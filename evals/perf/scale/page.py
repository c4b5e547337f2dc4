"""What the simulation says, for people."""

from collections.abc import Callable, Sequence

from evals.perf.report import markdown, shown
from evals.perf.scale.curve import fit_curve, fit_errors
from evals.perf.scale.result import Result
from evals.perf.scale.sweep import Sweeps
from evals.perf.scale.table import Table

_COLUMNS: dict[str, Callable[[Result], str]] = {
    "mode": lambda result: result.plan.mode,
    "GPUs": lambda result: str(result.plan.gpus),
    "serve / learn / judge": lambda result: f"{result.plan.serving} / {result.plan.learning} / {result.plan.judging}",
    "environments": lambda result: str(result.plan.environments),
    "batch": lambda result: str(result.plan.batch),
    "max_staleness": lambda result: str(result.plan.max_staleness),
    "samples/s": lambda result: shown(result.samples_per_second),
    "limit": lambda result: shown(result.limit),
    "tokens/s": lambda result: shown(result.tokens_per_second),
    "serving": lambda result: percent(result.use.serving),
    "hosts": lambda result: percent(result.use.hosts),
    "judging": lambda result: percent(result.use.judging),
    "learning": lambda result: percent(result.use.learning),
    "environments busy": lambda result: percent(result.use.environments),
    "staleness: mean, p95, max": lambda result: (
        f"{result.staleness_mean:.2f}, {result.staleness_p95}, {result.staleness_max}"
    ),
    "held up by": lambda result: result.bottleneck,
}


def percent(share: float) -> str:
    """
    >>> percent(0.123)
    '12 %'
    """
    return f"{share * 100:.0f} %"


def table_of(results: Sequence[Result]) -> str:
    """A row a simulation."""
    return markdown(list(_COLUMNS), [[column(result) for column in _COLUMNS.values()] for result in results])


def origin(table: Table) -> str:
    """Where the figures come from, and how well the engine's curve fits them."""
    curve = fit_curve(table.serving.points)
    worst = max(abs(error) for error in fit_errors(curve, table.serving.points))
    fitted = (
        f"Engine, fitted to {len(table.serving.points)} points (at most {percent(worst)} off): a step takes "
        f"{shown(1e3 * curve.base)} ms + {shown(1e6 * curve.sequence)} µs a sequence "
        f"+ {shown(1e9 * curve.cached)} ns a token of context, a token of prompt {shown(1e6 * curve.prefill)} µs."
    )
    whose = "from a table, not measured here" if table.origin == "published" else "measured on this machine"
    return "\n".join([f"{table.title}: figures {whose}.", "", *(f"- {line}" for line in table.sources), "", fitted])


def page(table: Table, sweeps: Sweeps) -> str:
    """The whole page."""
    best = max(sweeps.split, key=lambda result: result.samples_per_second)
    parts = [
        origin(table),
        "By GPUs, shared out by the closed form:",
        table_of(sweeps.gpus),
        "By environments:",
        table_of(sweeps.environments),
        "By the bound on staleness:",
        table_of(sweeps.staleness),
        "By the split of the GPUs:",
        table_of(sweeps.split),
        f"Best split of {best.plan.gpus} GPUs among those simulated: {best.plan.serving} serve, {best.plan.learning} "
        f"learn, {best.plan.judging} judge.",
    ]
    return "\n\n".join(parts) + "\n"

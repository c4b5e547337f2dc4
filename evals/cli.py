"""`claw eval BENCHMARK --model MODEL`: what the command does once its line is parsed."""

import asyncio
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from claw_envs.core.endpoints import is_endpoint
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.settings import read_settings
from evals.benchmark import Options
from evals.models import open_policy
from evals.results import EpisodeResult, read_results
from evals.runner import EPISODES, SUMMARY, run_benchmark
from evals.summary import Summary
from evals.table import table

BENCHMARKS = {
    "terminal": ("evals.terminal:TerminalOptions", "evals.terminal:open_benchmark"),
    "personal": ("evals.personal.evaluate:PersonalOptions", "evals.personal.evaluate:open_benchmark"),
    "aime": ("evals.toolcall.maths:AimeOptions", "evals.toolcall.benchmark:open_benchmark"),
    "math500": ("evals.toolcall.maths:Math500Options", "evals.toolcall.benchmark:open_benchmark"),
    "gsm8k": ("evals.toolcall.maths:Gsm8kOptions", "evals.toolcall.benchmark:open_benchmark"),
    "bfcl": ("evals.toolcall.bfcl:BfclOptions", "evals.toolcall.benchmark:open_benchmark"),
    "miniwob": ("evals.gui.options:MiniwobOptions", "evals.gui.benchmark:open_benchmark"),
    "webapps": ("evals.gui.options:WebappsOptions", "evals.gui.benchmark:open_benchmark"),
    "osworld": ("evals.gui.options:OsworldOptions", "evals.gui.benchmark:open_benchmark"),
    "swebench": ("evals.swe.benchmark:SweOptions", "evals.swe.benchmark:open_benchmark"),
    "toolcall": ("evals.toolcall.benchmark:ToolCallOptions", "evals.toolcall.benchmark:open_benchmark"),
}
"""Name -> its `Options` and its `open_benchmark(tasks, options, *, local)`, an asynchronous context manager."""


def main_eval(
    benchmark: str,
    *,
    model: str,
    out: Path | None = None,
    tasks: str | None = None,
    parallel: int = 8,
    settings: Mapping[str, str | int | float | None] | None = None,
) -> Summary:
    """Run a benchmark, print its table, and leave `episodes.jsonl` and `summary.json` in `out`.

    Args:
        benchmark: a key of `BENCHMARKS`.
        model: `smollm2`, a local Hugging Face directory, `URL#MODEL`, or `sglang+URL#DIRECTORY` (or `vllm+`).
        out: folder of the results, the same again resumes; None is `results/BENCHMARK-MODEL`.
        tasks: task set or path; None is the benchmark's own.
        parallel: episodes at a time.
        settings: values of the benchmark's `Options`; strings are read as what the option is, None leaves the default.

    Raises:
        UserError: for an unknown benchmark, option, model or task set, or a folder that holds other results.
        InfrastructureError: if no episode could be scored.
    """
    options = read_options(benchmark, settings or {})
    folder = out or Path("results") / f"{benchmark}-{_slug(model)}"
    summary = asyncio.run(_run(benchmark, model, folder, tasks, parallel, options))
    print(table(summary))
    print(f"\nwritten to {folder / SUMMARY}; `claw view {folder}` makes a page of the episodes")
    if summary.score is None:
        first = next(iter(read_results(folder / EPISODES).values()))
        raise InfrastructureError(f"no episode could be scored: {first.error}")
    return summary


def read_options(benchmark: str, settings: Mapping[str, str | int | float | None]) -> Options:
    """The options of `benchmark` with `settings` put in.

    Raises:
        UserError: if there is no such benchmark or option, or a value does not fit.
    """
    if benchmark not in BENCHMARKS:
        raise UserError(f"no benchmark {benchmark!r}; there are: {', '.join(BENCHMARKS)}")
    kind = _named(BENCHMARKS[benchmark][0])
    given = {key: value for key, value in settings.items() if value is not None}
    if unknown := sorted(given.keys() - set(kind.__struct_fields__)):
        raise UserError(
            f"{benchmark} has no setting {', '.join(unknown)}; there are: {', '.join(kind.__struct_fields__)}"
        )
    options: Options = read_settings(given, kind, said=benchmark, strict=False)
    if options.samples < 1 or (options.limit is not None and options.limit < 1):
        raise UserError("samples and limit must be at least 1")
    if options.timeout <= 0:
        raise UserError("timeout must be above 0 seconds")
    return options


async def _run(benchmark: str, model: str, out: Path, tasks: str | None, parallel: int, options: Options) -> Summary:
    done = 0

    def show(result: EpisodeResult) -> None:
        nonlocal done
        done += 1
        figure = f"score {result.score:.2f}" if result.score is not None else result.error
        print(f"[{done}] {result.task_id}/{result.sample_index} {result.status} {figure}", file=sys.stderr, flush=True)

    opened = _named(BENCHMARKS[benchmark][1])(tasks, options, local=not is_endpoint(model))
    async with opened as ready:
        count = len(ready.tasks)
        print(f"{count * options.samples} episodes of {count} tasks with {model}", file=sys.stderr, flush=True)
        async with open_policy(model, parallel=parallel, timeout=options.timeout) as policy:
            return await run_benchmark(
                ready,
                policy,
                out=out,
                parallel=parallel,
                samples=options.samples,
                seed=options.seed,
                model=model,
                on_result=show,
            )


def _named(dotted: str) -> Any:
    module, name = dotted.split(":")
    return getattr(import_module(module), name)


def _slug(model: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", model.removeprefix("http://").removeprefix("https://")).strip("-.")

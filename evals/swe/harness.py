"""SWE-bench's own harness on the predictions of a run, in a process of its own, and its verdicts beside ours.

What it judged it keeps under `harness/` in the results' folder and does not judge again. A harness that is stopped half
way may leave a container; the next call on the same folder removes it. Not covered: its runs in the cloud.
"""

import asyncio
import hashlib
import importlib.util
import math
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from claw_envs.core.episode import Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec, Task
from claw_envs.sandbox.docker.build import find_image
from claw_envs.sandbox.docker.engine import Engine, connect
from claw_envs.swe.instance import instance_of
from evals.results import EpisodeResult
from evals.summary import Difference, Official
from evals.swe.predictions import predictions_file, read_predictions, write_instances

PROGRAM = "swebench.harness.run_evaluation"
_SPARE = 600.0
"""Seconds beside its tests that an instance may take, and the harness beside its instances."""
_NAMED = 3
"""Missing images that an error names."""


class _Report(msgspec.Struct):
    """What the harness writes at the end, as far as it is read here."""

    resolved_ids: list[str]
    unresolved_ids: list[str]
    empty_patch_ids: list[str]
    error_ids: list[str]


async def prepare(tasks: Sequence[Task]) -> None:
    """Make sure that the harness can judge `tasks`: that it is installed, and has an engine with their images.

    Images of tasks that have a folder to build from are built and given the name that the harness asks for.

    Raises:
        UserError: if something is missing, with what to do.
        InfrastructureError: if the engine is lost.
    """
    if importlib.util.find_spec("swebench") is None:
        raise UserError('harness=true needs SWE-bench\'s harness: pip install "claw-envs[swe]"')
    engine = await asyncio.to_thread(connect)
    missing = [name for task in tasks if (name := await _missing(engine, task))]
    if missing:
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        raise UserError(
            f"harness=true needs the images of all tasks; the engine has not {', '.join(missing[:_NAMED])}{more}: "
            f"`docker pull {missing[0]}`, or run without it"
        )


async def judge(folder: Path, results: Sequence[EpisodeResult], tasks: Sequence[Task], *, workers: int) -> Official:
    """Run the harness on the predictions files in `folder` and compare.

    Args:
        folder: of the results.
        results: what our verdicts are.
        tasks: of the results.
        workers: instances at a time.

    Raises:
        InfrastructureError: if the harness fails.
    """
    place = folder / "harness"
    place.mkdir(exist_ok=True)
    official = Official(program=PROGRAM, n=0, resolved=0, agree=0)
    for index in sorted({result.sample_index for result in results}):
        judged = [each for each in results if each.sample_index == index and each.status is not Status.ABORTED]
        if not judged:
            continue
        ids = {result.task_id for result in judged}
        of_sample = [task for task in tasks if task.id in ids]
        verdicts = await run(place, predictions_file(folder, index), of_sample, workers=workers)
        for result in judged:
            ours, theirs = verdict_of(result), verdicts.get(result.task_id, "no verdict")
            official.n += 1
            official.resolved += theirs == "resolved"
            official.agree += ours == theirs
            if ours != theirs:
                official.differences.append(
                    Difference(task_id=result.task_id, sample_index=index, ours=ours, official=theirs)
                )
    return official


def verdict_of(result: EpisodeResult) -> str:
    """Our verdict in the harness's words.

    They are `resolved`, `unresolved`, `empty_patch`, and `error` for a patch that does not apply or whose tests run
    over.

    >>> from claw_envs.core.episode import Status
    >>> verdict_of(EpisodeResult(task_id="a", sample_index=0, seed=0, status=Status.FAILED, report={"patch": ""}))
    'empty_patch'
    """
    if result.report.get("resolved"):
        return "resolved"
    if not result.report.get("patch"):
        return "empty_patch"
    return "error" if result.report.get("status") in ("patch_failed", "timed_out") else "unresolved"


async def _missing(engine: Engine, task: Task) -> str:
    """The image that the harness needs for `task` where the engine has it not; what can be built is."""
    image = instance_of(task).image
    if not image:
        raise UserError(f"harness=true needs an image for every task, and {task.id} names none")
    if task.sandbox is not None and task.sandbox.build is not None:
        found = await find_image(engine, task.sandbox)
        name, _, tag = image.rpartition(":") if ":" in image.rpartition("/")[2] else (image, "", "latest")
        await engine.call(engine.api.tag, found["Id"], name, tag)
        return ""
    try:
        await find_image(engine, SandboxSpec(image=image))
    except UserError:
        return image
    return ""


async def run(place: Path, predictions: Path, tasks: Sequence[Task], *, workers: int) -> dict[str, str]:
    """The harness's verdicts on the predictions of one sample, by instance."""
    run_id = run_name(predictions)
    dataset = place / f"instances-{predictions.stem}.jsonl"
    write_instances(dataset, tasks)
    model = _forget_stale(place / "logs" / "run_evaluation" / run_id, predictions)
    timeout = math.ceil(max(task.verifier.timeout for task in tasks))
    options = {
        "dataset_name": dataset.name,
        "predictions_path": f"../{predictions.name}",
        "run_id": run_id,
        "max_workers": workers,
        "timeout": timeout,
        "report_dir": ".",
    }
    command = [sys.executable, "-m", PROGRAM]
    command += [text for name, value in options.items() for text in (f"--{name}", str(value))]
    limit = math.ceil(len(tasks) / workers) * (timeout + _SPARE) + _SPARE
    log = place / f"{predictions.stem}.log"
    await _process(command, place, log, limit=limit)
    return _verdicts(place / f"{model}.{run_id}.json", log)


def run_name(predictions: Path) -> str:
    """The same for the same file, and another for every other: the harness names its containers by it."""
    return f"claw-{hashlib.sha256(str(predictions.resolve()).encode()).hexdigest()[:12]}"


def _verdicts(file: Path, log: Path) -> dict[str, str]:
    try:
        report = msgspec.json.decode(file.read_bytes(), type=_Report)
    except (FileNotFoundError, msgspec.DecodeError) as error:
        raise InfrastructureError(f"the official harness left no report ({error}); see {log}") from error
    named = {
        "resolved": report.resolved_ids,
        "unresolved": report.unresolved_ids,
        "empty_patch": report.empty_patch_ids,
        "error": report.error_ids,
    }
    return {instance: verdict for verdict, instances in named.items() for instance in instances}


def _forget_stale(logs: Path, predictions: Path) -> str:
    """Remove what the harness keeps of other patches than those it is given; returns the model's name in its paths."""
    model = ""
    for row in read_predictions(predictions):
        model = row["model_name_or_path"].replace("/", "__")
        kept = logs / model / row["instance_id"]
        patch = kept / "patch.diff"
        if kept.exists() and not (patch.exists() and patch.read_bytes() == row["model_patch"].encode()):
            shutil.rmtree(kept)
    return model


async def _process(command: Sequence[str], place: Path, log: Path, *, limit: float) -> None:
    engine = await asyncio.to_thread(connect)
    output = await asyncio.to_thread(log.open, "wb")
    with output:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=place,
            env=os.environ | {"DOCKER_HOST": engine.url},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(limit):
                code = await process.wait()
        except TimeoutError:
            raise InfrastructureError(f"the official harness did not end within {limit:.0f} s; see {log}") from None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
    if code:
        said = (await asyncio.to_thread(log.read_text, errors="replace")).strip()
        raise InfrastructureError(
            f"the official harness ended with exit code {code} ({said.rpartition(chr(10))[2][:300]}); see {log}"
        )

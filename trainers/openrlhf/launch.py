"""The trainer `openrlhf`: Ray, OpenRLHF's own program with this package's episodes and advantages, and a clean end.

Ray is started here and shut down again, or joined where `RAY_ADDRESS` says so; then only the run's own actors end with
it. Nodes that join need this package installed, and the run directory on storage that all of them share.
"""

import contextlib
import os
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from claw_envs.core.errors import InfrastructureError, UserError
from trainers.config import Config
from trainers.openrlhf import hooks
from trainers.openrlhf.checks import Flags
from trainers.openrlhf.entry import check, enter
from trainers.openrlhf.flags import command_line, engines, flags_of, gpus, prompt_count, share
from trainers.openrlhf.plan import describe
from trainers.openrlhf.prompts import FILE, check_prompts, task_ids, write_prompts
from trainers.openrlhf.settings import passed_on, to_environment
from trainers.policies.model import resolve_model
from trainers.ray.environments import start_environments
from trainers.run import RunDirectory

LOG = "openrlhf.log"
_SPARE_CPUS = 8
"""Cores that Ray is told of beyond those of models and environments, where it is told of GPUs that are not there."""


def train(config: Config, run: Path, *, resume: bool = False, dry_run: bool = False) -> None:
    """Train until `config.updates` updates are done.

    Args:
        config: settings.
        run: directory of the run.
        resume: go on from the last checkpoint, or from the beginning where there is none yet.
        dry_run: only check the settings and print what would run; nothing is started or written.

    Raises:
        UserError: for settings or a directory that cannot work, another version of OpenRLHF, too few GPUs.
        InfrastructureError: if a process of the run was lost or failed; the run can be resumed.
    """
    flags = flags_of(config, run, model=resolve_model(config.model), resume=resume)
    words = command_line(flags)
    warnings = ["not installed here, so that its own parser has not read the flags"]
    if hooks.is_installed() or not dry_run:
        hooks.check_version()
        warnings = check(words)
    ids = task_ids(config)
    directory = RunDirectory(run, resume=resume, begun_by=FILE)
    if resume:
        check_prompts(run, prompt_count(config, flags))
    if dry_run:
        sys.stdout.write(describe(config, flags, ids, warnings, run))
        return
    if not resume:
        directory.write_config(config)
        write_prompts(run, ids, prompt_count(config, flags), seed=config.seed)
    try:
        with _logged(run / LOG), _ray(config, run, flags):
            _train(config, run, words)
    except UserError:
        if not resume and not directory.checkpoints.exists():
            _discard(run)
        raise


def _discard(run: Path) -> None:
    for name in ("config.toml", FILE, LOG):
        (run / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # what else lies there is not ours
        run.rmdir()


class _Tee:
    """A stream of the terminal that is kept in a file as well."""

    def __init__(self, stream: TextIO, file: TextIO) -> None:
        self._stream, self._file = stream, file

    def write(self, text: str) -> int:
        self._file.write(text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def _logged(path: Path) -> Iterator[None]:
    """What the run prints, its workers' lines included, goes to the terminal and to `path`."""
    with (
        open(path, "a", buffering=1) as file,
        contextlib.redirect_stdout(_Tee(sys.stdout, file)),  # type: ignore[type-var]
        contextlib.redirect_stderr(_Tee(sys.stderr, file)),  # type: ignore[type-var]
    ):
        yield


@contextlib.contextmanager
def _ray(config: Config, run: Path, flags: Flags) -> Iterator[None]:
    """Ray, with what every worker needs to know, until the end of the block."""
    import ray

    from trainers.openrlhf.hooks import cpu

    variables = {"TOKENIZERS_PARALLELISM": "true", "NCCL_DEBUG": "WARN", "RAY_ENABLE_ZERO_COPY_TORCH_TENSORS": "1"}
    variables |= cpu.environment() if config.cluster.cpu else {}
    variables = {name: os.environ.get(name, value) for name, value in variables.items()} | to_environment(config, run)
    os.environ.update(variables)
    hooks.install()
    runtime = {"worker_process_setup_hook": "trainers.openrlhf.hooks.install", "env_vars": variables}
    needed = sum(gpus(flags).values())
    address = os.environ.get("RAY_ADDRESS")
    if address:
        variables |= passed_on()
    options: dict[str, Any] = {}
    if not address:
        options = {"address": "local", "include_dashboard": False}
        # or an engine whose actor was killed would go on by itself
        os.environ.setdefault("RAY_process_group_cleanup_enabled", "1")
    if config.cluster.cpu and not address:
        cores = needed + config.cluster.env_actors * config.cluster.env_cpus + _SPARE_CPUS
        options |= {"num_gpus": needed, "num_cpus": int(cores)}
    try:
        ray.init(runtime_env=runtime, **options)
    except ConnectionError as error:
        raise UserError(f"RAY_ADDRESS={address}: no Ray answers there: {error}") from None
    try:
        there = int(ray.cluster_resources().get("GPU", 0))
        if there < needed and not address:
            said = f"the run needs {needed} GPUs ({_listed(gpus(flags))}), this machine has {there}"
            raise UserError(said if there else f"{said}: a small model can be tried with cluster.cpu = true")
        if there < needed:
            sys.stderr.write(f"claw: waiting for {needed} GPUs ({_listed(gpus(flags))}), Ray has {there} so far\n")
        yield
    finally:
        ray.shutdown()


def _train(config: Config, run: Path, words: list[str]) -> None:
    import ray

    try:
        with start_environments(config, parallel=share(config.rollout.parallel, config) * engines(config)):
            enter(words)
    except ray.exceptions.RayError as error:
        with open(run / LOG, "a") as log:
            traceback.print_exception(error, file=log)
        raise _end_of(error, run) from None


def _end_of(error: BaseException, run: Path) -> UserError | InfrastructureError:
    """One line for what ended the run, out of the error that the driver was given for what happened in a worker."""
    import ray

    while isinstance(error, ray.exceptions.RayTaskError) and isinstance(error.cause, BaseException):
        error = error.cause
    lines = str(error).strip().splitlines() or [""]
    if isinstance(error, UserError):
        return UserError(lines[0])
    lost = re.search(r"class_name: (\w+)", str(error))
    kind = "" if isinstance(error, InfrastructureError) else f"{type(error).__name__}: "
    said = f"{kind}{lost.group(1) + ': ' if lost else ''}{lines[0]}"
    saved = (run / "checkpoints" / "_actor" / "latest").exists()
    then = "--resume goes on from the last checkpoint" if saved else "there was no checkpoint yet"
    return InfrastructureError(f"OpenRLHF stopped: {said} (all it said: {run / LOG}; {then})")


def _listed(roles: dict[str, int]) -> str:
    return ", ".join(f"{role} {count}" for role, count in roles.items())

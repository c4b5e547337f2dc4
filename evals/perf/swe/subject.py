"""What the episodes are about: a generated repository, an image and a recipe of it, and a task whose tests do nothing.

The repository's only commit has fixed content, author and date. Its id is the same everywhere, so that what was built
of it, an image or a layer, is found again.
"""

import asyncio
import hashlib
import io
import os
import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

import msgspec

from claw_envs.core.task import Task
from claw_envs.swe.instance import REPOSITORY, SANDBOX, Instance, task_of
from evals.perf.measure import Failed
from evals.perf.process import docker

LABEL = "claw-envs.perf=swe"
"""Of the image, and so of every container that anybody makes of it."""
_BEGUN = "begun at"
_ROWS = 143
_IN_FOLDER = 100
_WHO = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Perf"), ("EMAIL", "perf@example.invalid"), ("DATE", "2020-01-01T00:00:00Z"))
}
_TEST = "tests/test_nothing.py::test_nothing"
_EVAL_SCRIPT = f"""#!/bin/bash
set -uxo pipefail
cd {REPOSITORY}
: '>>>>> Start Test Output'
date '+{_BEGUN} %s.%N'
echo 'PASSED {_TEST}'
: '>>>>> End Test Output'
"""
_RECIPE = """python = "system"
[repository]
path = "{path}"
"""
_DOCKERFILE = """FROM {image}
LABEL {label}
USER root
COPY repository {directory}
RUN git config --system --add safe.directory '*' && git -C {directory} status
"""


class Subject(NamedTuple):
    """A generated repository."""

    folder: Path
    """On the host; holds the folder `repository`, and `recipe.toml` for it."""
    commit: str

    @property
    def repository(self) -> Path:
        """The checkout."""
        return self.folder / "repository"

    def instance(self, image: str) -> Instance:
        """An issue that every patch resolves; its repository lies in `image` too, where that is not empty."""
        return Instance(
            instance_id="claw__perf-1",
            repo="claw/perf",
            base_commit=self.commit,
            problem_statement="Measure.",
            patch="",
            test_patch="",
            eval_script=_EVAL_SCRIPT,
            log_parser="parse_log_pytest",
            fail_to_pass=(_TEST,),
            pass_to_pass=(),
            image=image,
        )

    def task(self, image: str) -> Task:
        """The issue's task: in the image, and where there is none by the recipe."""
        sandbox = msgspec.structs.replace(SANDBOX, image=image or None)
        metadata = {} if image else {"recipe": str(self.folder / "recipe.toml")}
        return task_of(self.instance(image), sandbox, metadata=metadata)


def generate(folder: Path, *, files: int) -> Subject:
    """Make a repository of so many files of 10 kB in `folder`, packed and with a fresh index."""
    repository = folder / "repository"
    for number in range(files):
        part = repository / "package" / f"part_{number // _IN_FOLDER:02d}"
        if number % _IN_FOLDER == 0:
            part.mkdir(parents=True)
        (part / f"module_{number:04d}.py").write_text(_module(number), encoding="utf-8")
    (folder / "recipe.toml").write_text(_RECIPE.format(path=repository), encoding="utf-8")
    _git(repository, "init", "--quiet", "--initial-branch=main")
    _git(repository, "-c", "core.compression=1", "add", "--all")
    _git(repository, "commit", "--quiet", "--message=Begin")
    _git(repository, "repack", "-adq", "--window=0")
    return Subject(folder, _git(repository, "rev-parse", "HEAD").strip())


def _module(number: int) -> str:
    """10 kB that compress like code: by half."""
    digits = hashlib.shake_128(str(number).encode()).hexdigest(22 * _ROWS)
    rows = (f'value_{row:03d} = "{digits[44 * row : 44 * row + 44]}"  # of {number}\n' for row in range(_ROWS))
    return "".join(rows)


def _git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    env = {**os.environ, **_WHO, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


def begun_at(log: str) -> float:
    """When the tests began, in seconds since 1970.

    Raises:
        Failed: if their log does not say so.
    """
    for line in log.splitlines():
        if line.startswith(_BEGUN):
            return float(line.removeprefix(_BEGUN))
    raise Failed(f"the tests did not begin: {log[-80:]!r}")


async def build_image(subject: Subject, base: str) -> str:
    """The name of an image of `subject` on top of `base`, which is built where it is not there yet.

    Raises:
        Failed: if there is no such base, or it cannot be built.
    """
    base_id = await docker("image", "inspect", "--format", "{{.Id}}", base)
    name = f"claw-envs/perf-swe:{subject.commit[:12]}-{base_id.strip().rpartition(':')[2][:12]}"
    if not await docker("images", "--quiet", name):
        context = await asyncio.to_thread(_context, subject, base)
        try:
            await docker("build", "--tag", name, "-", stdin=context)
        except Failed as error:
            raise Failed(f"the image with the repository cannot be built: {error}", final=True) from error
    return name


def _context(subject: Subject, base: str) -> bytes:
    dockerfile = _DOCKERFILE.format(image=base, label=LABEL, directory=REPOSITORY).encode()
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as tar:
        info = tarfile.TarInfo("Dockerfile")
        info.size = len(dockerfile)
        tar.addfile(info, io.BytesIO(dockerfile))
        tar.add(subject.repository, arcname="repository")
    return context.getvalue()

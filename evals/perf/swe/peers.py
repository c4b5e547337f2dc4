"""Who takes part, and what each needs: an interpreter, the image with the repository or the layers of it."""

import sys
from pathlib import Path
from typing import Any

import msgspec

from claw_envs.swe.recipe import sandbox_of
from evals.perf.entries import Entry, make_entry
from evals.perf.process import Program
from evals.perf.swe.subject import LABEL, Subject, build_image

INSTALL = "python3 -m venv peers && peers/bin/pip install mini-swe-agent swebench"
_SCRIPTS = Path(__file__).parent / "contestants"

ENTRIES = (
    make_entry("clone", "git clone, bash on a pipe", _SCRIPTS / "clone.py", "clone", baseline=True),
    make_entry("namespace", "claw-envs namespace", _SCRIPTS / "claw.py", "namespace", ours=True),
    make_entry("docker", "claw-envs docker", _SCRIPTS / "claw.py", "docker", ours=True),
    make_entry("mini-docker", "mini-swe-agent docker, swebench", _SCRIPTS / "minisweagent.py", "docker"),
)


async def programs(entry: Entry, *, python: str, image: str, subject: Subject) -> list[Program]:
    """How to run `entry`: one way. Its image or layers are made where they are not there yet.

    Args:
        image: what that of the repository is built on.

    Raises:
        Failed: if its image cannot be made.
    """
    settings: dict[str, Any] = {}
    if entry.kind == "docker":
        image = await build_image(subject, image)
        settings["label"] = LABEL
    else:
        image = ""
    task = subject.task(image)
    if entry.contestant.ours:
        await sandbox_of(task, entry.kind)
    settings |= {
        "task": msgspec.to_builtins(task),
        "row": subject.instance(image).row(),
        "repository": str(subject.repository),
    }
    return [Program(python if entry.peer else sys.executable, entry.script, entry.kind, settings)]

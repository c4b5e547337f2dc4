"""Who takes part, and what each needs: an interpreter, an image.

verifiers 0.4.0 has no Python tool; its harnesses run code in its runtimes, which are measured where they are local. The
tool that earlier versions had is measured too, out of an interpreter of its own.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evals.perf.entries import Entry
from evals.perf.measure import Contestant
from evals.perf.process import Program, docker
from evals.perf.toolcall.scenario import LIMIT

INSTALL = "python3 -m venv peers && peers/bin/pip install gem-llm==0.1.0 verifiers==0.4.0"
INSTALL_OLD = "python3 -m venv peers-old && peers-old/bin/pip install verifiers==0.3.0 prime-sandboxes==0.2.35"


def _entry(name: str, title: str, script: str, kind: str, *, ours: bool = False, baseline: bool = False) -> Entry:
    contestant = Contestant(name=name, title=title, ours=ours, baseline=baseline)
    return Entry(contestant, Path(__file__).parent / "contestants" / script, kind)


ENTRIES = (
    _entry("exec", "`exec` in this process", "bare.py", "exec", baseline=True),
    _entry("pipe", "python on a pipe", "bare.py", "pipe", baseline=True),
    _entry("subprocess", "subprocess.run", "bare.py", "subprocess", baseline=True),
    _entry("namespace", "claw-envs namespace", "claw.py", "namespace", ours=True),
    _entry("namespace-env", "claw-envs namespace, environment", "claw.py", "env-namespace", ours=True),
    _entry("docker", "claw-envs docker", "claw.py", "docker", ours=True),
    _entry("docker-env", "claw-envs docker, environment", "claw.py", "env-docker", ours=True),
    _entry("gem", "gem", "gem.py", "none"),
    _entry("gem-bubblewrap", "gem bubblewrap", "gem.py", "bwrap"),
    _entry("verifiers", "verifiers subprocess", "verifiers.py", "subprocess"),
    _entry("verifiers-docker", "verifiers docker", "verifiers.py", "docker"),
    _entry("verifiers-pythonenv", "verifiers PythonEnv, service played", "pythonenv.py", "local"),
)


async def programs(entry: Entry, *, pythons: Sequence[str], image: str, crowd: int) -> list[Program]:
    """How to run `entry`: a peer in each of the interpreters that may have it.

    Raises:
        Failed: if its image is not there.
    """
    settings: dict[str, Any] = {"limit": LIMIT, "episodes": crowd}
    if entry.kind.endswith("docker"):
        await docker("image", "inspect", "--format", "{{.Id}}", image)
        label = "verifiers.run" if entry.peer else "claw-envs.perf"
        settings |= {"image": image, "label": f"{label}=perf-{os.getpid()}"}
    return [
        Program(python, entry.script, entry.kind, settings) for python in (pythons if entry.peer else [sys.executable])
    ]

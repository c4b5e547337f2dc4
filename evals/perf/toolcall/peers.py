"""Who takes part, and what each needs: an interpreter, an image.

verifiers 0.4.0 has no Python tool; its harnesses run code in its runtimes, which are measured where they are local. The
tool that earlier versions had is measured too, out of an interpreter of its own.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evals.perf.entries import Entry, make_entry
from evals.perf.process import Program, docker
from evals.perf.toolcall.scenario import LIMIT

INSTALL = "python3 -m venv peers && peers/bin/pip install gem-llm==0.1.0 verifiers==0.4.0"
INSTALL_OLD = "python3 -m venv peers-old && peers-old/bin/pip install verifiers==0.3.0 prime-sandboxes==0.2.35"
_SCRIPTS = Path(__file__).parent / "contestants"

ENTRIES = (
    make_entry("exec", "`exec` in this process", _SCRIPTS / "bare.py", "exec", baseline=True),
    make_entry("pipe", "python on a pipe", _SCRIPTS / "bare.py", "pipe", baseline=True),
    make_entry("subprocess", "subprocess.run", _SCRIPTS / "bare.py", "subprocess", baseline=True),
    make_entry("namespace", "claw-envs namespace", _SCRIPTS / "claw.py", "namespace", ours=True),
    make_entry("namespace-env", "claw-envs namespace, environment", _SCRIPTS / "claw.py", "env-namespace", ours=True),
    make_entry("docker", "claw-envs docker", _SCRIPTS / "claw.py", "docker", ours=True),
    make_entry("docker-env", "claw-envs docker, environment", _SCRIPTS / "claw.py", "env-docker", ours=True),
    make_entry("gem", "gem", _SCRIPTS / "gem.py", "none"),
    make_entry("gem-bubblewrap", "gem bubblewrap", _SCRIPTS / "gem.py", "bwrap"),
    make_entry("verifiers", "verifiers subprocess", _SCRIPTS / "verifiers.py", "subprocess"),
    make_entry("verifiers-docker", "verifiers docker", _SCRIPTS / "verifiers.py", "docker"),
    make_entry("verifiers-pythonenv", "verifiers PythonEnv, service played", _SCRIPTS / "pythonenv.py", "local"),
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

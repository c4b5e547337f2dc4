"""Who takes part, and what each needs: an interpreter, an image.

SWE-ReX's containers run its server, so they need an image with `swe-rex` in it: the base image with a virtual
environment on top, built once a version. The host's certificates go into it, for networks that have their own.
"""

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from evals.perf.entries import Entry, make_entry
from evals.perf.measure import Failed
from evals.perf.process import Program, docker

INSTALL = "python3 -m venv peers && peers/bin/pip install swe-rex mini-swe-agent"
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_DOCKERFILE = """FROM {image}
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv
RUN python3 -m venv /opt/swerex && /opt/swerex/bin/pip install --no-cache-dir swe-rex=={version}
ENV PATH=/opt/swerex/bin:$PATH
"""
_SCRIPTS = Path(__file__).parent / "contestants"

ENTRIES = (
    make_entry("pipe", "bash on a pipe", _SCRIPTS / "bare.py", "pipe", baseline=True),
    make_entry("subprocess", "subprocess.run", _SCRIPTS / "bare.py", "subprocess", baseline=True),
    make_entry("namespace", "claw-envs namespace", _SCRIPTS / "claw.py", "namespace", ours=True),
    make_entry("namespace-pool", "claw-envs namespace, pool", _SCRIPTS / "claw.py", "pool-namespace", ours=True),
    make_entry("namespace-env", "claw-envs namespace, environment", _SCRIPTS / "claw.py", "env-namespace", ours=True),
    make_entry("docker", "claw-envs docker", _SCRIPTS / "claw.py", "docker", ours=True),
    make_entry("docker-pool", "claw-envs docker, pool", _SCRIPTS / "claw.py", "pool-docker", ours=True),
    make_entry("docker-env", "claw-envs docker, environment", _SCRIPTS / "claw.py", "env-docker", ours=True),
    make_entry("swerex-local", "SWE-ReX local", _SCRIPTS / "swerex.py", "local"),
    make_entry("swerex-threads", "SWE-ReX local, a thread each", _SCRIPTS / "swerex.py", "local-threads"),
    make_entry("swerex-docker", "SWE-ReX docker", _SCRIPTS / "swerex.py", "docker"),
    make_entry("mini-local", "mini-swe-agent local", _SCRIPTS / "minisweagent.py", "local"),
    make_entry("mini-bubblewrap", "mini-swe-agent bubblewrap", _SCRIPTS / "minisweagent.py", "bubblewrap"),
    make_entry("mini-docker", "mini-swe-agent docker", _SCRIPTS / "minisweagent.py", "docker"),
)


async def programs(entry: Entry, *, python: str, image: str) -> list[Program]:
    """How to run `entry`: one way.

    Raises:
        Failed: if its image is not there and cannot be made.
    """
    settings: dict[str, Any] = {}
    if "docker" in entry.kind:
        await docker("image", "inspect", "--format", "{{.Id}}", image)
        settings = {"image": image, "label": f"claw-envs.perf={os.getpid()}"}
        if entry.script.name == "swerex.py":
            settings["swerex_image"] = await _swerex_image(python, image)
    return [Program(python if entry.peer else sys.executable, entry.script, entry.kind, settings)]


async def _swerex_image(python: str, image: str) -> str:
    version = _version(python)
    tag = f"claw-envs/perf-swerex:{version}"
    if not await docker("images", "--quiet", tag):
        try:
            await docker("build", "--tag", tag, "-", stdin=_context(image, version))
        except Failed as error:
            raise Failed(f"the image with its server cannot be built: {error}", final=True) from error
    return tag


def _version(python: str) -> str:
    code = "from importlib.metadata import version; print(version('swe-rex'))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed("not installed (no package swe-rex)", final=True)
    return done.stdout.strip()


def _context(image: str, version: str) -> bytes:
    files = {
        "Dockerfile": _DOCKERFILE.format(image=image, version=version).encode(),
        "ca-certificates.crt": _CERTIFICATES.read_bytes() if _CERTIFICATES.exists() else b"",
    }
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o644
            tar.addfile(info, io.BytesIO(content))
    return context.getvalue()

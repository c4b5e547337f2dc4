"""Servers in processes of their own: the stand-in, and SGLang where it is installed."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PYTHON = os.environ.get("CLAW_TEST_SGLANG_PYTHON", "")
"""Of an environment with SGLang (docs/engines.md makes one for a CPU), or the URL of a server that may be changed."""
READY_SECONDS = 400
_FLAGS = (
    "--device cpu --attention-backend torch_native --disable-overlap-schedule --mem-fraction-static 0.2 "
    "--max-total-tokens 16384 --sleep-on-idle --host 127.0.0.1"
)


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def stand_in(model: Path) -> Iterator[str]:
    """URL of a stand-in."""
    command = [sys.executable, "-m", "tests.trainers.policies.engines.standin", str(model)]
    root = Path(__file__).parents[4]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdin
        assert process.stdout
        url = process.stdout.readline().strip()
        assert url.startswith("http://")
        yield url
        process.stdin.close()
        process.wait(timeout=60)


@contextmanager
def sglang(model: Path, log: Path) -> Iterator[str]:
    """URL of SGLang."""
    port = free_port()
    command = [PYTHON, "-m", "sglang.launch_server", "--model-path", str(model), "--port", str(port), *_FLAGS.split()]
    environment = os.environ | {"SGLANG_USE_CPU_ENGINE": "1", "OMP_NUM_THREADS": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment, start_new_session=True)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(url, process, log)
        yield url
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=60)


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """SGLang says nowhere that it is ready but here."""
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(url + "/health", timeout=30):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(1)
    raise AssertionError(f"SGLang did not start:\n{log.read_text()[-4000:]}")

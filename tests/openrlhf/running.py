"""A run of `claw train` in a process of its own: what it says, its workers, and what it leaves in its directory."""

import csv
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": str(ROOT),  # tools of an environment are looked up by dotted name
    "RAY_USAGE_STATS_ENABLED": "0",
}
_DEADLINE = 900.0
_ENDING = 60.0


class Run:
    """Started by its constructor."""

    def __init__(self, family: str, settings: Path, directory: Path, *words: str) -> None:
        """
        Args:
            settings: TOML file.
            directory: of the run.
            words: further ones for the command line.
        """
        self.directory = directory
        self.lines: list[str] = []
        extensions = str(Path(sys.prefix) / "torch_extensions")
        environment = {"TORCH_EXTENSIONS_DIR": extensions} | os.environ | _ENVIRONMENT
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"  # ninja
        environment.pop("RAY_ADDRESS", None)
        # a shell's background job ignores interrupts, and so would all that it starts
        command = ["env", "--default-signal=INT", str(Path(sys.executable).with_name("claw"))]
        command += ["train", family, "--trainer", "openrlhf"]
        self._process = subprocess.Popen(
            [*command, "--config", str(settings), "--run", str(directory), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
            cwd=directory.parent,
        )
        self._late = threading.Timer(_DEADLINE, self._process.kill)
        self._late.start()

    def wait_for(self, text: str) -> None:
        """Read on until a line holds `text`."""
        assert self._process.stdout
        for line in self._process.stdout:
            self.lines.append(line.rstrip())
            if text in line:
                return
        raise AssertionError(f"the run ended without saying {text!r}:\n" + self.tail())

    def end(self) -> int:
        """Read to the end.

        Returns:
            Its exit code.
        """
        assert self._process.stdout
        self.lines += [line.rstrip() for line in self._process.stdout]
        return self._process.wait()

    def tail(self, count: int = 60) -> str:
        """The last lines that it said."""
        return "\n".join(self.lines[-count:])

    def first_step(self) -> int:
        """The first update that it told of."""
        return next(int(found.group(1)) for line in self.lines if (found := re.search(r"Global step (\d+):", line)))

    def below(self) -> list[Any]:
        """All processes that it has started, and those that these have."""
        import psutil

        return psutil.Process(self._process.pid).children(recursive=True) if self._process.poll() is None else []

    def workers(self, name: str) -> list[Any]:
        """Processes of the Ray actors of a class, without what one of them is just starting: a copy until it runs."""
        found = {process.pid: process for process in self.below() if _title(process).startswith(f"ray::{name}")}
        return [process for process in found.values() if _parent(process) not in found]

    def interrupt(self) -> None:
        """As Ctrl-C does."""
        self._process.send_signal(signal.SIGINT)

    def stop(self) -> None:
        """End it where it still runs, with all that it started."""
        below = self.below()
        if self._process.poll() is None:
            self.interrupt()
            try:
                self._process.communicate(timeout=_ENDING)
            except subprocess.TimeoutExpired:
                for process in (*below, self._process):
                    process.kill()
        self._late.cancel()
        if self._process.stdout:
            self._process.stdout.close()

    def batches(self) -> list[dict[str, float]]:
        """Rows of `batches.csv`."""
        with open(self.directory / "batches.csv") as file:
            return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]

    def dumps(self) -> list[dict[str, np.ndarray[Any, Any]]]:
        """Batches as they were handed to the learner, in order."""
        files = sorted((self.directory / "batches").glob("*.npz"), key=lambda path: int(path.stem))
        return [dict(np.load(file)) for file in files]


def _title(process: Any) -> str:
    import psutil

    try:
        return "".join(process.cmdline())
    except psutil.Error:  # it has ended
        return ""


def _parent(process: Any) -> int | None:
    import psutil

    try:
        return int(process.ppid())
    except psutil.Error:
        return None


def none_is_left(processes: list[Any]) -> bool:
    """Whether all of them end, within a while."""
    import psutil

    _, left = psutil.wait_procs(processes, timeout=_ENDING)
    for process in left:
        process.kill()
    return not left

"""The floor: a clone of the repository a episode and a bash on a pipe in it, without isolation, time-outs or limits.

A verdict is another clone, the patch applied to it, and the evaluation script; nobody reads what the tests say.
"""

import itertools
import os
import shutil
import subprocess
import time
from typing import Any, NamedTuple

from claw_envs.swe.instance import REPOSITORY
from evals.perf.terminal.contestants.bare import Pipe

PACKAGES: list[str] = []


def make(kind: str, settings: dict[str, Any]) -> "Clone":
    """The contestant; `settings` has the path of the repository and the row of its instance."""
    return Clone(settings["repository"], settings["row"]["eval_script"])


class Episode(NamedTuple):
    """A clone and its bash."""

    directory: str
    bash: "subprocess.Popen[bytes]"


class Clone:
    """See the module."""

    def __init__(self, repository: str, script: str) -> None:
        self._repository, self._script = repository, script
        self._numbers = itertools.count()
        self._pipe = Pipe()

    def start(self) -> Episode:
        """A clone and a bash in it."""
        episode = Episode(self._clone(), self._pipe.start())
        self.step(episode, f"cd {episode.directory}")
        return episode

    def _clone(self) -> str:
        directory = os.path.abspath(f"clone-{next(self._numbers)}")
        subprocess.run(["git", "clone", "--quiet", self._repository, directory], check=True)
        return directory

    def step(self, episode: Episode, command: str) -> str:
        """A line into its pipe, output until a mark."""
        return self._pipe.step(episode.bash, command)

    def verdict(self, episode: Episode) -> tuple[float, float, str]:
        """When it was asked for, when the patch was there, and the tests' log."""
        submitted = time.time()
        patch = self.step(episode, "git add -A && git diff --cached")
        patched, directory = time.time(), self._clone()
        subprocess.run(["git", "-C", directory, "apply"], input=patch.encode(), check=True)
        script = self._script.replace(REPOSITORY, directory)
        log = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
        shutil.rmtree(directory)
        return submitted, patched, log

    def reset(self, episode: Episode) -> Episode:
        """Another clone."""
        self.stop(episode)
        return self.start()

    def stop(self, episode: Episode) -> None:
        """Kill the bash and remove the clone."""
        self._pipe.stop(episode.bash)
        shutil.rmtree(episode.directory, ignore_errors=True)

    def end(self, episode: Episode) -> None:
        """The same."""
        self.stop(episode)

    def containers(self) -> list[str]:
        """None."""
        return []

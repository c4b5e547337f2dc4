"""mini-swe-agent's Docker environment as its own SWE-bench runner sets it up, and the official harness for the verdict.

A step is a `docker exec`. There is no reset: it is `cleanup`, which goes on in the background, and a new container. The
verdict is `run_instance` of SWE-bench's harness with the staged changes. Everything blocks: each episode has a thread.
"""

import itertools
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import docker
import yaml
from minisweagent.config import builtin_config_dir
from minisweagent.environments.docker import DockerEnvironment
from swebench.harness.constants import LOG_TEST_OUTPUT, RUN_EVALUATION_LOG_DIR
from swebench.harness.run_evaluation import run_instance
from swebench.harness.utils import make_test_spec

PACKAGES = ["mini-swe-agent", "swebench"]
_MODEL = "perf"
_TIMEOUT = 60


def make(kind: str, settings: dict[str, Any]) -> "Mini":
    """The contestant; `settings` has the row of the instance."""
    return Mini(settings["row"])


class Mini:
    """See the module."""

    def __init__(self, row: dict[str, Any]) -> None:
        config = yaml.safe_load((builtin_config_dir / "benchmarks" / "swebench.yaml").read_text())["environment"]
        del config["environment_class"]
        self._arguments = {**config, "image": row["image"]}
        self._spec = make_test_spec(row)
        self._client = docker.from_env()
        self._runs = itertools.count()
        self._containers: set[str] = set()

    def start(self) -> DockerEnvironment:
        """A container that sleeps."""
        environment = DockerEnvironment(**self._arguments)
        self._containers.add(environment.container_id)
        return environment

    def step(self, environment: DockerEnvironment, command: str) -> str:
        """One command."""
        return str(environment.execute({"command": command})["output"])

    def verdict(self, environment: DockerEnvironment) -> tuple[float, float, str]:
        """When it was asked for, when the patch was there, and the tests' log."""
        name, run, submitted = self._spec.instance_id, f"perf-{next(self._runs)}", time.time()
        patch = self.step(environment, "git add -A && git diff --cached")
        patched = time.time()
        prediction = {"instance_id": name, "model_name_or_path": _MODEL, "model_patch": patch}
        done = run_instance(self._spec, prediction, self._client, run, _TIMEOUT)
        if not done or not done[1][name]["resolved"]:
            raise RuntimeError(f"the verdict is {done}")
        log = (Path(RUN_EVALUATION_LOG_DIR) / run / _MODEL / name / LOG_TEST_OUTPUT).read_text()
        return submitted, patched, log

    def reset(self, environment: DockerEnvironment) -> DockerEnvironment:
        """Clean up and start."""
        self.stop(environment)
        return self.start()

    def stop(self, environment: DockerEnvironment) -> None:
        """Clean up; the container ends later."""
        self._containers.discard(environment.container_id)
        environment.cleanup()

    def end(self, environment: DockerEnvironment) -> None:
        """Clean up, and wait until the container is removed."""
        self.stop(environment)
        with suppress(docker.errors.NotFound):  # it has gone already
            self._client.api.wait(environment.container_id, condition="removed")

    def containers(self) -> list[str]:
        """Those of the open environments."""
        return sorted(self._containers)

"""mini-swe-agent's environments: a new process for each command, blocking, so that each episode gets a thread.

`local`: a shell on the host. `bubblewrap`: a new bubblewrap a command over a directory of the episode's. `docker`:
`docker exec` into a container that sleeps. There is no reset: it is `cleanup` and a new environment.
"""

from typing import Any

PACKAGES = ["mini-swe-agent"]


def make(kind: str, settings: dict[str, Any]) -> "Mini":
    """The contestant `kind`; `settings` has the image, and the label of the containers."""
    if kind == "local":
        from minisweagent.environments.local import LocalEnvironment

        return Mini(LocalEnvironment, {})
    if kind == "bubblewrap":
        from minisweagent.environments.extra.bubblewrap import BubblewrapEnvironment

        return Mini(BubblewrapEnvironment, {})
    from minisweagent.environments.docker import DockerEnvironment

    return Mini(DockerEnvironment, {"image": settings["image"], "run_args": ["--rm", "--label", settings["label"]]})


class Mini:
    """Environments of one class."""

    def __init__(self, environment: Any, arguments: dict[str, Any]) -> None:
        self._environment = environment
        self._arguments = arguments
        self._containers: set[str] = set()

    def start(self) -> Any:
        """A new environment; only that of Docker starts something."""
        environment = self._environment(**self._arguments)
        if hasattr(environment, "container_id"):
            self._containers.add(environment.container_id)
        return environment

    def step(self, environment: Any, command: str) -> str:
        """One command."""
        return str(environment.execute({"command": command})["output"])

    def reset(self, environment: Any) -> Any:
        """Clean up and start; a container ends later, in the background."""
        self.stop(environment)
        return self.start()

    def stop(self, environment: Any) -> None:
        """Clean up, where the environment has something to clean up."""
        if hasattr(environment, "container_id"):
            self._containers.discard(environment.container_id)
        if hasattr(environment, "cleanup"):
            environment.cleanup()

    def containers(self) -> list[str]:
        """Those of the open environments."""
        return sorted(self._containers)

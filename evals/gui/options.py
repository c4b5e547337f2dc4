"""Settings of the benchmarks on a screen."""

import re
from typing import Any, ClassVar, Literal

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from evals.benchmark import Options


class GuiOptions(Options):
    """Settings that all of them have; None leaves it to the environment.

    Attributes:
        max_steps, step_timeout: override every task's own limit of agent messages, and of seconds for one of them.
        actions: what the agent is told to write: `elements`, `computer_use`, `computer_13` or `pyautogui`.
        coordinates: `grid` (0 to 999 both ways) or `pixels`.
        images: how many of the last screenshots the agent is shown; 0 for text alone.
        observe: parts of the observation, with commas: `axtree`, `screenshot`.
        max_characters: of the accessibility tree as text.
        size: of the screen, as `1280x720`.
        executable: path of the browser.
        record: which episodes leave an animated GIF in the results' folder: the `first` of each task, `all` or `none`.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    """The task set where none is named."""
    figure: ClassVar[Literal["success", "score"]] = "success"
    """What of the environment's report is an episode's score."""

    max_steps: int | None = None
    step_timeout: float | None = None
    actions: Literal["elements", "computer_use", "computer_13", "pyautogui"] | None = None
    coordinates: Literal["grid", "pixels"] | None = None
    images: int | None = None
    observe: str | None = None
    max_characters: int | None = None
    size: str | None = None
    executable: str | None = None
    record: Literal["first", "all", "none"] = "first"
    max_new_tokens: int = 1024

    def labels(self, task: Task) -> dict[str, str]:
        """What the results of `task` are grouped by."""
        feasible = "feasible" if task.metadata.get("feasible", True) else "infeasible"
        return {"domain": str(task.metadata.get("domain", "other")), "kind": feasible}

    def env_kwargs(self) -> dict[str, Any]:
        """Arguments for the environment: what was set.

        Raises:
            UserError: if a value cannot be read.
        """
        given = {
            "max_steps": self.max_steps,
            "step_timeout": self.step_timeout,
            "actions": self.actions,
            "coordinates": self.coordinates,
            "images": self.images,
            "observe": _names(self.observe),
            "max_characters": self.max_characters,
            "size": _size(self.size),
            "executable": self.executable,
        }
        return {name: value for name, value in given.items() if value is not None}


class MiniwobOptions(GuiOptions):
    """Settings of `miniwob`: every sample of a page is another seed of it."""

    name: ClassVar[str] = "miniwob"
    source: ClassVar[str] = "miniwob"

    samples: int = 5

    def labels(self, task: Task) -> dict[str, str]:
        """The first word of a page's name: what is to be done there, as in `click-button`."""
        return {"domain": task.id.removeprefix("miniwob/").partition("-")[0]}


class WebappsOptions(GuiOptions):
    """Settings of `webapps`."""

    name: ClassVar[str] = "webapps"
    source: ClassVar[str] = "webapps"


class OsworldOptions(GuiOptions):
    """Settings of `osworld`.

    Attributes:
        backend: `desktop` (a sandbox on this machine) or `osworld` (machines that speak its protocol).
        sandbox: of a desktop: `namespace` or `docker`.
        machines: `docker`, URLs with commas, a JSON or TOML file that lists them, or the dotted name of a provider.
        desktop_env: path of the Python that has OSWorld's own package, for evaluators that need it.
        cache: folder with the files that tasks download.
        password: of the machines' user, for set-up commands that give it to sudo.
    """

    name: ClassVar[str] = "osworld"
    source: ClassVar[str] = "desktop"
    figure: ClassVar[Literal["success", "score"]] = "score"

    backend: Literal["desktop", "osworld"] | None = None
    sandbox: Literal["namespace", "docker"] | None = None
    machines: str | None = None
    desktop_env: str | None = None
    cache: str | None = None
    password: str | None = None

    def env_kwargs(self) -> dict[str, Any]:
        """See `GuiOptions.env_kwargs`."""
        given = {
            "backend": self.backend or ("osworld" if self.machines else None),
            "sandbox": self.sandbox,
            "machines": _machines(self.machines),
            "desktop_env": self.desktop_env,
            "cache": self.cache,
            "password": self.password,
        }
        return super().env_kwargs() | {name: value for name, value in given.items() if value is not None}


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",")]


def _size(text: str | None) -> list[int] | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d+)x(\d+)", text.strip())
    if found is None:
        raise UserError(f"size must be written like 1280x720, got {text!r}")
    return [int(found[1]), int(found[2])]


def _machines(text: str | None) -> str | list[str] | None:
    return _names(text) if text and "://" in text else text

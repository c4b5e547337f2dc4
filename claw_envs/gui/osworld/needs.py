"""What a task needs that may not be there: files of the web, the web itself, an account, another's evaluators."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from claw_envs.core.task import Task
from claw_envs.gui.osworld.cache import FileCache
from claw_envs.gui.osworld.format import KIND, ConfigStep, Plan, plan_of
from claw_envs.gui.osworld.getters import GETTERS
from claw_envs.gui.osworld.metrics import METRICS
from claw_envs.gui.osworld.setup.steps import ACCOUNT_STEPS, BROWSER_STEPS, STEPS

CLOUD = "cloud_file"
_FETCHES = re.compile(
    r"\b(?:wget|curl)\b|\bapt(?:-get)?\s+(?:-\S+\s+)*(?:install|update|upgrade)\b|\bpip3?\s+install\b|\bgit\s+clone\s+http"
)
_SHOWN = 60


class Given(NamedTuple):
    """What the user has."""

    cache: FileCache | None = None
    desktop_env: str | None = None
    """The Python that has OSWorld's own package; None where there is none."""
    web: bool = False
    """Whether the machines reach the web; ours never do."""


def missing(task: Task, given: Given) -> list[str]:
    """What `task` needs and does not have, in words; empty where it can run."""
    if task.verifier.kind != KIND:
        return []
    plan = plan_of(task)
    return [*dict.fromkeys((*_of_steps(task, plan, given), *_of_checks(task, plan, given)))]


def files_of(parameters: dict[str, Any], *, where: str) -> list[tuple[str, str]]:
    """`(url, name)` of the files that a step or a getter downloads.

    Args:
        where: key of the URL: `url` in a step's `files`, `path` in a getter.
    """
    if "files" in parameters:
        return [(str(file[where]), str(file["path"])) for file in parameters["files"]]
    if parameters.get("multi"):
        return [(str(url), str(name)) for url, name in zip(parameters[where], parameters["dest"], strict=True)]
    return [(str(parameters[where]), str(parameters["dest"]))]


def _of_steps(task: Task, plan: Plan, given: Given) -> Iterator[str]:
    for step in (*plan.config, *plan.postconfig):
        if step.type == "download":
            yield from _uncached(task, files_of(step.parameters, where="url"), given)
        elif step.type in ACCOUNT_STEPS:
            yield f"`{step.type}` needs an account with a service on the web"
        elif step.type not in STEPS:
            yield f"there is no step `{step.type}`"
        if not given.web:
            yield from _of_web(step)


def _of_web(step: ConfigStep) -> Iterator[str]:
    if step.type in BROWSER_STEPS:
        url = next((url for urls in step.parameters.values() for url in urls), "a tab")
        yield f"it opens {url} in a browser, and the machine does not reach the web"
    command = step.parameters.get("command", "")
    text = command if isinstance(command, str) else " ".join(map(str, command))
    if _FETCHES.search(text):
        yield f"`{text[:_SHOWN]}` needs the web"


def _of_checks(task: Task, plan: Plan, given: Given) -> Iterator[str]:
    for check in plan.checks:
        if check.metric not in METRICS and given.desktop_env is None:
            yield f"the metric `{check.metric}` is in OSWorld's own package only: name its Python as desktop_env"
        for getter in filter(None, (check.result, check.expected)):
            if getter["type"] == CLOUD:
                yield from _uncached(task, files_of(getter, where="path"), given)
            elif getter["type"] not in GETTERS and given.desktop_env is None:
                yield f"the getter `{getter['type']}` is in OSWorld's own package only: name its Python as desktop_env"


def _uncached(task: Task, files: list[tuple[str, str]], given: Given) -> Iterator[str]:
    for url, name in files:
        if given.cache is None or given.cache.find(url, task=task.id, name=name) is None:
            where = "name a cache folder that has it" if given.cache is None else "it is not in the cache folder"
            yield f"it downloads {url}: {where}"

"""Which screen and which scenario a task has. Their code is named here, and imported where a task first needs it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from claw_envs.core.errors import UserError
from claw_envs.core.survey import good_tasks
from claw_envs.core.task import Task
from claw_envs.gui.options import Backend, Options
from claw_envs.gui.scenario import Scenario
from claw_envs.gui.screen import Screen
from claw_envs.lookup import lookup

_TAKES_CODE: tuple[Backend, ...] = ("desktop", "osworld")

_SCREENS: dict[Backend, str] = {
    "browser": "claw_envs.gui.browser.screen:BrowserScreen",
    "desktop": "claw_envs.gui.desktop.screen:DesktopScreen",
    "osworld": "claw_envs.gui.osworld.screen:OsworldScreen",
}
_SCENARIOS: dict[str, tuple[str, tuple[Backend, ...]]] = {
    "miniwob": ("claw_envs.gui.miniwob.scenario:MiniwobScenario", ("browser",)),
    "webapp": ("claw_envs.gui.webapps.scenario:WebappScenario", ("browser",)),
    "osworld": ("claw_envs.gui.osworld.scenario:OsworldScenario", ("desktop", "osworld")),
}
"""Kind of a task's verifier -> its scenario, and where that can take place, the first by default."""


class Place(NamedTuple):
    """Where an episode takes place."""

    kind: str
    """Of the task's verifier."""
    backend: Backend

    @property
    def takes_code(self) -> bool:
        """Whether code of pyautogui is carried out there."""
        return self.backend in _TAKES_CODE


def place_of(task: Task, options: Options) -> Place:
    """Where `task` takes place.

    Raises:
        UserError: if its kind is not known, or the backend that the user chose cannot have it.
    """
    kind = task.verifier.kind
    if kind not in _SCENARIOS:
        raise UserError(f"task {task.id}: no verifier {kind!r} here; there are: {', '.join(_SCENARIOS)}")
    backends = _SCENARIOS[kind][1]
    backend = options.backend or ("osworld" if options.machines and "osworld" in backends else backends[0])
    if backend not in backends:
        raise UserError(f"task {task.id} cannot run on the backend {backend}; it runs on: {', '.join(backends)}")
    if backend == "osworld" and not options.machines:
        raise UserError('the backend osworld needs machines=["http://…:5000"], or machines="docker"')
    return Place(kind, backend)


def playable(tasks: Sequence[Task], options: Options) -> list[Task]:
    """The tasks that have all that they need, with a warning that names the others.

    Raises:
        UserError: if none has, a folder is named that does not exist, or machines for tasks that take place on none.
    """
    if all(task.verifier.kind != "osworld" for task in tasks):
        if options.machines:
            raise UserError(
                "machines are for OSWorld's tasks, and here is none: choose tasks=\"desktop\" or OSWorld's own files, "
                "or leave machines out"
            )
        return list(tasks)
    from claw_envs.gui.osworld.cache import open_cache
    from claw_envs.gui.osworld.loader import runnable
    from claw_envs.gui.osworld.needs import Given

    web = options.machines not in (None, "docker")
    given = Given(cache=open_cache(options.cache), desktop_env=options.desktop_env, web=web)
    return good_tasks(runnable(tasks, given), "OSWorld's tasks", stacklevel=4)


class Stage(NamedTuple):
    """What an environment has open for its episodes."""

    place: Place
    screen: Screen
    scenario: Scenario


def open_stage(place: Place, options: Options) -> Stage:
    """A screen and a scenario on it, both not yet opened.

    Raises:
        UserError: if a package is missing that they need.
    """
    settings: dict[Backend, dict[str, Any]] = {
        "browser": {"size": options.size, "executable": options.executable},
        "desktop": {"size": options.size, "sandbox": options.sandbox, "pool": options.pool},
        "osworld": {"size": options.size, "machines": options.machines},
    }
    screen: Screen = lookup(_SCREENS[place.backend], extra="gui")(**settings[place.backend])
    more: dict[str, Any] = {}
    if place.kind == "osworld":
        more = {"desktop_env": options.desktop_env, "cache": options.cache, "password": options.password}
    scenario: Scenario = lookup(_SCENARIOS[place.kind][0], extra="gui")(screen, **more)
    return Stage(place, screen, scenario)

"""Settings of the benchmarks, as a user writes them."""

from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task, VerifierSpec
from evals.cli import read_options
from evals.gui.options import GuiOptions, MiniwobOptions, OsworldOptions, WebappsOptions


@pytest.mark.parametrize(
    ("benchmark", "given", "passed"),
    [
        ("webapps", {}, {}),
        ("miniwob", {"actions": "computer_use", "coordinates": "pixels"}, None),
        (
            "webapps",
            {"images": "2", "observe": "axtree, screenshot"},
            {"images": 2, "observe": ["axtree", "screenshot"]},
        ),
        (
            "webapps",
            {"size": "800x600", "executable": "/opt/chrome"},
            {"size": [800, 600], "executable": "/opt/chrome"},
        ),
        ("webapps", {"max_steps": "3", "step_timeout": "2.5"}, {"max_steps": 3, "step_timeout": 2.5}),
        ("osworld", {"sandbox": "docker"}, {"sandbox": "docker"}),
        ("osworld", {"machines": "docker"}, {"backend": "osworld", "machines": "docker"}),
        ("osworld", {"machines": "my.provider:make"}, {"backend": "osworld", "machines": "my.provider:make"}),
        ("osworld", {"machines": "vms.toml"}, {"backend": "osworld", "machines": "vms.toml"}),
        ("osworld", {"cache": "/files", "password": "pw"}, {"cache": "/files", "password": "pw"}),
        (
            "osworld",
            {"machines": "http://10.0.0.5:5000, http://10.0.0.6:5000", "desktop_env": "/opt/os/bin/python"},
            {
                "backend": "osworld",
                "machines": ["http://10.0.0.5:5000", "http://10.0.0.6:5000"],
                "desktop_env": "/opt/os/bin/python",
            },
        ),
    ],
)
def test_what_is_set_is_passed_to_the_environment(
    benchmark: str, given: dict[str, str], passed: dict[str, Any] | None
) -> None:
    options = read_options(benchmark, given)
    assert isinstance(options, GuiOptions)
    assert options.env_kwargs() == (given if passed is None else passed)


def test_what_each_benchmark_scores_and_how_often() -> None:
    assert (MiniwobOptions().figure, MiniwobOptions().samples) == ("success", 5)
    assert (WebappsOptions().figure, WebappsOptions().samples) == ("success", 1)
    assert (OsworldOptions().figure, OsworldOptions().source) == ("score", "desktop")


@pytest.mark.parametrize(
    ("benchmark", "given", "complaint"),
    [
        ("webapps", {"actions": "mouse"}, "webapps: Invalid enum value 'mouse'"),
        ("webapps", {"machines": "docker"}, "webapps has no setting machines"),
        ("osworld", {"record": "some"}, "there are: first, all, none"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(benchmark: str, given: dict[str, str], complaint: str) -> None:
    with pytest.raises(UserError) as raised:
        read_options(benchmark, given)
    assert complaint in str(raised.value)


def test_a_size_that_cannot_be_read() -> None:
    with pytest.raises(UserError, match="size must be written like 1280x720, got '1280'"):
        WebappsOptions(size="1280").env_kwargs()


def test_tasks_are_grouped() -> None:
    def task(task_id: str, **metadata: Any) -> Task:
        return Task(id=task_id, family="gui", instruction="", verifier=VerifierSpec(kind="webapp"), metadata=metadata)

    mine = task("shop/x", domain="shop", feasible=False)
    assert WebappsOptions().labels(mine) == {"domain": "shop", "kind": "infeasible"}
    assert MiniwobOptions().labels(task("miniwob/click-tab-2", domain="miniwob")) == {"domain": "click"}
    assert OsworldOptions().labels(task("a")) == {"domain": "other", "kind": "feasible"}

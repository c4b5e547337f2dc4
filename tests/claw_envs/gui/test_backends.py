"""Where tasks take place, and that what is named there is there."""

from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task, VerifierSpec
from claw_envs.gui.backends import Place, open_stage, place_of
from claw_envs.gui.options import Options

SIZE = (640, 480)
MACHINES = ["http://127.0.0.1:1"]


def task(kind: str) -> Task:
    return Task(id="t", family="gui", instruction="", verifier=VerifierSpec(kind=kind))


def place(kind: str, **options: Any) -> Place:
    return place_of(task(kind), Options(size=SIZE, **options))


@pytest.mark.parametrize(
    ("kind", "options", "backend"),
    [
        ("webapp", {}, "browser"),
        ("miniwob", {"machines": MACHINES}, "browser"),
        ("osworld", {}, "desktop"),
        ("osworld", {"machines": MACHINES}, "osworld"),
        ("osworld", {"machines": "docker", "backend": "desktop"}, "desktop"),
    ],
)
def test_each_kind_of_task_has_its_place(kind: str, options: dict[str, Any], backend: str) -> None:
    assert place(kind, **options) == (kind, backend)


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("answer", {}, "no verifier 'answer' here; there are: miniwob, webapp, osworld"),
        ("webapp", {"backend": "desktop"}, "runs on: browser"),
        ("osworld", {"backend": "browser"}, "runs on: desktop, osworld"),
        ("osworld", {"backend": "osworld"}, "needs machines="),
    ],
)
def test_impossible_places_are_named(kind: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        place(kind, **options)


@pytest.mark.parametrize(
    ("kind", "backend", "code"),
    [
        ("webapp", "browser", False),
        ("miniwob", "browser", False),
        ("osworld", "desktop", True),
        ("osworld", "osworld", True),
    ],
)
def test_every_place_can_be_opened(chromium: None, kind: str, backend: Any, code: bool) -> None:
    stage = open_stage(Place(kind, backend), Options(size=SIZE, machines=MACHINES))
    assert (stage.screen.size, stage.place.takes_code) == (SIZE, code)

"""Built-in tasks in containers, over the protocol: set up, solved by their experts, and scored, by the whole way."""

import asyncio
from functools import partial

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.gui.desktop.machine import IMAGE
from claw_envs.gui.env import GuiEnv
from claw_envs.gui.osworld.loader import load
from claw_envs.sandbox.docker.engine import connect
from evals.gui.experts.play import Part, play_all
from evals.gui.experts.roster import expert_of

PLAYED = (
    "editor-change-port", "editor-red-text", "editor-save-as", "files-delete", "files-find-the-note", "files-move",
    "files-new-folder", "files-rename", "files-send-by-bluetooth", "files-copy", "terminal-count-errors",
    "terminal-make-executable",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _image() -> None:
    """Skip where there is no engine with the desktop's image."""
    try:
        engine = connect()
        engine.explained(engine.api.inspect_image, IMAGE)
    except (UserError, InfrastructureError) as error:
        pytest.skip(str(error))


def test_experts_solve_them() -> None:
    tasks = [task for task in load() if task.id.removeprefix("desktop-") in PLAYED]
    assert len(tasks) == len(PLAYED)
    experts = {task.id: expert_of(task) for task in tasks}
    make_env = partial(GuiEnv, tasks, observe=("axtree",), machines="docker")
    parts = [Part(task, 0, "expert") for task in tasks]
    players = {"expert": lambda task, seed: experts[task.id]()}
    played = asyncio.run(play_all(make_env, parts, players, parallel=2))
    assert {each.part.task.id: each.why for each in played if not each.solved} == {}

"""A benchmark whose episodes an environment server runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import load_tasks
from evals.cli import main_eval
from tests.claw_envs.server.hosting import Hosted

from ..endpoint import serving
from .solver import Solver

SET = "procedural:heldout"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Hosted]:
    """A server that offers named sets of problems."""
    hosted = Hosted("toolcall", log=tmp_path / "server.log")
    yield hosted
    assert hosted.stop() == 0


def test_the_server_runs_the_episodes(server: Hosted, tmp_path: Path) -> None:
    tasks = load_tasks("toolcall", SET)[:4]
    settings = {"server": server.url, "max_steps": 3, "limit": 4}
    with serving(Solver(tasks, wrong=[tasks[0].id])) as url:
        summary = main_eval("toolcall", model=f"{url}#code", out=tmp_path, tasks=SET, parallel=2, settings=settings)
    assert (summary.score, summary.n, summary.statuses) == (0.75, 4, {"COMPLETED": 4})
    assert summary.metrics["calls"] == 0.75
    assert list(summary.groups["generator"]) == sorted({task.metadata["generator"] for task in tasks})
    assert server.metric("leases_total") == 2


def test_what_the_server_does_not_offer_is_one_clear_line(server: Hosted, tmp_path: Path) -> None:
    for settings, message in (
        ({"tools": "none"}, "this server does not let clients set tools of toolcall"),
        ({}, "does not offer the tasks 'procedural:dev,count=4'"),
    ):
        with pytest.raises(UserError, match=message):
            main_eval(
                "toolcall",
                model="http://127.0.0.1:9/v1#m",
                out=tmp_path,
                tasks="procedural:dev,count=4",
                settings={"server": server.url, **settings},
            )
    with pytest.raises(UserError, match="runs one task set at a time"):
        main_eval("aime", model="http://127.0.0.1:9/v1#m", out=tmp_path, settings={"server": server.url})

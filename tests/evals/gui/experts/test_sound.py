"""`claw tasks validate` of web applications: sound tasks, and ones that are not."""

import shutil
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.gui.webapps.app import builtin_apps
from claw_envs.soundness import validate_tasks
from evals.gui.experts.__main__ import main

pytest.importorskip("jmespath")

TASK = """
instruction = "Cancel the order of the bath towels."
changed = ["orders.o1007.status"]
solution = ['click link "Orders"', 'click link "Order 1007"', {cancel}, 'done']
[[expect]]
path = "orders.o1007.status"
equals = "{status}"
"""
CANCEL = "'click button \"Cancel order\"', 'click button \"Yes, cancel it\"'"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    shutil.copytree(builtin_apps() / "shop", folder, ignore=shutil.ignore_patterns("tasks"))
    (folder / "tasks").mkdir()
    return folder


def test_what_is_sound_and_what_is_not(chromium: None, shop: Path) -> None:
    texts = {
        "good": TASK.format(cancel=CANCEL, status="Cancelled"),
        "free": TASK.format(cancel=CANCEL, status="Processing"),
        "lost": TASK.format(cancel="'click button \"Refund\"'", status="Cancelled"),
        "none": "solution = []",
    }
    for name, text in texts.items():
        (shop / "tasks" / f"{name}.toml").write_text(text)
    reports = {report.task_id: report for report in validate_tasks(str(shop))}
    good, free, lost, none = (reports[f"shop/{name}"] for name in texts)
    assert good.ok
    assert (good.format, good.backend, good.oracle, good.noop) == ("webapp", "browser", 1.0, 0.0)
    assert (free.ok, free.oracle, free.noop) == (False, 0.0, 1.0)
    assert (lost.ok, lost.oracle, lost.noop) == (False, 0.0, 0.0)
    assert "Refund" in str(lost.error)
    assert (none.ok, none.oracle) == (False, None)
    assert "instruction" in str(none.error)


@pytest.mark.parametrize("source", ["miniwob", "miniwob/click-test"])
def test_pages_without_solutions_say_what_can_be_proved(source: str) -> None:
    with pytest.raises(UserError, match=f"{source}: these tasks have no solution .* such as webapps/shop"):
        validate_tasks(source)


def test_so_do_osworld_s_own(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"id": "a", "instruction": "Do it.", "evaluator": {"func": "infeasible"}}')
    with pytest.raises(UserError, match="have no solution"):
        validate_tasks(str(tmp_path))


def test_a_part_of_a_built_in_set(chromium: None) -> None:
    (report,) = validate_tasks("webapps/shop/towels-to-basket")
    assert (report.task_id, report.ok) == ("shop/towels-to-basket", True)


def test_a_solution_that_cannot_be_read_ends_the_table_in_one_line(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "tasks" / "bad.toml").write_text(TASK.format(cancel="'jump'", status="Cancelled"))
    assert main([str(shop), "--random", "0"]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_a_network_is_not_theirs(shop: Path) -> None:
    (shop / "tasks" / "good.toml").write_text(TASK.format(cancel=CANCEL, status="Cancelled"))
    with pytest.raises(UserError, match="leave the network out"):
        validate_tasks(str(shop), network="none")

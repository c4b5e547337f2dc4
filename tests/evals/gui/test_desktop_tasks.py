"""The built-in desktop tasks, on real desktops: what solves them, and what does not.

All episodes are played once, two at a time, and the tests read how they went.
"""

import asyncio
import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import load_tasks
from claw_envs.gui.desktop.machine import check_host
from claw_envs.gui.env import GuiEnv
from claw_envs.gui.osworld.metrics import METRICS
from claw_envs.sandbox.probe import probe
from evals.gui.experts.play import Part, Played, Player, play_all
from evals.gui.experts.script import ScriptedExpert

TASKS = {task.id: task for task in load_tasks("gui", "desktop")}
WRONG = {
    "desktop-calculator-product": ['type "1234+5678\\n"', "done"],
    "desktop-calculator-to-file": ["hotkey alt tab", "wait", 'type "6646"', "hotkey ctrl s", "done"],
    "desktop-editor-change-port": ['fill textbox with "host = localhost\\nport = 9090\\ndebug = no\\n"', "done"],
    "desktop-editor-red-text": ['type "red: "', "hotkey ctrl s", "done"],
    "desktop-editor-replace": [
        'fill textbox with "The color of the sea.\\nNo colour is like it: discolored, colorless.\\n"',
        "hotkey ctrl s",
        "done",
    ],
    "desktop-editor-save-as": [
        "hotkey ctrl shift s",
        'fill textbox "Name" with "plan-2028.txt"',
        'click button "Save"',
        'see window "~/Documents/plan-2028.txt - Mousepad"',
        "done",
    ],
    "desktop-files-copy": [
        'click button "budget.csv"',
        "hotkey ctrl x",
        'fill textbox "Folder location bar" with "/home/agent/Documents"',
        "press enter",
        'see window "Documents"',
        "hotkey ctrl v",
        'see button "budget.csv"',
        "done",
    ],
    "desktop-files-delete": ['click button "build.log"', "press delete", 'click button "Yes"', "done"],
    "desktop-files-find-the-note": [
        'click button "note-2.txt"',
        "press f2",
        'fill textbox in dialog "Rename File" with "dentist.txt"',
        "press enter",
        'see button "dentist.txt"',
        "done",
    ],
    "desktop-files-move": [
        'click button "march.csv"',
        "hotkey ctrl c",
        'click button "Archive"',
        "press enter",
        'see button "february.csv"',
        "hotkey ctrl v",
        'see button "march.csv"',
        "done",
    ],
    "desktop-files-new-folder": [
        "hotkey ctrl shift n",
        'fill textbox in dialog "Creating New Folder" with "Invoices"',
        'click button "OK"',
        'see button "Invoices"',
        "done",
    ],
    "desktop-files-rename": ["fail"],
    "desktop-files-send-by-bluetooth": ['click button "photo.png"', "done"],
    "desktop-spreadsheet-fill-cell": ['click gridcell "B4"', 'type "120\\n"', "hotkey ctrl s", "done"],
    "desktop-spreadsheet-rename-sheet": [
        'click menuitem "Sheet"',
        'click menuitem "Rename Sheet..."',
        'fill textbox in dialog "Rename Sheet" with "Spring 2026"',
        "press enter",
        "hotkey ctrl s",
        "done",
    ],
    "desktop-spreadsheet-sort": [
        "hotkey ctrl home",
        "press right",
        'click button "Sort Ascending"',
        "hotkey ctrl s",
        "done",
    ],
    "desktop-spreadsheet-total": ['click gridcell "B6"', 'type "310\\n"', "hotkey ctrl s", "done"],
    "desktop-spreadsheet-total-to-note": [
        'see menuitem "Sheet"',
        "hotkey alt tab",
        'type "225"',
        "hotkey ctrl s",
        "done",
    ],
    "desktop-terminal-count-errors": ['type "grep -ci error ~/Documents/app.log > ~/Documents/errors.txt\\n"', "done"],
    "desktop-terminal-make-executable": ['type "cd ~/Documents; chmod 755 report.sh; ./report.sh\\n"', "done"],
}
"""By a task's id, a way to get it wrong."""
PLAYERS: dict[str, Player] = {
    "expert": lambda task, seed: ScriptedExpert.for_task(task),
    "nothing": lambda task, seed: ScriptedExpert(["done"]),
    "wrong": lambda task, seed: ScriptedExpert(WRONG[task.id]),
}


@pytest.fixture(scope="module")
def played() -> dict[tuple[str, str], Played]:
    """How each episode went, by player and task."""
    found = next(found for found in probe() if found.backend == "namespace")
    if not found.usable:
        pytest.skip(found.detail)
    try:
        check_host()
    except UserError as error:
        pytest.skip(str(error))
    parts = [Part(task, 0, player) for task in TASKS.values() for player in PLAYERS]
    make_env = partial(GuiEnv, list(TASKS.values()), observe=("axtree",))
    results = asyncio.run(play_all(make_env, parts, PLAYERS, parallel=2))
    return {(each.part.player, each.part.task.id): each for each in results}


@pytest.mark.parametrize("task_id", TASKS)
def test_the_expert_solves_it(played: dict[tuple[str, str], Played], task_id: str) -> None:
    assert played["expert", task_id].solved, played["expert", task_id].why


@pytest.mark.parametrize("task_id", TASKS)
def test_doing_nothing_and_doing_it_wrong_do_not(played: dict[tuple[str, str], Played], task_id: str) -> None:
    for player in ("nothing", "wrong"):
        assert not played[player, task_id].solved
        assert "stuck" not in played[player, task_id].why  # it was wrong, not lost


@pytest.mark.parametrize(
    ("cell", "formula", "right"),
    [
        ("B6", "of:=SUM([.B2:.B5])", True),
        ("B6", "of:=[.$B$2]+[.B3]+[.B4]+[.B5]", True),
        ("B6", "of:=310", False),
        ("C6", "of:=SUM([.B2:.B5])", False),
        ("B7", "of:=SUM([.B2:.B5])", False),
    ],
)
def test_a_total_counts_in_its_cell_and_as_a_formula(cell: str, formula: str, right: bool, tmp_path: Path) -> None:
    task = TASKS["desktop-spreadsheet-total"]
    (check,) = task.verifier.options["checks"]
    empty = '<table:table-cell table:number-columns-repeated="{}"/>'.format(1 if cell[0] == "B" else 2)
    above = "" if cell[1] == "6" else f"<table:table-row>{empty * 2}</table:table-row>"
    total = f'<table:table-cell table:formula="{formula}" office:value="310"/>'
    row = f"{above}<table:table-row>{empty}{total}</table:table-row>"
    text = (task.folder() / "sales.fods").read_text().replace("</table:table>", f"{row}</table:table>")
    (tmp_path / "Documents").mkdir()
    (tmp_path / "Documents/sales.fods").write_text(text)
    ran = subprocess.run(
        ["bash", "-c", check["result"]["command"]],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"HOME": str(tmp_path)},
    )
    assert METRICS[check["metric"]](ran.stdout, check["expected"]["rules"]) == float(right)


def test_they_cover_many_applications_and_what_cannot_be_done() -> None:
    domains = {task.metadata["domain"] for task in TASKS.values()}
    assert domains == {"files", "editor", "terminal", "calculator", "spreadsheet", "multi_apps"}
    assert len(TASKS) >= 16
    assert sum(not task.metadata["feasible"] for task in TASKS.values()) >= 2

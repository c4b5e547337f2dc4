"""Loads tool-call tasks: procedural problems, public sets of questions, a file of one's own, function-calling tests.

A source is `procedural[:…]` (see `claw_envs.toolcall.procedural.source`), the name of a public set, `SET:path` for a
local copy of it, the path of a JSON-lines or parquet file, or `bfcl:CATEGORY`.
"""

from importlib import import_module
from pathlib import Path

from claw_envs.core.errors import UserError
from claw_envs.core.rows import read_rows
from claw_envs.core.task import Task
from claw_envs.toolcall.data import questions
from claw_envs.toolcall.data.sets import SETS
from claw_envs.toolcall.procedural import source as procedural


def load(source: str | None = None) -> list[Task]:
    """Load the tasks that `source` names; the default set of procedural problems where it is None.

    Raises:
        UserError: if there is no such set or file, or a row of it is no question with an answer.
    """
    name, _, rest = (source or "procedural").partition(":")
    if name == "procedural":
        return procedural.tasks_of(rest)
    if name == "bfcl":
        tasks: list[Task] = import_module("claw_envs.toolcall.bfcl.tasks").load(rest)
        return tasks
    if name in SETS:
        rows = read_rows(_file(rest, name)) if rest else SETS[name].rows(name)
        return list(questions.tasks_of(rows, name))
    path = _file(str(source), "")
    return list(questions.tasks_of(read_rows(path), path.stem))


def _file(named: str, name: str) -> Path:
    path = Path(named)
    if path.is_file():
        return path
    if name:
        raise UserError(f"{name}:{named}: there is no file {named}")
    raise UserError(
        f"no tool-call task set {named!r}: name procedural, {', '.join(SETS)}, bfcl:CATEGORY or an existing file"
    )

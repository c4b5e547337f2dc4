"""SWE tasks from wherever they lie: a public set, a file of rows, or a folder of a SWE-bench 5 task repo.

A source is the name of a set (`verified`), `SET:path` for a local copy of it, the path of a `.jsonl`, `.json` or
`.parquet` file, or a folder. Of rows, a part may be chosen as Python slices: `verified[:50]`. One bad task does not
hide the rest.
"""

import os
import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from claw_envs.core.errors import UserError
from claw_envs.core.rows import Row, read_rows
from claw_envs.core.survey import Reader, Survey, good_tasks, read_all
from claw_envs.core.task import Task
from claw_envs.core.tasksets import builtin
from claw_envs.swe.formats import rows as swe_bench
from claw_envs.swe.formats import task_repo
from claw_envs.swe.formats.sets import SETS, RowReader, reader_of

_PART = re.compile(r"(?P<name>[^\[]*)\[(?P<start>\d*):(?P<stop>\d*)\]")
_SUFFIXES = (".jsonl", ".json", ".parquet")


class _Source(NamedTuple):
    """What the user named: a set, a path, or both, and which of its rows."""

    name: str
    path: str
    rows: slice


def recognises(source: str) -> bool:
    """Whether `source` names SWE tasks, and not terminal ones."""
    source, _ = _split(source)
    path = Path(source).expanduser()
    if path.is_dir():
        return bool(task_repo.folders(path))
    if path.suffix == ".jsonl" and path.is_file():
        return any(key.startswith("repo") for key in next(read_rows(path), {}))
    return path.suffix in (".json", ".parquet") or source.partition(":")[0] in SETS


def load(source: str | None = None) -> list[Task]:
    """Load tasks.

    Of several the good ones are loaded, with a warning that names the others.

    Args:
        source: see the module; None is the built-in set.

    Raises:
        UserError: if there is none, or none can be loaded.
    """
    return good_tasks(survey(source), source)


def survey(source: str | None = None, *, recipe: Path | None = None) -> Survey:
    """All tasks of `source` that can be loaded, and why the others cannot.

    Args:
        source: see the module; None is the built-in set.
        recipe: for rows of SWE-bench that have none of their own.

    Raises:
        UserError: if there is none of either, or the source cannot be read.
    """
    if source is None:
        return _folder(builtin("swe"))
    try:
        found = _survey(_parse(source), recipe)
    except OSError as error:
        raise UserError(f"{source}: cannot be read: {error}") from None
    if not (found.tasks or found.faults):
        raise UserError(f"{source}: no task there")
    return found


def _split(source: str) -> tuple[str, slice]:
    """A source without the brackets behind it, and the rows that they choose."""
    part = _PART.fullmatch(source)
    if not part or Path(source).exists():
        return source, slice(None)
    return part["name"], slice(*(int(bound) if bound else None for bound in (part["start"], part["stop"])))


def _parse(source: str) -> _Source:
    source, rows = _split(source)
    name, colon, path = source.partition(":")
    if name in SETS:
        if colon and not path:
            raise UserError(f"{source}: name a file after the colon, or leave the colon out for the hub's copy")
        return _Source(name, path, rows)
    return _Source("", source, rows)


def _survey(got: _Source, recipe: Path | None) -> Survey:
    chosen = SETS.get(got.name)
    if chosen is not None and not got.path:
        rows = islice(chosen.rows(got.name), got.rows.start, got.rows.stop)
        return read_all(_readers(rows, chosen.read, None, recipe))
    path = Path(os.path.expanduser(got.path))
    if path.is_dir() and chosen is None and got.rows == slice(None):
        return _folder(path)
    if path.is_file() and path.suffix in _SUFFIXES:
        rows = islice(read_rows(path), got.rows.start, got.rows.stop)
        return read_all(_readers(rows, chosen and chosen.read, path.parent, recipe))
    if path.exists():
        raise UserError(f"{path}: rows, and parts of them, lie in a {', '.join(_SUFFIXES)} file")
    raise UserError(
        f"no SWE task set or path {got.path!r}: name {', '.join(SETS)}, a file of rows, or a folder of a task repo"
    )


def _folder(root: Path) -> Survey:
    folders = task_repo.folders(root)
    if not folders:
        raise UserError(f"{root}: no task there; a task's folder has a task.yaml and a tests.json")
    tasks, faults = read_all((folder.name, partial(task_repo.read, folder)) for folder in folders)
    if folders != [root]:
        tasks = [task for task in tasks if task.metadata.get("split") != task_repo.DEPRECATED]
    return Survey(tasks, faults)


def _readers(rows: Iterable[Row], read: RowReader | None, folder: Path | None, recipe: Path | None) -> Iterator[Reader]:
    """What reads each row; where no format is given, its columns tell it."""
    for number, row in enumerate(rows, 1):
        named = row.get("instance_id")
        chosen = read or reader_of(row)
        known = partial(swe_bench.read, folder=folder, recipe=recipe) if chosen is swe_bench.read else chosen
        yield named if isinstance(named, str) else f"row {number}", partial(known, row)

"""A folder of a SWE-bench 5 task repo, read without `swebench`.

A task's folder holds `task.yaml` (what is known of the instance), `tests.json`, `problem_statement.md`, `gold.patch`,
`test.patch`, `eval.sh`, `Dockerfile`, and perhaps `hints.md`. The built-in tasks have a `recipe.toml` too, by which
they run without an image, and their `task.yaml` is JSON, which is YAML: they are read without PyYAML. What a task repo
publishes where (`sweb.yaml`) and the assets of web pages (`test_assets`) are not read.
"""

from pathlib import Path
from typing import Any

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.swe.formats.images import sandbox_for
from claw_envs.swe.formats.rows import columns
from claw_envs.swe.instance import SANDBOX, task_of

_TASK, _TESTS, _HINTS, _RECIPE = "task.yaml", "tests.json", "hints.md", "recipe.toml"
_FILES = {
    "patch": "gold.patch",
    "test_patch": "test.patch",
    "eval_script": "eval.sh",
    "problem_statement": "problem_statement.md",
}
"""Columns that are files of their own."""
DEPRECATED = "deprecated"
"""The split of tasks that a task repo keeps and publishes nowhere."""


def recognises(folder: Path) -> bool:
    """Whether `folder` is, or was meant to be, one task."""
    return (folder / _TASK).is_file() and any((folder / name).is_file() for name in (_TESTS, *_FILES.values()))


def folders(root: Path) -> list[Path]:
    """The tasks' folders of a task repo, of its `tasks/`, or the one that `root` itself is; in order of their names."""
    if recognises(root):
        return [root]
    inside = root / "tasks"
    parent = inside if inside.is_dir() else root
    return sorted(folder for folder in parent.iterdir() if folder.is_dir() and recognises(folder))


def read(folder: Path) -> Task:
    """The task of one folder.

    It is built from its `Dockerfile` where it is one of ours (it has a recipe); of others the image is published.

    Raises:
        UserError: if a file or a field is missing or malformed.
    """
    known = _mapping(folder / _TASK)
    if known.get("instance_id") != folder.resolve().name:
        raise UserError(f"{folder / _TASK}: instance_id is {known.get('instance_id')!r}, not the folder's name")
    row = known | {column: _text(folder / name) for column, name in _FILES.items()}
    row |= _json(folder / _TESTS, _text(folder / _TESTS))
    if (folder / _HINTS).is_file():
        row["hints_text"] = _text(folder / _HINTS)
    try:
        got = columns(row)
        instance = got.instance()
    except UserError as error:
        raise UserError(f"{folder}: {error}") from None
    if not (instance.eval_script and instance.log_parser and instance.image):
        raise UserError(f"{folder}: it needs an eval.sh, a log_parser and an image")
    metadata: dict[str, Any] = {"format": "swe-bench"}
    metadata |= {key: known[key] for key in ("difficulty", "split") if known.get(key)}
    sandbox = sandbox_for(instance)
    recipe = folder / _RECIPE
    if recipe.is_file():
        metadata["recipe"] = str(recipe.resolve())
        build = str(folder.resolve()) if (folder / "Dockerfile").is_file() else None
        sandbox = msgspec.structs.replace(SANDBOX, build=build)
    task = task_of(instance, sandbox, metadata=metadata)
    return msgspec.structs.replace(task, path=str(folder.resolve()))


def _text(path: Path) -> str:
    """The file as it is: a patch may hold carriage returns."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        raise UserError(f"{path.parent}: there is no {path.name}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 ({error})") from error


def _mapping(path: Path) -> dict[str, Any]:
    """A YAML file that holds a mapping; JSON is read without PyYAML."""
    text = _text(path)
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        pass
    try:
        import yaml
    except ImportError:
        raise UserError(f'{path}: YAML needs PyYAML: pip install "claw-envs[formats]"') from None
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not valid YAML ({str(error).splitlines()[0]})") from error
    if not isinstance(found, dict):
        raise UserError(f"{path}: not a mapping")
    return found


def _json(path: Path, text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise UserError(f"{path}: not a JSON object ({error})") from error

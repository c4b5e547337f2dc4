"""`claw swe prepare`: make the layers of tasks ahead of their first episode."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec, Task
from claw_envs.swe.instance import instance_of
from claw_envs.swe.loader import load, survey
from claw_envs.swe.recipe.assign import record
from claw_envs.swe.recipe.file import Repository, read_recipe
from claw_envs.swe.recipe.sandbox import prepare, recipe_of


def prepare_ahead(
    source: str | None, *, recipe: Path | None = None, repository: str | None = None, only: Sequence[str] = ()
) -> Iterator[tuple[Task, SandboxSpec]]:
    """Make the layers of each task of `source` that `only` names, or of all; each as soon as it is done.

    Args:
        recipe: file for these tasks, from now on, in place of what they bring.
        repository: path or address of the repository, in place of what the recipe says.

    Raises:
        UserError: if a task has no recipe, or it cannot be followed.
        InfrastructureError: if a sandbox fails.
    """
    if recipe is not None:
        read_recipe(recipe)
        found = survey(source)  # rows without a script are at fault until they have a recipe
        for name in [*(task.id for task in found.tasks), *(fault.name for fault in found.faults)]:
            if not only or name in only:
                record(name, recipe)
    tasks = [task for task in load(source) if not only or task.id in only]
    if missing := set(only) - {task.id for task in tasks}:
        raise UserError(f"{source or 'the built-in set'}: no task {', '.join(sorted(missing))} there")
    for task in tasks:
        yield task, _prepare(task, recipe or recipe_of(task), repository)


def _prepare(task: Task, path: Path | None, repository: str | None) -> SandboxSpec:
    if path is None:
        raise UserError(f"{task.id}: no recipe: name one with --recipe FILE")
    recipe = read_recipe(path)
    if repository is not None:
        here = Path(repository).expanduser()
        given = Repository(path=str(here.absolute())) if here.is_dir() else Repository(url=repository)
        recipe = msgspec.structs.replace(recipe, repository=given)
    try:
        return asyncio.run(prepare(recipe, instance_of(task).base_commit))
    except UserError as error:
        raise UserError(f"{task.id}: {error}") from error

"""The sandbox that a task with a recipe runs in."""

from pathlib import Path

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec, Task
from claw_envs.swe.instance import SANDBOX, instance_of
from claw_envs.swe.recipe.assign import recorded
from claw_envs.swe.recipe.environment import ENV, environment_layer
from claw_envs.swe.recipe.file import Recipe, read_recipe
from claw_envs.swe.recipe.interpreter import find_interpreter, interpreter_layers
from claw_envs.swe.recipe.repository import repository_layer
from claw_envs.swe.repository import ANY_OWNER


def recipe_of(task: Task) -> Path | None:
    """The recipe file that `claw swe prepare` was given for a task, else the one that came with it."""
    named = task.metadata.get("recipe")
    return recorded(task.id) or (Path(named) if named else None)


async def sandbox_of(task: Task, backend: str) -> SandboxSpec:
    """The machine that `task` runs in on a back end; layers are made on first use, which takes minutes.

    Raises:
        UserError: if the task's recipe cannot be followed.
        InfrastructureError: if a sandbox fails while a layer is made.
    """
    assert task.sandbox is not None
    recipe = recipe_of(task) if backend == "namespace" else None
    if recipe is None:
        return task.sandbox
    try:
        return await prepare(read_recipe(recipe), instance_of(task).base_commit, task.sandbox)
    except UserError as error:
        raise UserError(f"{task.id}: {error}") from error


async def prepare(recipe: Recipe, base: str, spec: SandboxSpec = SANDBOX) -> SandboxSpec:
    """`spec` with the layers of a recipe in place of an image.

    Args:
        base: id of the commit, 40 hex digits.

    Raises:
        UserError: if the recipe cannot be followed.
        InfrastructureError: if a sandbox fails while a layer is made.
    """
    python = await find_interpreter(recipe.python)
    below = await interpreter_layers(python)
    below = (*below, await environment_layer(python, recipe.packages, below))
    layers = (*below, await repository_layer(recipe, base, below))
    env = ANY_OWNER | spec.env | ENV | recipe.env
    return msgspec.structs.replace(spec, image=None, build=None, rootfs=None, layers=layers, env=env)

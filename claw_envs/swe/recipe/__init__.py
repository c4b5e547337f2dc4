"""Repositories without images: a recipe file becomes layers for the namespace sandbox, made once and cached.

Layers, lowest first: the interpreter, where the host's is not below /usr (`interpreter`); the virtual environment with
the recipe's pins (`environment`), shared by all recipes with the same ones; the repository (`repository`).
"""

from claw_envs.swe.recipe.assign import recorded
from claw_envs.swe.recipe.file import Recipe, read_recipe
from claw_envs.swe.recipe.sandbox import prepare, sandbox_of

__all__ = ["Recipe", "prepare", "read_recipe", "recorded", "sandbox_of"]

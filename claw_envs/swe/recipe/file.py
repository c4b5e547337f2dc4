"""Recipe files: how a repository runs without an image, in TOML. `docs/swe-recipes.md` describes them for users."""

import tomllib
from pathlib import Path

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.swe.formats.script import Tests


class Repository(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the base commit comes from; at most one of them. Paths are absolute once the file is read."""

    history: str = ""
    """Folder of `git format-patch` files, applied in the order of their names."""
    path: str = ""
    """A clone on this machine, bare or not."""
    url: str = ""
    """What `git fetch` takes."""


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One recipe file.

    Attributes:
        python: `system` for /usr/bin/python3, a version such as `3.9`, or the path of an interpreter.
        packages: what pip takes, pinned.
        install: shell commands run at the repository, once, without network.
        env: what the agent and the tests get of environment variables beside those of the environment.
        tests: how to test instances whose rows do not say so.
    """

    python: str = "system"
    packages: tuple[str, ...] = ()
    install: tuple[str, ...] = ()
    env: dict[str, str] = {}
    repository: Repository = Repository()
    tests: Tests | None = None


def read_recipe(path: Path) -> Recipe:
    """The recipe in a file.

    Raises:
        UserError: if it cannot be read, or says something that no recipe says.
    """
    try:
        recipe = msgspec.convert(tomllib.loads(path.read_text()), Recipe)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UserError(f"{path}: no recipe: {error}") from error
    if b"\\u0000" in msgspec.json.encode(recipe):
        raise UserError(f"{path}: a recipe cannot hold the character \\u0000")
    for name in recipe.env:
        if not name or "=" in name:
            raise UserError(f"{path}: env: {name!r} is no name of a variable")
    for package in recipe.packages:
        if not package.strip() or package.lstrip().startswith("-"):
            raise UserError(f"{path}: packages: {package!r} is no package; options for pip go into its configuration")
    given = {name: value for name, value in msgspec.structs.asdict(recipe.repository).items() if value}
    if len(given) > 1:
        raise UserError(f"{path}: [repository] takes one of {', '.join(given)}")
    absolute = {
        name: value if name == "url" else str(path.absolute().parent / Path(value).expanduser())
        for name, value in given.items()
    }
    return msgspec.structs.replace(recipe, repository=Repository(**absolute))

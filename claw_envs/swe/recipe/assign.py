"""Which recipe file serves instances that name none themselves, as rows of public sets: links in the cache, by id."""

import os
import urllib.parse
from pathlib import Path

from claw_envs.swe.recipe.layers import layers_directory, make_directory


def recorded(instance_id: str) -> Path | None:
    """The recipe file that `record` was last given for an instance; None where there was none."""
    try:
        return _link(instance_id).readlink()
    except OSError:
        return None


def record(instance_id: str, recipe: Path) -> None:
    """Remember a recipe file for an instance, in this process and later ones.

    Raises:
        UserError: if the cache cannot be written.
    """
    link = _link(instance_id)
    make_directory(link.parent)
    fresh = link.with_name(f".{os.getpid()}-{link.name}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(recipe.absolute())
    fresh.rename(link)


def _link(instance_id: str) -> Path:
    return layers_directory() / "instances" / urllib.parse.quote(instance_id, safe="")

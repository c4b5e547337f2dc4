"""MiniWoB++ as tasks: `miniwob` is every page, `miniwob/<page>[,<page>]` some of them.

What a page asks for is known once it runs: it follows from the seed, and the first observation says it.
"""

from claw_envs.core.errors import UserError
from claw_envs.core.task import Limits, Task, VerifierSpec
from claw_envs.gui.miniwob import pages

_STEPS = 15


def recognises(source: str) -> bool:
    """Whether `source` names pages of MiniWoB++."""
    return source.partition("/")[0] == "miniwob"


def load(source: str = "miniwob") -> list[Task]:
    """The tasks of a source.

    Raises:
        UserError: if there is no such page, or the package `miniwob` is missing.
    """
    known = pages.names()
    chosen = [name for name in source.removeprefix("miniwob").removeprefix("/").split(",") if name] or known
    if unknown := [name for name in chosen if name not in known]:
        raise UserError(f"MiniWoB++ has no page {', '.join(unknown)}; `claw tasks gui --tasks miniwob` lists them")
    return [_task(name) for name in chosen]


def _task(page: str) -> Task:
    return Task(
        id=f"miniwob/{page}",
        family="gui",
        instruction=f"Do what the page {page} asks for.",
        verifier=VerifierSpec(kind="miniwob"),
        limits=Limits(max_steps=_STEPS, step_timeout=30.0),
        metadata={"page": page, "domain": "miniwob", "feasible": True},
    )

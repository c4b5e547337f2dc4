"""What a server offers: which families, from which task sets, and which settings clients may choose themselves.

Denied unless listed: a constructor argument may name a host path, an address to connect to or a weaker sandbox.
"""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Observation
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from claw_envs.families import FAMILIES
from claw_envs.families import family as family_of
from claw_envs.make import arguments_of, make_env
from claw_envs.sandbox.pool import SandboxPool
from claw_envs.server import wire
from claw_envs.server.spaces import field

HARMLESS = frozenset(
    {"max_steps", "step_timeout", "outcome", "mix", "form", "few_shot", "credit"}
    | {"observe", "actions", "coordinates", "images", "max_characters"}
)
"""Settings of any family that only change an episode's rules, or what is shown."""
# of a task set, or a part of one as in verified[:50]; any other path has a slash or a dot, or exists
_NAME = re.compile(r"[\w-]+(:[\w-]*)?|:[\w-]+|[\w-]+\[\d*:\d*\]|miniwob/[\w,-]+")
_SPEC = re.compile(r"[\w-]+:[\w+=,-]+")  # a set with its settings, as in procedural:heldout,levels=1
_SETS = 64  # task sets kept in memory


class TaskSet(NamedTuple):
    """A loaded task set."""

    tasks: list[Task]
    encoded: msgspec.Raw
    """As clients are sent it."""
    digest: str


class Offer:
    """Makes and describes environments for clients."""

    def __init__(
        self,
        *,
        families: Sequence[str] = (),
        fixed: Mapping[str, Any] | None = None,
        sources: Sequence[str] = (),
        choices: Sequence[str] = (),
        warm: int = 0,
    ) -> None:
        """
        Args:
            families: names of those offered; all where empty.
            fixed: settings that every environment is made with, as `KEY` (of each family that takes it) or
                `FAMILY.KEY`.
            sources: task sets that clients may name beside those with a plain name: folders, for everything below
                them, or a set exactly as a client writes it.
            choices: settings that clients may choose beside the harmless ones.
            warm: sandboxes kept ready between episodes, over all environments.

        Raises:
            UserError: if there is no such family or folder, or no family takes one of the settings.
        """
        self.families = [family_of(name).name for name in families] or [row.name for row in FAMILIES]
        self._fixed: dict[str, dict[str, Any]] = {name: {} for name in self.families}
        takes = {name: arguments_of(name) for name in self.families}
        for key, value in (fixed or {}).items():
            only, _, short = key.rpartition(".")
            takers = [name for name in self.families if short in takes[name] and only in ("", name)]
            if not takers:
                raise UserError(f"--set {key}: no family served here takes it; write KEY=VALUE or FAMILY.KEY=VALUE")
            for name in takers:
                self._fixed[name][short] = value
        if unknown := set(choices).difference(*takes.values()):
            raise UserError(f"--allow {sorted(unknown)[0]}: no family served here takes it")
        allowed = HARMLESS | {"tasks", *choices}
        self._choices = {name: sorted(allowed & set(takes[name]) - set(self._fixed[name])) for name in self.families}
        for source in sources:
            named = _NAME.fullmatch(source) or _SPEC.fullmatch(source)
            if not named and not Path(source.rpartition(":")[2]).exists():
                raise UserError(f"--allow-tasks {source}: no such file or folder")
        self._names = frozenset(sources)
        self._folders = [Path(source).resolve() for source in sources if Path(source).is_dir()]
        self._sets: dict[tuple[str, str | None], asyncio.Task[TaskSet]] = {}
        self._pool = SandboxPool(capacity=warm) if warm else None
        for name in self.families:
            if self._pool is not None and "pool" in takes[name]:
                self._fixed[name]["pool"] = self._pool

    async def check(self) -> None:
        """Make an environment of each family as a client gets it that chooses nothing, and close it again.

        Raises:
            UserError: if one cannot be made with the settings that are fixed.
        """
        for name in self.families:
            with suppress(InfrastructureError, OSError):  # a hub that is out of reach may answer later
                env, _ = await self._make(wire.Wanted(family=name))
                await env.aclose()

    async def prove(self) -> None:
        """Begin an episode of each family and drop it: a sandbox that cannot be had here, say, shows now.

        Raises:
            UserError: if what an episode needs is missing on this machine.
            InfrastructureError: if it fails.
        """
        for name in self.families:
            env, _ = await self._make(wire.Wanted(family=name))
            try:
                await env.areset(seed=0)
            finally:
                await env.aclose()

    async def close(self) -> None:
        """Close the sandboxes that are kept ready; those in use are their environments' to close before."""
        if self._pool is not None:
            await self._pool.close()

    async def make(self, wanted: wire.Wanted) -> ClawEnv:
        """An environment as `wanted`, not yet reset.

        Raises:
            UserError: if it is not offered so, or the client read another task set than there is here.
        """
        env, tasks = await self._make(wanted)
        if wanted.digest != tasks.digest:
            await env.aclose()
            raise UserError("the tasks are not those that were read from a server before: make the environment anew")
        return env

    async def describe(self, wanted: wire.Wanted) -> wire.Description:
        """What a client must know of such an environment.

        Raises:
            UserError: if it is not offered so.
        """
        env, tasks = await self._make(wanted)
        try:
            return wire.Description(
                fields={name: field(space) for name, space in env.observation_space.items()},  # type: ignore[attr-defined]
                blank=env._observe(Observation(role="environment", text="")),
                about=env.about(),
                tasks=tasks.encoded,
                digest=tasks.digest,
            )
        finally:
            await env.aclose()

    async def _make(self, wanted: wire.Wanted) -> tuple[ClawEnv, TaskSet]:
        name, chosen = wanted.family, dict(wanted.settings)
        if name not in self.families:
            raise UserError(f"this server does not offer {name!r}; it offers: {', '.join(self.families)}")
        fixed, choices = self._fixed[name], self._choices[name]
        if denied := sorted(chosen.keys() - set(choices)):
            raise UserError(
                f"this server does not let clients set {', '.join(denied)} of {name}; "
                f"they may set: {', '.join(choices)}"
            )
        source = chosen.get("tasks")
        if source is not None:
            self._check_source(source)
        tasks = await self._load(name, fixed.get("tasks") if source is None else source)
        return make_env(name, chosen | fixed | {"tasks": tasks.tasks}, said="claw serve envs"), tasks

    def _check_source(self, source: Any) -> None:
        """Raise UserError unless clients may name this task set."""
        if not isinstance(source, str) or "\0" in source:
            raise UserError("tasks must be the name of a set: the tasks themselves are the server's")
        if source in self._names:
            return
        # a loader may take the whole for a path, or what follows a colon, both without a part's brackets
        texts = {
            text.split(":", count)[-1]
            for text in (source, source.partition("[")[0])
            for count in range(source.count(":") + 1)
        }
        found = [Path(text).resolve() for text in sorted(texts) if os.path.exists(text)]
        inside = [any(place.is_relative_to(folder) for folder in self._folders) for place in found]
        if not (all(inside) if found else _NAME.fullmatch(source)):
            raise UserError(f"this server does not offer the tasks {source!r}: its operator may --allow-tasks them")

    async def _load(self, family: str, source: str | None) -> TaskSet:
        key = (family, source)
        if key not in self._sets:
            while len(self._sets) >= _SETS:
                del self._sets[next(iter(self._sets))]
            self._sets[key] = asyncio.create_task(asyncio.to_thread(_load, family, source))
        try:
            return await asyncio.shield(self._sets[key])
        except Exception:  # a hub that is out of reach may answer next time
            self._sets.pop(key, None)
            raise


def _load(family: str, source: str | None) -> TaskSet:
    return task_set(load_tasks(family, source))


def task_set(tasks: list[Task]) -> TaskSet:
    """The set of these tasks; equal digests mean that clients see equal tasks."""
    encoded = wire.encode([public(task) for task in tasks])
    return TaskSet(tasks, msgspec.Raw(encoded), sha256(encoded).hexdigest())


def public(task: Task) -> Task:
    """The task without the server's own paths and how it is verified, which may hold a secret of the operator's.

    A set-up goes as well: the one that puts a bug into a repository tells how to mend it; so does a solution.
    """
    hidden: dict[str, Any] = {"files": {}, "setup": (), "layers": (), "build": None, "rootfs": None}
    sandbox = task.sandbox and msgspec.structs.replace(task.sandbox, **hidden)
    verifier = msgspec.structs.replace(task.verifier, options={})
    metadata = {key: value for key, value in task.metadata.items() if key not in ("recipe", "solution")}
    return msgspec.structs.replace(task, path=None, sandbox=sandbox, verifier=verifier, metadata=metadata)

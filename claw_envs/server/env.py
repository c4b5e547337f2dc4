"""`RemoteEnv`: an environment that another process, or machine, hosts. To its user it is the same environment.

Everything that happens in an episode happens on the server, random numbers included; equal seeds and equal actions give
the episode that they give there without a server. Not covered: tasks of the client's own, which would be the client's
files and commands on the server.
"""

import atexit
import time
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

import gymnasium as gym
import msgspec

from claw_envs.core.env import GUARD, MAX_TEXT, Action, ClawEnv, Timings, shown
from claw_envs.core.episode import Observation, Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.loop import begin_on_shared, on_shared, run_sync
from claw_envs.core.task import Task
from claw_envs.core.vector import ClawVectorEnv
from claw_envs.server import wire
from claw_envs.server.client import Client, FindServers
from claw_envs.server.spaces import spaces_of

_RESET_SECONDS = 1800.0  # an image may have to be built first; a server that died is noticed long before
_SLACK = 30.0  # seconds beyond the environment's own limits, for the way there and back
_EXIT_SECONDS = 5.0
_SETS = 8

_leaving: set[Future[None]] = set()
_clients: weakref.WeakSet[Client] = weakref.WeakSet()
_known: OrderedDict[str, list[Task]] = OrderedDict()  # task sets by digest, shared by all copies; the latest last


class RemoteEnv(ClawEnv):
    """An environment on a server; `gymnasium.make("claw/terminal-v0", server="http://…")` gives one.

    The lease of an environment is taken at the first reset and kept until `close`; one that was lost is taken anew at
    the next reset. The API key is read from `CLAW_API_KEY`.

    Raises:
        UserError: as any environment; what the server does not let clients choose; a wrong API key; no server answers.
    """

    def __init__(
        self,
        family: str,
        server: str | Sequence[str] | FindServers,
        *,
        render_mode: str | None = None,
        lease_timeout: float = 300.0,
        reconnect_timeout: float = 10.0,
        described: wire.Description | None = None,
        **settings: Any,
    ) -> None:
        """
        Args:
            family: name of the family.
            server: URL of `claw serve envs`; several, as a list or with commas, share the load. Or what finds them.
            render_mode: see `ClawEnv`; also `rgb_array`, the last screenshot, where screenshots are observed.
            lease_timeout: seconds to wait for a place on a server that is full.
            reconnect_timeout: seconds for which the server may be out of reach before the episode is aborted.
            described: of another copy with the same settings, to ask the server once for all.
            **settings: for the environment's constructor on the server; `tasks` only as text.
        """
        self.family = family  # type: ignore[misc]  # one class serves every family
        if not isinstance(settings.get("tasks", ""), str | Path | None):
            raise UserError("with server=, tasks is the name of a set there: the tasks themselves are the server's")
        given = {name: value for name, value in settings.items() if value is not None}
        if "tasks" in given:
            given["tasks"] = str(given["tasks"])
        client = self._client = Client(
            server, family, given, lease_timeout=lease_timeout, reconnect_timeout=reconnect_timeout
        )
        self.described = run_sync(client.describe(described))
        if "screenshot" in self.described.fields:
            self.metadata = ClawEnv.metadata | {"render_modes": ["ansi", "rgb_array"]}
        super().__init__(_tasks(self.described), render_mode=render_mode)
        self._tell(self.described.about)
        _clients.add(client)
        weakref.finalize(self, _abandon, client).atexit = False

    def _observation_spaces(self) -> dict[str, gym.Space[Any]]:
        return spaces_of(self.described.fields)

    def _observe(self, observation: Observation) -> dict[str, Any]:
        """Of an observation that was made here, where an episode was aborted: text alone."""
        return self.described.blank | {"role": observation.role, "text": observation.text[:MAX_TEXT]}

    async def areset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """See `ClawEnv.areset`."""
        gym.Env.reset(self, seed=seed)
        try:
            call = wire.Reset(key=0, seed=seed, options=options)
            result = await on_shared(self._client.reset(call, timeout=_RESET_SECONDS))
        except InfrastructureError:
            self._status = None
            raise
        self._task = result.task
        self._step_index = 0
        observation, info = self._received(result)
        self._transcript = [f"[{self._last.role}]\n{self._last.text}"]
        return observation, info

    async def astep(self, action: Action) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """See `ClawEnv.astep`."""
        self._check_running()
        limits, timings, started = self.task.limits, Timings(), time.perf_counter()
        self._step_index += 1
        try:
            timeout = limits.step_timeout + GUARD + self._verifying()
            result = await on_shared(self._client.call(wire.act(action), timeout=timeout))
        except InfrastructureError as error:
            timings["step"] = time.perf_counter() - started
            extra = self._aborted(error)
            stepped = self._observe(self._last), 0.0, False, True, self._info(timings) | extra
        else:
            observation, info = self._received(result)
            stepped = observation, result.reward, result.terminated, result.truncated, info
        self._transcript += [f"[assistant]\n{shown(action)}", f"[{self._last.role}]\n{self._last.text}"]
        return stepped

    async def atruncate(self) -> dict[str, Any]:
        """See `ClawEnv.atruncate`."""
        self._check_running()
        try:
            result = await on_shared(self._client.call(wire.Truncate(key=0), timeout=self._verifying()))
        except InfrastructureError as error:
            extra = self._aborted(error)
            return self._info(Timings()) | extra
        return self._received(result)[1]

    async def aclose(self) -> None:
        """See `ClawEnv.aclose`."""
        self._status = None
        await on_shared(self._client.release())

    def render(self) -> Any:
        """See `ClawEnv.render`."""
        if self.render_mode != "rgb_array":
            return super().render()
        seen = None if self._task is None else self._last.screenshot
        return self.described.blank["screenshot"] if seen is None else seen

    def _check_running(self) -> None:
        if self._status is not Status.RUNNING:
            raise gym.error.ResetNeeded("the episode has ended or was never begun: call reset first")

    def _verifying(self) -> float:
        return self.task.verifier.timeout + GUARD + _SLACK

    def _received(self, result: wire.Result) -> tuple[dict[str, Any], dict[str, Any]]:
        """Take over the state after a call: observation and info."""
        self._last, info = result.last, result.info
        info["timings"] = Timings(info["timings"])
        self._status, self._step_index = Status(info["status"]), info["step_index"]
        self._tell(info)
        observation = {
            name: result.observation[name] if name in result.observation else getattr(result.last, name)
            for name in self.described.blank
        }
        return observation, info

    def _tell(self, about: dict[str, Any]) -> None:
        """Take over what the environment tells its agent, which each reset may change."""
        self.tools, self.native_tools = tuple(about["tools"]), about["native_tools"]
        self.system_prompt, self.few_shot = about["system_prompt"], tuple(about["few_shot"])
        self.images = about["images"]


class RemoteVectorEnv(ClawVectorEnv):
    """Many remote environments on one event loop, each with a lease of its own."""

    env_class = RemoteEnv

    def _copies(self, number: int, arguments: dict[str, Any]) -> list[ClawEnv]:
        first = RemoteEnv(**arguments)
        return [first, *(RemoteEnv(**arguments, described=first.described) for _ in range(number - 1))]


def _tasks(described: wire.Description) -> list[Task]:
    if described.digest not in _known:
        _known[described.digest] = msgspec.msgpack.decode(described.tasks, type=list[Task])
        while len(_known) > _SETS:
            _known.popitem(last=False)
    return _known[described.digest]


def _abandon(client: Client) -> None:
    """Give back the lease of an environment that nobody can close any more."""
    future = begin_on_shared(client.release())
    _leaving.add(future)
    future.add_done_callback(_leaving.discard)


@atexit.register
def _abandon_all() -> None:
    """Give back the leases of environments that a program left open."""
    for client in list(_clients):
        _abandon(client)
    wait(_leaving, timeout=_EXIT_SECONDS)

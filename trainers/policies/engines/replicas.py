"""`Replicas`: several servers with the same model as one `Engine`.

A request goes to the least busy server and moves to another where its own fails; a failed server is taken out, probed
and let in again once it is healthy and has the weights of the others. An update refuses no request: servers hold them,
or, one server after the other, are drained first. Not covered: starting and stopping servers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from claw_envs.core.errors import InfrastructureError, UserError
from trainers.policies.base import Sampling
from trainers.policies.engines.base import (
    Engine,
    EngineDownError,
    EngineRefusedError,
    PauseMode,
    Sampled,
    TensorSpec,
    WeightGroup,
)
from trainers.policies.engines.fleet import Fleet
from trainers.policies.engines.replica import Replica, State, check
from trainers.policies.engines.tasks import together


class Replicas:
    """See `Engine`. Give it engines that don't retry by themselves (`retries=0`): it asks another one at once."""

    def __init__(
        self,
        engines: Sequence[Engine],
        *,
        attempts: int = 4,
        patience: float = 60.0,
        check_every: float = 15.0,
        backoff: float = 0.5,
        slack: int = 4,
        rolling: bool = False,
        drain_timeout: float = 600.0,
    ) -> None:
        """
        Args:
            engines: one or more; they are closed with this.
            attempts: servers that one request may fail on; two where they are lost while they are at it.
            patience: seconds that a request waits where no server is up.
            check_every: seconds between two health checks of servers that are up.
            backoff: seconds on probation after a second failure in a row, doubled at each further one.
            slack: see `Choice`.
            rolling: update servers one after the other, each once its requests have finished; else all at once, with
                their requests held. Where no other server is up, one that is being drained goes on taking requests.
            drain_timeout: seconds to wait for those requests; the server holds what is left then.

        Raises:
            UserError: if there is no engine.
        """
        if not engines:
            raise UserError("give at least one engine")
        self._replicas = [Replica(i, engine) for i, engine in enumerate(engines)]
        self._fleet = Fleet(
            self._replicas,
            level=self._level,
            quiet=lambda: self._held is not None or self._updating.locked(),
            attempts=attempts,
            patience=patience,
            check_every=check_every,
            backoff=backoff,
            slack=slack,
        )
        self._attempts = attempts
        self._rolling, self._drain_timeout = rolling, drain_timeout
        self._version = 0
        self._saved: tuple[str, int] | None = None
        self._adapters: dict[str, str] = {}
        self._held: PauseMode | None = None
        self._updating = asyncio.Lock()

    @property
    def version(self) -> int:
        """See `Engine`: the newest that any server has, as far as its answers said."""
        return max(self._version, *(replica.engine.version for replica in self._replicas))

    @property
    def urls(self) -> list[str]:
        """See `Engine`."""
        return [url for replica in self._replicas for url in replica.engine.urls]

    @property
    def states(self) -> dict[str, str]:
        """URL -> `up`, `away` or `down`, for a status page."""
        return {replica.engine.urls[0]: replica.state.value for replica in self._replicas}

    # --- requests -----------------------------------------------------------------------------------------------

    async def generate(
        self, ids: Sequence[int], sampling: Sampling, *, stop_ids: Sequence[int] = (), lora: str | None = None
    ) -> Sampled:
        """See `Engine.generate`. A response that a server cut off is gone on with from the tokens that are there."""
        done, barren = Sampled([], [], [], "abort"), 0
        while done.finish_reason == "abort":
            rest = sampling._replace(
                max_new_tokens=sampling.max_new_tokens - len(done.ids),
                seed=None if sampling.seed is None else sampling.seed + len(done.ids),
            )
            if rest.max_new_tokens < 1:
                return done._replace(finish_reason="length")
            prompt = [*ids, *done.ids]
            part: Sampled = await self._fleet.run(
                prompt,
                lambda engine: engine.generate(prompt, rest, stop_ids=stop_ids, lora=lora),  # noqa: B023
            )
            barren = 0 if part.ids else barren + 1
            if barren == self._attempts:
                raise EngineDownError(f"a response was cut off {barren} times before its first token")
            done = Sampled(
                done.ids + part.ids, done.logprobs + part.logprobs, done.versions + part.versions, part.finish_reason
            )
        return done

    async def score(self, ids: Sequence[int], start: int, *, lora: str | None = None) -> list[float]:
        """See `Engine.score`."""
        return await self._fleet.run(ids, lambda engine: engine.score(ids, start, lora=lora))

    # --- health -------------------------------------------------------------------------------------------------

    async def health(self) -> bool:
        """See `Engine.health`: whether any server is well."""
        return any(await asyncio.gather(*(replica.engine.health() for replica in self._replicas)))

    async def refresh(self) -> int:
        """See `Engine.refresh`: the newest of the servers' versions. Servers behind it are put on probation.

        Raises:
            EngineDownError: if no server tells one.
        """
        versions = await asyncio.gather(*(self._asked(replica) for replica in self._replicas))
        if max(versions) < 0:
            raise EngineDownError("; ".join(replica.error or "an update failed" for replica in self._replicas))
        self._version = max(versions)
        for replica, version in zip(self._replicas, versions, strict=True):
            if version < self._version:
                self._fleet.suspect(
                    replica, replica.error or f"it has weights of version {version}, not {self._version}"
                )
        return self._version

    async def _asked(self, replica: Replica) -> int:
        try:
            return await replica.engine.refresh()
        except InfrastructureError as error:
            replica.error = str(error)
            return -1

    async def _level(self, replica: Replica) -> bool:
        """Give a server that was restarted what the others have; False where it must wait for the next update."""
        wanted = self.version
        if await replica.engine.refresh() < wanted:
            if self._saved is None or self._saved[1] != wanted:
                return False
            await replica.engine.update_from_disk(*self._saved)
        for name, path in self._adapters.items():
            await replica.engine.load_lora(name, path)
        if self._held:
            await replica.engine.pause(self._held)
        return True

    # --- weights ------------------------------------------------------------------------------------------------

    async def pause(self, mode: PauseMode = "keep") -> None:
        """See `Engine.pause`."""
        self._held = mode
        await self._each(lambda engine: engine.pause(mode))

    async def resume(self) -> None:
        """See `Engine.resume`."""
        await self._each(lambda engine: engine.resume())
        self._held = None

    async def update_from_disk(self, path: str, version: int) -> None:
        """See `Engine.update_from_disk`. Servers that come back later get the same weights.

        Raises:
            InfrastructureError: if no server took the weights. One that fails where others succeed is taken out.
        """
        await self._update(lambda engine: engine.update_from_disk(path, version), version)
        self._saved = (path, version)

    async def update_from_tensors(self, state: Mapping[str, Any], version: int) -> None:
        """See `Engine.update_from_tensors`. A server that comes back later waits for the next update.

        Raises:
            InfrastructureError: as above.
        """
        await self._update(lambda engine: engine.update_from_tensors(state, version), version)

    async def join(self, group: WeightGroup) -> None:
        """See `Engine.join`; every server must be up."""
        self._all_up()
        sizes = await asyncio.gather(*(replica.engine.workers() for replica in self._replicas))
        ranks = [group.rank + sum(sizes[:i]) for i in range(len(sizes))]
        joins = [
            replica.engine.join(group._replace(rank=rank)) for replica, rank in zip(self._replicas, ranks, strict=True)
        ]
        await together(*joins)

    async def update_distributed(
        self, specs: Sequence[TensorSpec], version: int, send: Callable[[], Awaitable[None]]
    ) -> None:
        """See `Engine.update_distributed`: every server that joined must be up, since a broadcast waits for all."""
        ready = asyncio.Barrier(len(self._replicas))
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def send_once() -> None:
            if await ready.wait() == 0:
                try:
                    await send()
                except BaseException:
                    sent.cancel()
                    raise
                sent.set_result(None)
            await asyncio.wait({sent})

        async def receive(replica: Replica) -> None:
            try:
                await replica.engine.update_distributed(specs, version, send_once)
            except InfrastructureError as error:
                self._fleet.suspect(replica, str(error))
                raise

        async with self._updating:
            self._all_up()
            await together(*map(receive, self._replicas))
        self._version = version

    async def leave(self) -> None:
        """See `Engine.leave`."""
        await self._each(lambda engine: engine.leave())

    async def workers(self) -> int:
        """See `Engine.workers`: of all servers together."""
        return sum(await asyncio.gather(*(replica.engine.workers() for replica in self._replicas)))

    async def _update(self, load: Callable[[Engine], Awaitable[None]], version: int) -> None:
        async def one(replica: Replica) -> None:
            await self._update_one(replica, load)
            self._version = version

        ended: list[BaseException | None] = []
        async with self._updating:
            for some in [[replica] for replica in self._replicas] if self._rolling else [self._replicas]:
                ended += await asyncio.gather(*map(one, some), return_exceptions=True)
        check(ended)

    async def _update_one(self, replica: Replica, load: Callable[[Engine], Awaitable[None]]) -> None:
        try:
            if replica.state is State.DOWN:
                await replica.engine.refresh()  # a dead one fails here, and not at the end of an update's time
            if self._rolling and replica.state is State.UP:
                replica.state = State.AWAY
                await replica.drained(self._drain_timeout)
            await load(replica.engine)
        except InfrastructureError as error:
            replica.state = State.UP if replica.state is State.AWAY else replica.state
            self._fleet.suspect(replica, str(error))
            raise
        except BaseException:
            if replica.state is State.AWAY:
                self._fleet.admit(replica)
            raise
        if replica.probe is not None:
            replica.probe.cancel()
        self._fleet.admit(replica)

    async def _each(self, call: Callable[[Engine], Awaitable[None]]) -> None:
        """`call` on every server that is up. One that fails is taken out, unless all refuse: no fault of theirs."""
        up = [replica for replica in self._replicas if replica.state is not State.DOWN]
        ended = await asyncio.gather(*(call(replica.engine) for replica in up), return_exceptions=True)
        refused = all(isinstance(error, EngineRefusedError) for error in ended)
        for replica, error in zip(up, ended, strict=True):
            if isinstance(error, InfrastructureError) and not refused:
                self._fleet.suspect(replica, str(error))
        check(ended)

    def _all_up(self) -> None:
        down = [replica for replica in self._replicas if replica.state is State.DOWN]
        if down:
            said = ", ".join(f"{replica.engine.urls[0]} ({replica.error})" for replica in down)
            raise EngineDownError(f"weights are broadcast to all servers or none; down: {said}")

    # --- adapters and the rest ----------------------------------------------------------------------------------

    async def load_lora(self, name: str, path: str) -> None:
        """See `Engine.load_lora`; servers that come back later get it too."""
        await self._each(lambda engine: engine.load_lora(name, path))
        self._adapters[name] = path

    async def unload_lora(self, name: str) -> None:
        """See `Engine.unload_lora`."""
        self._adapters.pop(name, None)
        await self._each(lambda engine: engine.unload_lora(name))

    async def abort(self) -> None:
        """See `Engine.abort`; requests made here are gone on with (`generate`)."""
        await self._each(lambda engine: engine.abort())

    async def aclose(self) -> None:
        """See `Engine.aclose`."""
        await self._fleet.aclose()
        await asyncio.gather(*(replica.engine.aclose() for replica in self._replicas))

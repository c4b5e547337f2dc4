"""A trainer's side of handing over weights: through this machine's memory, or broadcast over a process group."""

import asyncio
import base64
import io
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from trainers.policies.engines.base import Engine, EngineDownError, TensorSpec, WeightGroup
from trainers.policies.engines.tasks import together

_one_strategy = threading.Lock()


def shared_payload(state: Mapping[str, Any], copies: int) -> list[str]:
    """The tensors as SGLang reads them: torch's own pickle for other processes, whose data lies in shared memory.

    SGLang's `MultiprocessingSerializer` writes the same: a list of (name, tensor) through `ForkingPickler`, as base64.
    A server opens the memory by the name of a file, since it is not our child and cannot be handed descriptors.

    Args:
        copies: readers; each frees its own reference.
    """
    from multiprocessing.reduction import ForkingPickler

    import torch.multiprocessing

    sharing: Any = torch.multiprocessing

    # Copies: a tensor's memory moves when it is shared, and the trainer goes on changing its own.
    tensors = [(name, tensor.detach().to("cpu", copy=True).contiguous()) for name, tensor in state.items()]
    with _one_strategy:  # a setting of the process
        before = sharing.get_sharing_strategy()
        sharing.set_sharing_strategy("file_system")
        try:
            payload = []
            for _ in range(copies):
                buffer = io.BytesIO()
                ForkingPickler(buffer).dump(tensors)
                payload.append(base64.b64encode(buffer.getvalue()).decode())
            return payload
        finally:
            sharing.set_sharing_strategy(before)


class WeightSender:
    """Rank 0 of a group over which weights are broadcast to SGLang: `open` once, `send` at every update, `close`.

    What blocks in a collective cannot be cancelled: a member that dies ends the others' wait after `timeout` only.
    """

    def __init__(self, group: WeightGroup, *, timeout: float = 300.0, device: str = "cpu") -> None:
        """
        Args:
            group: its rank is the engine's.
            timeout: seconds for one collective, and for all members to come.
            device: torch device that the backend sends from.
        """
        self.group = group
        self._timeout, self._device = timedelta(seconds=timeout), device
        self._process_group: Any = None
        self._closing: asyncio.Future[None] | None = None

    async def open(self, engine: Engine) -> None:
        """Meet the workers of `engine`.

        Raises:
            InfrastructureError: if they don't come.
        """
        meet = asyncio.to_thread(make_group, self.group, 0, self._timeout)
        self._process_group, _ = await together(meet, engine.join(self.group))

    async def send(self, engine: Engine, state: Mapping[str, Any], version: int) -> None:
        """Update the weights of `engine` with `state`.

        Raises:
            InfrastructureError: if the update fails. A half-finished one leaves the engine unusable until the next.
        """
        specs = [TensorSpec(n, str(t.dtype).removeprefix("torch."), tuple(t.shape)) for n, t in state.items()]

        async def broadcast() -> None:
            try:
                await asyncio.to_thread(self._broadcast, list(state.values()))
            except EngineDownError:  # or the others would wait for what will not come
                self._closing = asyncio.ensure_future(asyncio.to_thread(self.close))
                raise

        await engine.update_distributed(specs, version, broadcast)

    def close(self) -> None:
        """End the group, and with it the wait of members that still receive."""
        if self._process_group is not None:
            from torch.distributed import destroy_process_group

            ended, self._process_group = self._process_group, None
            destroy_process_group(ended)

    def _broadcast(self, tensors: Sequence[Any]) -> None:
        try:
            for tensor in tensors:
                self._process_group.broadcast(tensor.detach().to(self._device).contiguous(), 0).wait()
        except RuntimeError as error:
            raise EngineDownError(f"the broadcast of weights failed: {_line(error)}") from error


def make_group(group: WeightGroup, rank: int, timeout: timedelta) -> Any:
    """Meet all members of `group` as number `rank`, and give the torch process group.

    Made as SGLang makes its side of it: torch's public functions make none beside those that a trainer already has.

    Raises:
        EngineDownError: if the others don't come within `timeout`.
    """
    from torch.distributed import PrefixStore, distributed_c10d, rendezvous  # type: ignore[attr-defined]

    where = f"tcp://{group.host}:{group.port}"
    try:
        store, rank, size = next(rendezvous(where, rank, group.size, timeout=timeout))
        store.set_timeout(timeout)
        made, _ = distributed_c10d._new_process_group_helper(
            size,
            rank,
            [],
            distributed_c10d.Backend(group.backend),
            PrefixStore(group.name, store),
            group_name=group.name,  # type: ignore[arg-type]
            timeout=timeout,
        )
        distributed_c10d._world.pg_group_ranks[made] = {i: i for i in range(size)}  # it is looked up at the end
    except RuntimeError as error:
        raise EngineDownError(f"no group of {group.size} at {where}: {_line(error)}") from error
    return made


def _line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__

"""How weights reach a vLLM server's workers: from a directory in memory, by CUDA's own handles, or over NCCL.

The payloads are those of vLLM's `IPCWeightTransferUpdateInfo`, `NCCLWeightTransferInitInfo` and
`NCCLWeightTransferUpdateInfo`. The last two ways need GPUs and a server started with `--weight-transfer-config`.
"""

import asyncio
import base64
import pickle
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from claw_envs.core.errors import UserError
from trainers.policies.engines.base import Engine, EngineDownError, TensorSpec, WeightGroup
from trainers.policies.engines.tasks import together

_MEMORY = Path("/dev/shm")


def in_memory() -> tempfile.TemporaryDirectory[str]:
    """A directory for weights, in memory where this machine has a file system for that."""
    return tempfile.TemporaryDirectory(prefix="claw-weights-", dir=_MEMORY if _MEMORY.is_dir() else None)


def save(state: Mapping[str, Any], directory: str) -> None:
    """Write `state` as safetensors."""
    from safetensors.torch import save_file

    # Copies: tensors that share memory, as tied weights do, cannot be saved together.
    tensors = {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in state.items()}
    save_file(tensors, Path(directory) / "model.safetensors")


def by_handles(state: Mapping[str, Any]) -> dict[str, Any]:
    """Update info for tensors on a GPU that the server's workers share; `state` must live until the update ends.

    The server unpickles the handles only where it was started with `VLLM_ALLOW_INSECURE_SERIALIZATION=1`.
    """
    from torch import cuda
    from torch.multiprocessing.reductions import reduce_tensor

    handles = []
    for tensor in state.values():
        gpu = str(cuda.get_device_properties(tensor.device).uuid)
        handles.append({gpu: reduce_tensor(tensor)[1]})  # type: ignore[no-untyped-call]
    return described(specs_of(state)) | {"ipc_handles_pickled": base64.b64encode(pickle.dumps(handles)).decode()}


def described(specs: Sequence[TensorSpec]) -> dict[str, Any]:
    """Update info for tensors that are broadcast one by one, in this order."""
    return {
        "names": [spec.name for spec in specs],
        "dtype_names": [spec.dtype for spec in specs],
        "shapes": [list(spec.shape) for spec in specs],
    }


def membership(group: WeightGroup) -> dict[str, Any]:
    """Init info for the server's workers."""
    return {
        "master_address": group.host,
        "master_port": group.port,
        "rank_offset": group.rank,
        "world_size": group.size,
        "packed": False,
    }


def specs_of(state: Mapping[str, Any]) -> list[TensorSpec]:
    """Names, types and shapes of tensors."""
    return [TensorSpec(n, str(t.dtype).removeprefix("torch."), tuple(t.shape)) for n, t in state.items()]


class NcclSender:
    """Rank 0 of vLLM's own kind of group, which is none of torch's: the trainer needs vLLM installed, and a GPU.

    Not covered: packed transfer, trainers whose parameters are sharded (gather them first).
    """

    def __init__(self, group: WeightGroup, *, device: int = 0) -> None:
        """
        Args:
            group: its rank is the engine's.
            device: index of the GPU that holds the weights.
        """
        self.group, self._device = group, device
        self._communicator: Any = None

    async def open(self, engine: Engine) -> None:
        """Meet the workers of `engine`.

        Raises:
            InfrastructureError: if the server cannot join.
            UserError: if vLLM is not installed here.
        """
        meet = asyncio.to_thread(self._meet)
        self._communicator, _ = await together(meet, engine.join(self.group))

    async def send(self, engine: Engine, state: Mapping[str, Any], version: int) -> None:
        """Update the weights of `engine` with `state`, tensors on this process's GPU."""
        tensors = [tensor.detach().contiguous() for tensor in state.values()]
        await engine.update_distributed(specs_of(state), version, lambda: asyncio.to_thread(self._broadcast, tensors))

    def _meet(self) -> Any:
        try:
            from vllm.distributed.weight_transfer.nccl_common import trainer_init
        except ImportError:
            raise UserError("to broadcast weights to vLLM the trainer needs it installed: pip install vllm") from None
        from torch import cuda

        try:
            with cuda.device(self._device):  # a thread's own setting
                return trainer_init(membership(self.group))
        except (RuntimeError, TimeoutError) as error:
            raise EngineDownError(f"no group of {self.group.size} at {self.group.host}: {error}") from error

    def _broadcast(self, tensors: Sequence[Any]) -> None:
        from torch import cuda

        with cuda.device(self._device):
            stream = cuda.current_stream()
            for tensor in tensors:
                self._communicator.broadcast(tensor, src=0, stream=stream)
            stream.synchronize()

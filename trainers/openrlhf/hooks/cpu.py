"""OpenRLHF without any GPU: for tests and trials, only where `cluster.cpu` asks for it, never where CUDA is.

Ray is told of GPUs that are not there; what OpenRLHF asks of CUDA is answered here, and weights travel to the engines
over gloo. Packed sequences, context parallelism and tensor parallel engines are not covered.
"""

import sys
from collections.abc import Callable
from datetime import timedelta
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import wrapt

from claw_envs.core.errors import UserError

_MEETING = timedelta(minutes=30)
"""For the actor and the engines to come together, and for one weight."""

WORKER = "trainers.openrlhf.hooks.cpu_worker.CpuWorker"
"""Extends vLLM's worker in place of OpenRLHF's own."""

_FLASH_ATTENTION = {
    "flash_attn": (),
    "flash_attn.bert_padding": ("index_first_axis", "pad_input", "rearrange", "unpad_input"),
    "flash_attn.utils": (),
    "flash_attn.utils.distributed": ("all_gather",),
}
"""What OpenRLHF imports of a package that is built for GPUs; packed sequences alone would call it."""


def install() -> None:
    """Once the modules that each change concerns are there.

    Raises:
        UserError: where CUDA is, as soon as torch is imported.
    """
    wrapt.register_post_import_hook(_answer_for_cuda, "torch")
    wrapt.register_post_import_hook(_mesh_of_cpus, "openrlhf.utils.deepspeed.deepspeed")
    wrapt.register_post_import_hook(_group_over_gloo, "openrlhf.utils.distributed_util")
    wrapt.register_post_import_hook(_other_worker, "vllm.engine.arg_utils")
    if find_spec("flash_attn") is None:
        _stand_in_for_flash_attention()


def environment() -> dict[str, str]:
    """Variables that libraries read as they are imported."""
    return {"DS_ACCELERATOR": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1", "TORCHDYNAMO_DISABLE": "1", "OMP_NUM_THREADS": "1"}


class CpuDevice(str):
    """Where OpenRLHF asks for the current GPU: a device to torch, and a number where it is written after `cuda:`."""

    def __format__(self, spec: str) -> str:
        return "0"


class GlooGroup:
    """Broadcast of weights from the actor to the engines, with the calls of vLLM's communicator over NCCL."""

    def __init__(self, group: Any) -> None:
        """
        Args:
            group: torch's process group, over gloo.
        """
        self._group = group

    def broadcast(self, tensor: Any, src: int, stream: Any = None) -> None:
        """Fill `tensor` with that of the rank `src`, and wait for it."""
        self._group.broadcast(tensor.contiguous(), src).wait()


def gloo_group(master_address: str, master_port: int, rank: int, world_size: int, device: Any = None) -> GlooGroup:
    """In place of a group over NCCL; waits until all are there."""
    from trainers.policies.engines.base import WeightGroup
    from trainers.policies.engines.transfer import make_group

    group = WeightGroup(master_address, master_port, rank, world_size, name="openrlhf-weights", backend="gloo")
    return GlooGroup(make_group(group, rank, _MEETING))


def _answer_for_cuda(torch: ModuleType) -> None:
    cuda = torch.cuda
    if cuda.is_available():
        raise UserError("cluster.cpu is set, but this machine has a GPU that CUDA can use: set cluster.cpu to false")
    cuda.set_device = lambda device: None
    cuda.synchronize = lambda device=None: None
    cuda.current_stream = lambda device=None: None
    cuda.current_device = lambda: CpuDevice("cpu")


def _mesh_of_cpus(module: ModuleType) -> None:
    wrapt.wrap_function_wrapper(module, "init_device_mesh", _on_cpu)


def _on_cpu(function: Callable[..., Any], _: None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function("cpu", *args[1:], **kwargs)


def _group_over_gloo(module: ModuleType) -> None:
    wrapt.wrap_function_wrapper(
        module, "stateless_init_process_group", lambda function, _, args, kwargs: gloo_group(*args, **kwargs)
    )


def _other_worker(module: ModuleType) -> None:
    wrapt.wrap_function_wrapper(module, "EngineArgs.__post_init__", _extend_worker)


def _extend_worker(function: Callable[..., Any], engine: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if engine.worker_extension_cls.startswith("openrlhf."):
        engine.worker_extension_cls = WORKER
    return function(*args, **kwargs)


def _stand_in_for_flash_attention() -> None:
    for name, members in _FLASH_ATTENTION.items():
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None, is_package=True)
        module.__path__ = []
        for member in members:
            setattr(module, member, _needs_gpu)
        sys.modules[name] = module


def _needs_gpu(*args: Any, **kwargs: Any) -> Any:
    raise UserError(
        "packed sequences and context parallelism need a GPU and flash-attn: leave them out with cluster.cpu"
    )

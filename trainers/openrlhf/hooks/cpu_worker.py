"""What receives the weights inside vLLM's worker on a CPU. vLLM imports it by name, in a process of its own."""

from types import ModuleType
from typing import Any

import wrapt

from trainers.openrlhf.hooks.cpu import GlooGroup, gloo_group


class CpuWorker:
    """Mixed into vLLM's worker; offers the calls that OpenRLHF makes, without CUDA."""

    model_runner: Any
    model_config: Any
    _model_update_group: GlooGroup

    def init_process_group(
        self,
        master_address: str,
        master_port: int,
        rank_offset: int,
        world_size: int,
        group_name: str,
        backend: str = "gloo",
        use_ray: bool = False,
    ) -> None:
        """Join the actor's group."""
        import torch

        rank = torch.distributed.get_rank() + rank_offset
        self._model_update_group = gloo_group(master_address, master_port, rank, world_size)

    def update_weight(self, name: str, dtype: Any, shape: Any, empty_cache: bool = False) -> None:
        """Receive one parameter and put it in place.

        Raises:
            TypeError: if it is of another type than the engine's weights.
        """
        import torch

        if dtype != self.model_config.dtype:
            raise TypeError(f"{name} is {dtype}, the engine's weights are {self.model_config.dtype}")
        weight = torch.empty(shape, dtype=dtype)
        self._model_update_group.broadcast(weight, src=0)
        self.model_runner.model.load_weights(weights=[(name, weight)])


def _keep_weights(module: ModuleType) -> None:
    """vLLM packs a linear layer's weights for the CPU's kernels, and then no new ones can be loaded into it."""
    wrapt.wrap_function_wrapper(module, "dispatch_cpu_unquantized_gemm", _compute_plainly)


def _compute_plainly(function: Any, _: None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    import torch

    layer = args[0] if args else kwargs["layer"]
    layer.cpu_linear = torch.nn.functional.linear


wrapt.register_post_import_hook(_keep_weights, "vllm.model_executor.layers.utils")

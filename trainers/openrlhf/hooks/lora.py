"""Adapters reach the engines merged into the layers that they adapt.

OpenRLHF sends every parameter under the name that the adapters' package gives it, which no engine knows. Here only
what training changes is sent, under the names of the model itself: base + B A x scaling, computed layer by layer as it
is sent, so that the base weights are never rounded. Sharded parameters (ZeRO stage 3, tensor parallel) are not covered.
"""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import wrapt

_PREFIX = "base_model.model."


def install() -> None:
    """Once the actor's module is there."""
    wrapt.register_post_import_hook(_wrap, "openrlhf.trainer.ray.ppo_actor")


def _wrap(module: ModuleType) -> None:
    wrapt.wrap_function_wrapper(module, "ActorPPOTrainer.broadcast_to_vllm", _send_merged)


def _send_merged(function: Callable[..., Any], trainer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from peft import PeftModel

    model: Any = trainer.actor.model.module
    if not isinstance(model, PeftModel):
        return function(*args, **kwargs)
    vars(model)["named_parameters"] = lambda: merged_parameters(model)
    try:
        return function(*args, **kwargs)
    finally:
        del vars(model)["named_parameters"]


def merged_parameters(model: Any) -> Iterator[tuple[str, Any]]:
    """What training changes in `model`, by the names that the model without adapters gives it.

    Args:
        model: a peft model with LoRA adapters.
    """
    from peft.tuners.lora import LoraLayer

    for name, layer in model.named_modules():
        if isinstance(layer, LoraLayer):
            yield f"{name}.weight".removeprefix(_PREFIX), MergedWeight(layer)
    for name, parameter in type(model).named_parameters(model):
        if parameter.requires_grad and ".lora_" not in name:
            yield name.removeprefix(_PREFIX), parameter


class MergedWeight:
    """Stands for a parameter while it is sent; the sum is made when it is read, and not kept."""

    requires_grad = True

    def __init__(self, layer: Any) -> None:
        """
        Args:
            layer: of peft, with its base layer and adapters.
        """
        self._layer = layer
        self._base = layer.get_base_layer().weight
        self.dtype, self.shape = self._base.dtype, self._base.shape

    @property
    def data(self) -> Any:
        """The merged weight, in the base weight's type."""
        weight = self._base.data.float()
        for adapter in self._layer.active_adapters:
            weight = weight + self._layer.get_delta_weight(adapter).detach().float()
        return weight.to(self.dtype)

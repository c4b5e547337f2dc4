"""Batches with rows that train no token: OpenRLHF divides by the number of trained tokens, which may then be zero.

An aborted episode leaves such a row, and a batch is filled up with them.
"""

from collections.abc import Callable
from inspect import signature
from types import ModuleType
from typing import Any

import wrapt


def install() -> None:
    """Once their modules are there, before others take the functions from them by name."""
    wrapt.register_post_import_hook(_bound_norm, "openrlhf.utils.loss_utils")
    wrapt.register_post_import_hook(_bound_mean, "openrlhf.models.utils")
    wrapt.register_post_import_hook(_bound_count, "openrlhf.trainer.ray.ppo_actor")


def _bound_norm(module: ModuleType) -> None:
    wrapt.wrap_function_wrapper(module, "_optimizer_step_loss_norm", _at_least_one)


def _bound_mean(module: ModuleType) -> None:
    wrapt.wrap_function_wrapper(module, "masked_mean", _zero_where_empty)


def _bound_count(module: ModuleType) -> None:
    wrapt.wrap_function_wrapper(module, "ActorPPOTrainer.training_step", _some_token)


def _at_least_one(
    function: Callable[..., dict[str, Any]], _: None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """One token and one sequence at least, as the window's sums (which come divided by its number of micro-batches)."""
    norm = function(*args, **kwargs)
    micro_batches = signature(function).bind(*args, **kwargs).arguments["gas"]
    for key in ("batch_num_tokens", "global_batch_size"):
        norm[key] = norm[key].clamp(min=1 / micro_batches)
    return norm


def _zero_where_empty(function: Callable[..., Any], _: None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """0 for a mean over no token."""
    mean = function(*args, **kwargs)
    given = signature(function).bind(*args, **kwargs).arguments
    mask = given["mask"]
    return mean if mask is None else mean.masked_fill(mask.sum(dim=given.get("dim")) == 0, 0.0)


def _some_token(
    function: Callable[..., dict[str, Any]], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """One token at least, by which the figures of a micro-batch are divided once they were multiplied with it."""
    status = function(*args, **kwargs)
    status["num_action_tokens"] = max(1.0, status["num_action_tokens"])
    return status

"""The reference term's mean is taken as the policy term's is: OpenRLHF takes it over tokens, whatever it is asked."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import wrapt

from trainers.openrlhf.settings import from_environment


def install() -> None:
    """Once the actor's module is there."""
    wrapt.register_post_import_hook(_wrap, "openrlhf.trainer.ray.ppo_actor")


def _wrap(module: ModuleType) -> None:
    # the policy term does not come this way: it calls the function where it is defined
    wrapt.wrap_function_wrapper(module, "aggregate_loss", _as_configured)


def _as_configured(function: Callable[..., Any], _: None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    config, _run = from_environment()
    return function(*args, **{"token_level_loss": config.loss.aggregation == "token"} | kwargs)

"""Clients of the serving engines SGLang and vLLM: one server each, several as one, and a `Policy` over them."""

from collections.abc import Callable
from typing import Any

from trainers.policies.engines.addresses import read_address
from trainers.policies.engines.base import Engine, EngineDownError, EngineRefusedError, Sampled
from trainers.policies.engines.policy import ServedPolicy

__all__ = [
    "Engine",
    "EngineDownError",
    "EngineRefusedError",
    "Sampled",
    "ServedPolicy",
    "open_engine",
    "open_policy",
]


def open_engine(name: str, *, rolling: bool = False, patience: float = 60.0, **options: Any) -> Engine:
    """The engine at an address: requests wait for a server that restarts, and move where there are several.

    Args:
        name: see `read_address`; what stands behind `#` is not needed.
        rolling: see `Replicas`.
        patience: see `Replicas`.
        **options: of `SGLangEngine` or `VLLMEngine`.

    Raises:
        UserError: if the address is none, or an option makes no sense.
    """
    from trainers.policies.engines.replicas import Replicas
    from trainers.policies.engines.sglang import SGLangEngine
    from trainers.policies.engines.vllm import VLLMEngine

    address = read_address(name)
    kind: Callable[..., Engine] = SGLangEngine if address.kind == "sglang" else VLLMEngine
    engines = [kind(url, retries=0, **options) for url in address.urls]
    return Replicas(engines, rolling=rolling, patience=patience)


def open_policy(name: str, **options: Any) -> ServedPolicy:
    """The policy at an address, with the tokenizer that stands behind its `#`.

    Args:
        name: see `read_address`.
        **options: of `open_engine`.

    Raises:
        UserError: if the address is none or names no tokenizer that is here.
    """
    return ServedPolicy.load(open_engine(name, **options), read_address(name).model, name=name)

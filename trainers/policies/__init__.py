"""Policies: the embedded model that is trained, one behind serving engines, or one behind an endpoint."""

from typing import Any

from claw_envs.core.endpoints import is_endpoint, split_endpoint
from trainers.policies.base import Completion, Policy, Prompt, Sampling
from trainers.policies.engines.addresses import is_engine

__all__ = ["Completion", "Policy", "Prompt", "Sampling", "make_policy"]


def make_policy(spec: str, **options: Any) -> Policy:
    """The policy that `spec` names.

    Args:
        spec: `smollm2` or a local Hugging Face directory for an `EmbeddedPolicy`, `http://host:port/v1#model` for an
            `EndpointPolicy`, `sglang+http://host:port#directory` or `vllm+http://…` for a `ServedPolicy`.
        **options: for `EmbeddedPolicy.load`, `EndpointPolicy` or `engines.open_policy`.

    Raises:
        UserError: if there is no such model, or an endpoint's model is not named.
    """
    if is_endpoint(spec):
        from trainers.policies.endpoint import EndpointPolicy

        base_url, model = split_endpoint(spec)
        return EndpointPolicy(base_url, model=model, **options)
    if is_engine(spec) or "://" in spec:  # the latter a mistake, which is said there
        from trainers.policies.engines import open_policy

        return open_policy(spec, **options)
    from trainers.policies.embedded import EmbeddedPolicy

    return EmbeddedPolicy.load(spec, **options)

"""Policies: the embedded model that is trained, or a model behind an endpoint that is evaluated."""

from typing import Any

from claw_envs.core.endpoints import is_endpoint, split_endpoint
from trainers.policies.base import Completion, Policy, Prompt, Sampling

__all__ = ["Completion", "Policy", "Prompt", "Sampling", "make_policy"]


def make_policy(spec: str, **options: Any) -> Policy:
    """The policy that `spec` names.

    Args:
        spec: `smollm2` or a local Hugging Face directory for an `EmbeddedPolicy`, `http://host:port/v1#model` for an
            `EndpointPolicy`.
        **options: for `EmbeddedPolicy.load` or `EndpointPolicy`.

    Raises:
        UserError: if there is no such model, or an endpoint's model is not named.
    """
    if is_endpoint(spec):
        from trainers.policies.endpoint import EndpointPolicy

        base_url, model = split_endpoint(spec)
        return EndpointPolicy(base_url, model=model, **options)
    from trainers.policies.embedded import EmbeddedPolicy

    return EmbeddedPolicy.load(spec, **options)

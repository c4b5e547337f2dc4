"""The models that an evaluation uses, opened for its length: embedded, behind engines, or behind an endpoint."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from claw_envs.core.endpoints import api_key, is_endpoint
from claw_envs.core.errors import UserError
from trainers.policies import Policy, make_policy
from trainers.policies.engines.addresses import is_engine


@asynccontextmanager
async def open_policy(model: str, *, parallel: int, timeout: float = 60.0) -> AsyncIterator[Policy]:
    """Load or connect to `model`, and release it at the end.

    Args:
        model: see `make_policy`.
        parallel: most calls at a time.
        timeout: seconds for one response of an endpoint or an engine, its retries included.

    Raises:
        UserError: if there is no such model, or none of its engines is up.
    """
    if is_endpoint(model):
        policy = make_policy(model, api_key=api_key(), concurrency=parallel, timeout=timeout)
    elif is_engine(model):
        from trainers.policies.engines import open_policy as open_served

        policy = served = open_served(model, api_key=api_key(), timeout=timeout)
        if not await served.engine.health():
            await served.aclose()
            raise UserError(f"{model}: no engine is up there: start it, or wait until it has loaded its model")
    else:
        policy = make_policy(model, max_batch=max(1, min(parallel, 64)))
    try:
        yield policy
    finally:
        await policy.aclose()

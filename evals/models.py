"""The models that an evaluation uses, opened for its length: an embedded one by name or path, or one behind a URL."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from claw_envs.core.errors import UserError
from trainers.policies import Policy, make_policy

KEY_VARIABLE = "OPENAI_API_KEY"
"""Environment variable whose value is sent to endpoints as bearer token."""


def is_endpoint(model: str) -> bool:
    """Whether `model` is a URL and not a name or a path."""
    return model.startswith(("http://", "https://"))


def split_endpoint(model: str) -> tuple[str, str]:
    """Base URL and model name out of `URL#MODEL`.

    >>> split_endpoint("http://localhost:8000/v1#qwen3-4b")
    ('http://localhost:8000/v1', 'qwen3-4b')

    Raises:
        UserError: if it is no URL or the name is missing.
    """
    url, _, name = model.partition("#")
    if not is_endpoint(model) or not name:
        raise UserError(f"{model}: an endpoint is written URL#MODEL, e.g. http://localhost:8000/v1#qwen3-4b")
    return url, name


@asynccontextmanager
async def open_policy(model: str, *, parallel: int) -> AsyncIterator[Policy]:
    """Load or connect to `model`, and release it at the end.

    Args:
        model: see `make_policy`.
        parallel: most calls at a time.

    Raises:
        UserError: if there is no such model.
    """
    if is_endpoint(model):
        policy = make_policy(model, api_key=os.environ.get(KEY_VARIABLE), concurrency=parallel)
    else:
        policy = make_policy(model, max_batch=max(1, min(parallel, 64)))
    try:
        yield policy
    finally:
        await policy.aclose()

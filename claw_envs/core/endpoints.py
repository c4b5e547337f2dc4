"""How a user names an OpenAI-compatible endpoint: `URL#MODEL` on a command line, and its key in the environment."""

import os

from claw_envs.core.errors import UserError

KEY_VARIABLE = "OPENAI_API_KEY"
"""Environment variable whose value endpoints are sent as bearer token: keys do not belong into a settings file."""


def api_key() -> str | None:
    """The key for endpoints, None where the environment has none."""
    return os.environ.get(KEY_VARIABLE)


def is_endpoint(name: str) -> bool:
    """Whether `name` is a URL and not a model's name or path."""
    return name.startswith(("http://", "https://"))


def split_endpoint(name: str) -> tuple[str, str]:
    """Base URL and model out of `URL#MODEL`.

    >>> split_endpoint("http://localhost:8000/v1#qwen3-4b")
    ('http://localhost:8000/v1', 'qwen3-4b')

    Raises:
        UserError: if it is no URL or names no model.
    """
    url, _, model = name.partition("#")
    if not is_endpoint(url) or not model:
        raise UserError(f"{name}: an endpoint is written URL#MODEL, e.g. http://localhost:8000/v1#qwen3-4b")
    return url, model

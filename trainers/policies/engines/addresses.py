"""How a user names serving engines: `sglang+http://HOST:PORT#DIRECTORY`, several hosts with commas.

The directory holds the model's tokenizer: we render chat messages, the server sees ids alone.
"""

from typing import NamedTuple
from urllib.parse import urlsplit

from claw_envs.core.errors import UserError

KINDS = ("sglang", "vllm")


class EngineAddress(NamedTuple):
    """Where a model is served."""

    kind: str
    """One of `KINDS`."""
    urls: tuple[str, ...]
    """Of the replicas."""
    model: str
    """A local directory or `hf:owner/model` with the tokenizer, or empty."""


def is_engine(name: str) -> bool:
    """Whether `name` is meant as the address of engines, and not an endpoint's, a path or a model's name."""
    return name.startswith(tuple(f"{kind}+" for kind in KINDS))


def read_address(name: str) -> EngineAddress:
    """Parts of an address.

    >>> read_address("sglang+http://gpu1:30000,gpu2:30000#models/qwen3-4b").urls
    ('http://gpu1:30000', 'http://gpu2:30000')

    Raises:
        UserError: if it is none.
    """
    where, _, model = name.partition("#")
    kind, _, url = where.partition("+")
    scheme, _, hosts = url.partition("://")
    urls = tuple(f"{scheme}://{host.strip().rstrip('/')}" for host in hosts.split(","))
    if not is_engine(name) or not all(_is_server(url) for url in urls):
        raise UserError(
            f"{name}: engines are written KIND+http://HOST:PORT,HOST:PORT#DIRECTORY with {' or '.join(KINDS)} as kind, "
            "e.g. sglang+http://localhost:30000#models/qwen3-4b"
        )
    return EngineAddress(kind, urls, model)


def _is_server(url: str) -> bool:
    try:
        parts = urlsplit(url)
        there = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        return there and not parts.path and not parts.query
    except ValueError:
        return False

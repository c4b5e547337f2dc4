"""SGLang's answers (0.5.23), as far as they are read."""

from collections.abc import Sequence
from typing import Any

import msgspec

LogProb = tuple[float | None, int, str | None]
"""Log-prob, token id, text where it was asked for; the first token of a prompt has no log-prob."""


class Span(msgspec.Struct):
    """The output tokens that one version sampled."""

    version: str
    start: int
    end: int


class Meta(msgspec.Struct):
    """What comes beside the tokens."""

    finish_reason: dict[str, Any] | None = None
    output_token_logprobs: list[LogProb] = []
    input_token_logprobs: list[LogProb] = []
    weight_version: str | None = None
    weight_versions: list[Span] = []


class Generated(msgspec.Struct):
    """Answer of `/generate`."""

    meta_info: Meta
    output_ids: list[int] = []


class Done(msgspec.Struct):
    """Answer of a control call; what loads adapters says `error_message`."""

    success: bool
    message: str = ""
    error_message: str | None = None


class Model(msgspec.Struct):
    """Answer of `/model_info`."""

    weight_version: str | None = None


class Server(msgspec.Struct):
    """Answer of `/server_info`."""

    tp_size: int = 1


def values_of(entries: Sequence[LogProb], ids: Sequence[int]) -> list[float]:
    """The log-probs of `ids`; nothing where they are those of other tokens."""
    if [token for _, token, _ in entries] != list(ids):
        return []
    return [float("nan") if value is None else value for value, _, _ in entries]

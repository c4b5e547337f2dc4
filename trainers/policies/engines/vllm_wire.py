"""What vLLM's server is asked and what it answers, as far as we use it: two ways to give ids and get ids.

`/inference/v1/generate` is made for it; a server of 0.32 has it where it was started with `--enable-scale-out`.
`/v1/completions` takes ids too and every server has it. Both are read into a `Reply`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from trainers.policies.base import Sampling
from trainers.policies.engines.base import EngineDownError

GENERATE = "/inference/v1/generate"
COMPLETIONS = "/v1/completions"


class Span(msgspec.Struct):
    """Tokens `start` to before `end` were sampled by weights with the tag `version`."""

    version: str
    start: int
    end: int


class _LogProb(msgspec.Struct):
    """Of a sampled token 0.32 gives the id; before it, and by `/v1/completions`, there is a text of it."""

    logprob: float | None = None
    token: str = ""
    token_id: int | None = None


class _Generated(msgspec.Struct):
    content: list[_LogProb] | None = None


class _Completed(msgspec.Struct):
    tokens: list[str] = []
    token_logprobs: list[float | None] = []


PromptLogProbs = list[dict[str, _LogProb] | None]
"""For every token of the prompt, log-probs by token id; nothing for the first."""


class _Choice(msgspec.Struct):
    finish_reason: str | None = None
    token_ids: list[int] | None = None
    weight_versions: list[Span] | None = None
    prompt_logprobs: PromptLogProbs | None = None


class _GenerateChoice(_Choice):
    logprobs: _Generated | None = None


class _CompletionsChoice(_Choice):
    logprobs: _Completed | None = None


class GenerateAnswer(msgspec.Struct):
    """Of `/inference/v1/generate`."""

    choices: list[_GenerateChoice]
    prompt_logprobs: PromptLogProbs | None = None


class CompletionsAnswer(msgspec.Struct):
    """Of `/v1/completions`."""

    choices: list[_CompletionsChoice]


class Reply(NamedTuple):
    """One response."""

    ids: list[int]
    scored: list[int]
    """The tokens that the log-probs are of."""
    logprobs: list[float]
    """One for each of `ids` where they were asked for."""
    finish_reason: str
    spans: list[Span] | None
    """None from a server that doesn't tag tokens."""
    prompt: PromptLogProbs
    """Empty where it wasn't asked for."""


def sampling_params(sampling: Sampling, stop_ids: Sequence[int]) -> dict[str, Any]:
    """What both ways take; all that a model's own generation config could change is said."""
    params: dict[str, Any] = {
        "max_tokens": sampling.max_new_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": -1,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "logprobs": 0,
    }
    params |= {} if sampling.seed is None else {"seed": sampling.seed}
    return params | ({"stop_token_ids": list(stop_ids)} if stop_ids else {})


def generate_body(ids: Sequence[int], params: dict[str, Any], model: str | None, salt: str | None) -> dict[str, Any]:
    """For `/inference/v1/generate`.

    Args:
        model: an adapter's name, None for the plain weights.
        salt: prompts share their cached beginnings with those of the same salt only.
    """
    body = {"token_ids": list(ids), "sampling_params": params | {"detokenize": False}}
    return body | ({"model": model} if model else {}) | ({"cache_salt": salt} if salt else {})


def completions_body(ids: Sequence[int], params: dict[str, Any], model: str, salt: str | None) -> dict[str, Any]:
    """For `/v1/completions`."""
    body = {"model": model, "prompt": list(ids), "return_token_ids": True, "return_tokens_as_token_ids": True}
    return body | params | ({"cache_salt": salt} if salt else {})


def read_generated(answer: GenerateAnswer) -> Reply:
    """Raises EngineDownError for an answer without a choice or ids."""
    choice = _only(answer.choices)
    content = (choice.logprobs.content or []) if choice.logprobs else []
    scored = [_id(entry.token) if entry.token_id is None else entry.token_id for entry in content]
    return _reply(choice, scored, [entry.logprob for entry in content], answer.prompt_logprobs)


def read_completed(answer: CompletionsAnswer) -> Reply:
    """Raises EngineDownError for an answer without a choice or ids."""
    choice = _only(answer.choices)
    entries = choice.logprobs or _Completed()
    return _reply(choice, [_id(token) for token in entries.tokens], entries.token_logprobs, choice.prompt_logprobs)


def _only(choices: Sequence[Any]) -> Any:
    if len(choices) != 1 or choices[0].token_ids is None:
        raise EngineDownError(f"an answer of {len(choices)} choices, or without token ids")
    return choices[0]


def _id(token: str) -> int:
    """7 for `token_id:7`."""
    number = token.removeprefix("token_id:")
    return int(number) if number.isdecimal() else -1


def _reply(
    choice: _Choice, scored: list[int], logprobs: Sequence[float | None], prompt: PromptLogProbs | None
) -> Reply:
    values = [float("nan") if value is None else value for value in logprobs]
    reason = choice.finish_reason or "stop"
    return Reply(choice.token_ids or [], scored, values, reason, choice.weight_versions, prompt or [])

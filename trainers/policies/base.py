"""What a policy is: token in, token out. What was sampled is what is trained: ids and log-probs are never remade."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from claw_envs.core.episode import Message

Prompt = Sequence[Message] | Sequence[int]
"""Chat messages, or token ids that are used as they are."""


class Sampling(NamedTuple):
    """How to sample one response."""

    max_new_tokens: int = 64
    temperature: float = 1.0
    """0 is greedy. Log-probs are always those of the distribution that was sampled from."""
    top_p: float = 1.0
    seed: int | None = None
    """Makes the response reproducible whatever else is in the batch; None draws one."""


class Completion(NamedTuple):
    """One sampled response."""

    prompt_ids: list[int]
    response_ids: list[int]
    """The end-of-turn token included where it was sampled."""
    logprobs: list[float]
    """Natural log, one for each response token."""
    versions: list[int]
    """Policy version that sampled each token."""
    finish_reason: str
    """`stop` (end-of-turn token) or `length`; behind an endpoint also `tool_calls`, or what else it says."""
    text: str
    """The response without special tokens."""
    tool_calls: Sequence[dict[str, Any]] = ()
    """OpenAI calls that an endpoint gave beside the text; an embedded model writes its calls into the text."""
    prompt_tokens: int = 0
    """As an endpoint counts them, 0 where it doesn't; else there are as many as ids."""
    response_tokens: int = 0


class Policy(Protocol):
    """An agent's model, embedded or behind an endpoint."""

    @property
    def version(self) -> int:
        """Of the weights in use; 0 for the initial ones."""
        ...

    async def generate(
        self, prompt: Prompt, sampling: Sampling, *, tools: Sequence[dict[str, Any]] | None = None
    ) -> Completion:
        """Sample a response. Concurrent calls are batched; a weight update takes effect between two tokens.

        Args:
            tools: schemas to show with the messages of `prompt`, in the model's own way; token ids show theirs already.

        A policy whose `renderer` sees is given `images` too: the files of those that stand in token ids, in order.

        Raises:
            ContextFull: if the prompt leaves no room for a response.
            InfrastructureError: if the engine is gone.
        """
        ...

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        """Natural-log probability of each token of `response_ids` after `prompt`, at temperature 1."""
        ...

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        """Put new weights in place without refusing or restarting any request."""
        ...

    async def aclose(self) -> None:
        """Release the engine."""
        ...

"""`EndpointPolicy`: a model behind any OpenAI-compatible endpoint, for evaluation.

Messages in, text and calls of tools out: chat endpoints give neither exact ids nor reliable log-probabilities, so it
cannot be trained.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.core.llm import ChatClient
from trainers.policies.base import Completion, Prompt, Sampling


class EndpointPolicy:
    """See `Policy`; ids, log-probs and versions of its completions are empty. Use it from one event loop."""

    version = 0

    def __init__(
        self, base_url: str, *, model: str, api_key: str | None = None, concurrency: int = 16, timeout: float = 60.0
    ) -> None:
        """
        Args:
            base_url: up to and without `/chat/completions`, e.g. `http://localhost:8000/v1`.
            model: the name the endpoint knows it by.
            api_key: sent as bearer token where given.
            concurrency: most requests in flight at once; further calls wait.
            timeout: seconds for one response, retries included.
        """
        self._client = ChatClient(base_url, model, api_key=api_key, concurrency=concurrency, timeout=timeout)

    async def generate(
        self, prompt: Prompt, sampling: Sampling, *, tools: Sequence[dict[str, Any]] | None = None
    ) -> Completion:
        """See `Policy.generate`.

        Raises:
            UserError: for a prompt of token ids or a top-p other than 1, which this path does not carry.
            ContextFull: if the endpoint says that the conversation does not fit its model's context.
            InfrastructureError: if no answer could be had.
        """
        messages = [message for message in prompt if isinstance(message, dict)]
        if not messages or len(messages) != len(prompt):
            raise UserError("an endpoint takes chat messages, not token ids")
        if sampling.top_p != 1:
            raise UserError("an endpoint samples with its own top_p: leave it at 1")
        (reply, *_) = await self._client.complete(
            messages,
            temperature=sampling.temperature,
            max_tokens=sampling.max_new_tokens,
            seed=sampling.seed,
            tools=tools,
        )
        return Completion(
            [],
            [],
            [],
            [],
            reply.finish_reason,
            reply.text,
            tuple(reply.tool_calls),
            prompt_tokens=reply.prompt_tokens,
            response_tokens=reply.completion_tokens,
        )

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        """Not possible.

        Raises:
            UserError: always.
        """
        raise UserError("an endpoint cannot score token ids: use an embedded model (a local directory or 'smollm2')")

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        """Not possible.

        Raises:
            UserError: always.
        """
        raise UserError("an endpoint's weights cannot be updated from here: train an embedded model")

    async def aclose(self) -> None:
        """Close the connections. May be called again."""
        await self._client.aclose()

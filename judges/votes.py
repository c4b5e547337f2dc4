"""Asks a judge's model several times at once and gathers what came back."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from claw_envs.core.episode import Message
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.llm import ChatReply


class Client(Protocol):
    """Whatever completes chats: `claw_envs.core.llm.ChatClient`."""

    async def complete(
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int, n: int = 1, seed: int | None = None
    ) -> list[ChatReply]:
        """See `ChatClient.complete`."""
        ...


class Ballot(NamedTuple):
    """The replies of one question, in the order of their seeds.

    Attributes:
        replies: None for one that could not be had.
        error: why one could not be had, None where all came.
    """

    replies: list[ChatReply | None]
    error: str | None

    @property
    def texts(self) -> list[str | None]:
        """What can be read as a vote: a reply that the token limit cut off has not come to its last line."""
        return [None if reply is None or reply.finish_reason == "length" else reply.text for reply in self.replies]

    @property
    def raw(self) -> list[str]:
        """Every reply as it came."""
        return [reply.text for reply in self.replies if reply is not None]

    @property
    def cost(self) -> int:
        """Tokens spent."""
        return sum(reply.prompt_tokens + reply.completion_tokens for reply in self.replies if reply is not None)


async def ask(
    client: Client, messages: Sequence[Message], *, votes: int, temperature: float, max_tokens: int, seed: int
) -> Ballot:
    """Ask `votes` times concurrently, vote i with seed `seed + i`.

    Raises:
        UserError: if the endpoint knows neither the key nor the model.
    """

    async def one(i: int) -> ChatReply | InfrastructureError:
        try:
            replies = await client.complete(messages, temperature=temperature, max_tokens=max_tokens, seed=seed + i)
        except InfrastructureError as error:
            return error
        return replies[0]

    results = await asyncio.gather(*(one(i) for i in range(votes)))
    errors = [str(result) for result in results if isinstance(result, InfrastructureError)]
    replies = [None if isinstance(result, InfrastructureError) else result for result in results]
    return Ballot(replies, errors[0] if errors else None)

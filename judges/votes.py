"""`VotingJudge`: asks a judge's model several times at once. What the replies mean is its subclasses' business."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple, Protocol

from claw_envs.core.episode import Message, Turn, Verdict
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.llm import ChatReply
from claw_envs.core.task import Task
from judges import material


class Client(Protocol):
    """Whatever completes chats: `claw_envs.core.llm.ChatClient`."""

    async def complete(
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int, n: int = 1, seed: int | None = None
    ) -> list[ChatReply]:
        """See `ChatClient.complete`."""
        ...


class Decision(NamedTuple):
    """What a judge makes of its model's replies."""

    votes: list[float | None]
    score: float | None = None
    hint: str | None = None


class VotingJudge:
    """A judge whose model is asked `votes` times about each turn, concurrently.

    Where the replies give neither score nor hint the verdict is an abstention, unless no vote could be read and a
    request failed: then the judge could not be asked, and the verdict failed.
    """

    kind: ClassVar[Literal["prm", "hint"]]
    default_votes: ClassVar[int]

    def __init__(
        self,
        client: Client,
        *,
        votes: int | None = None,
        temperature: float = 0.6,
        max_tokens: int = 512,
        prompt: str | None = None,
        seed: int = 0,
        images: bool = True,
    ) -> None:
        """
        Args:
            client: of the judge's model.
            votes: number of parallel requests a turn; None for the judge's own default.
            temperature: of sampling; 0 makes all votes the same.
            max_tokens: of each reply; one that is cut off is no vote.
            prompt: instructions in place of the family's own (`judges/prompts/KIND_FAMILY.md`).
            seed: vote i is sampled with `seed + i`.
            images: whether the model sees; without, screens are shown to it as text alone.

        Raises:
            UserError: if `votes` is below 1.
        """
        self._votes = self.default_votes if votes is None else votes
        if self._votes < 1:
            raise UserError(f"votes must be at least 1, got {votes}")
        self._client, self._prompt, self._seed = client, prompt, seed
        self._temperature, self._max_tokens, self._images = temperature, max_tokens, images

    def decide(self, replies: Sequence[str | None]) -> Decision:
        """Read the replies, None for one that could not be had or was cut off by the token limit."""
        raise NotImplementedError

    async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
        """See `judges.base.Judge`. What came before is read as `judges.material` says.

        Raises:
            UserError: if the endpoint knows neither the key nor the model.
        """
        if turn.observation is None:
            return Verdict(status="abstained")
        messages = await asyncio.to_thread(
            material.prompt, self.kind, turn, task, history=history, system=self._prompt, images=self._images
        )
        answers = await asyncio.gather(*(self._ask(messages, seed=self._seed + i) for i in range(self._votes)))
        replies = [None if isinstance(answer, InfrastructureError) else answer for answer in answers]
        errors = [str(answer) for answer in answers if isinstance(answer, InfrastructureError)]
        decision = self.decide([reply.text if reply and reply.finish_reason != "length" else None for reply in replies])
        verdict = Verdict(
            score=decision.score,
            votes=decision.votes,
            hint=decision.hint,
            raw=[reply.text for reply in replies if reply],
            cost=sum(reply.prompt_tokens + reply.completion_tokens for reply in replies if reply),
            error=errors[0] if errors else None,
        )
        if verdict.score is None and verdict.hint is None:
            unread = all(vote is None for vote in verdict.votes)
            verdict.status = "failed" if unread and errors else "abstained"
            verdict.error = verdict.error or ("no vote could be read" if unread else None)
        return verdict

    async def _ask(self, messages: Sequence[Message], *, seed: int) -> ChatReply | InfrastructureError:
        try:
            replies = await self._client.complete(
                messages, temperature=self._temperature, max_tokens=self._max_tokens, seed=seed
            )
        except InfrastructureError as error:
            return error
        return replies[0]

"""`HintJudge`: a language model reads the next state and says in words what the action should have been."""

from collections.abc import Sequence

from claw_envs.core.episode import Turn, Verdict
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from judges import material, parse
from judges.fence import neutralise
from judges.votes import Client, ask

_MIN_HINT = 10  # characters; what is not longer says nothing


class HintJudge:
    """Hints by a language model. Its verdicts have no score; `votes` are +1 (there is a hint) and -1 (there is none).

    Of the hints that came with a vote of +1 and have more than 10 characters, the longest is taken. No such hint is an
    abstention; where no vote can be read and some request failed, the verdict failed.
    """

    def __init__(
        self,
        client: Client,
        *,
        votes: int = 1,
        temperature: float = 0.6,
        max_tokens: int = 512,
        prompt: str | None = None,
        seed: int = 0,
    ) -> None:
        """
        Args:
            client: of the judge's model.
            votes: number of parallel requests a turn.
            temperature: of sampling.
            max_tokens: of each reply; one that is cut off is no vote.
            prompt: instructions in place of the family's own (`judges/prompts/hint_FAMILY.md`).
            seed: vote i is sampled with `seed + i`.

        Raises:
            UserError: if `votes` is below 1.
        """
        if votes < 1:
            raise UserError(f"votes must be at least 1, got {votes}")
        self._client, self._votes, self._prompt, self._seed = client, votes, prompt, seed
        self._temperature, self._max_tokens = temperature, max_tokens

    async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
        """See `judges.base.Judge`; `history` is read from `turn.messages`, which is what the agent saw."""
        if turn.observation is None:
            return Verdict(status="abstained")
        ballot = await ask(
            self._client,
            material.prompt("hint", turn, task, system=self._prompt),
            votes=self._votes,
            temperature=self._temperature,
            max_tokens=self._max_tokens,
            seed=self._seed,
        )
        read = [(None, None) if text is None else parse.hint_vote(text) for text in ballot.texts]
        # a hint goes into the agent's own prompt: it must not carry a chat template's tokens there
        hints = [neutralise(hint) for _, hint in read if hint and len(hint) > _MIN_HINT]
        votes = [vote for vote, _ in read]
        verdict = Verdict(hint=max(hints, key=len, default=None), votes=votes, raw=ballot.raw, cost=ballot.cost)
        verdict.error = ballot.error
        if verdict.hint is None:
            unread = all(vote is None for vote in votes)
            verdict.status = "failed" if unread and ballot.error else "abstained"
            verdict.error = ballot.error or ("no vote could be read" if unread else None)
        return verdict

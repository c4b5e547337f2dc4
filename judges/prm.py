"""`PRMJudge`: a language model reads the next state and votes +1, 0 or -1; the most frequent vote is the score."""

from collections import Counter
from collections.abc import Sequence

from claw_envs.core.episode import Turn, Verdict
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from judges import material, parse
from judges.votes import Client, ask


class PRMJudge:
    """Process reward by the vote of a language model.

    A tie between the most frequent votes, and replies of which none can be read, are abstentions: unlike a score of 0
    ("neither good nor bad") they are left out. Where no vote can be read and some request failed, the verdict failed.
    """

    def __init__(
        self,
        client: Client,
        *,
        votes: int = 3,
        temperature: float = 0.6,
        max_tokens: int = 512,
        prompt: str | None = None,
        seed: int = 0,
    ) -> None:
        """
        Args:
            client: of the judge's model.
            votes: number of parallel requests a turn.
            temperature: of sampling; 0 makes all votes the same.
            max_tokens: of each reply; one that is cut off is no vote.
            prompt: instructions in place of the family's own (`judges/prompts/prm_FAMILY.md`).
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
            material.prompt("prm", turn, task, system=self._prompt),
            votes=self._votes,
            temperature=self._temperature,
            max_tokens=self._max_tokens,
            seed=self._seed,
        )
        votes = [None if text is None else parse.vote(text) for text in ballot.texts]
        verdict = Verdict(score=majority(votes), votes=votes, raw=ballot.raw, cost=ballot.cost, error=ballot.error)
        if verdict.score is None:
            unread = all(vote is None for vote in votes)
            verdict.status = "failed" if unread and ballot.error else "abstained"
            verdict.error = ballot.error or ("no vote could be read" if unread else None)
        return verdict


def majority(votes: Sequence[float | None]) -> float | None:
    """The most frequent of the votes that could be read; None where there is none, or a tie.

    >>> majority([1.0, None, 1.0, -1.0]), majority([1.0, -1.0])
    (1.0, None)
    """
    ranked = Counter(vote for vote in votes if vote is not None).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]

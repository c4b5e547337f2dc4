"""`PRMJudge`: a language model reads the next state and votes +1, 0 or -1; the most frequent vote is the score."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Literal

from judges import parse
from judges.votes import Decision, VotingJudge


class PRMJudge(VotingJudge):
    """Process reward by the votes of a language model, three by default.

    A tie between the most frequent votes is an abstention: it is left out, while a majority for 0 is a score of 0
    ("neither good nor bad").
    """

    kind: ClassVar[Literal["prm", "hint"]] = "prm"
    default_votes: ClassVar[int] = 3

    def decide(self, replies: Sequence[str | None]) -> Decision:
        """See `VotingJudge.decide`."""
        votes = [None if reply is None else parse.vote(reply) for reply in replies]
        return Decision(votes, score=majority(votes))


def majority(votes: Sequence[float | None]) -> float | None:
    """The most frequent of the votes that could be read; None where there is none, or a tie.

    >>> majority([1.0, None, 1.0, -1.0])
    1.0
    """
    ranked = Counter(vote for vote in votes if vote is not None).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]

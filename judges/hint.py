"""`HintJudge`: a language model reads the next state and says in words what the action should have been."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from judges import parse
from judges.fence import neutralise
from judges.votes import Decision, VotingJudge

_MIN_HINT = 10  # characters; what is not longer says nothing


class HintJudge(VotingJudge):
    """Hints by a language model, asked once by default. There is no score: its votes are whether there is a hint.

    Of the hints that came with a vote of +1 and have more than 10 characters, the longest is taken.
    """

    kind: ClassVar[Literal["prm", "hint"]] = "hint"
    default_votes: ClassVar[int] = 1

    def decide(self, replies: Sequence[str | None]) -> Decision:
        """See `VotingJudge.decide`."""
        read = [(None, None) if reply is None else parse.hint_vote(reply) for reply in replies]
        # a hint goes into the agent's own prompt: it must not bring a chat template's tokens there
        hints = [neutralise(hint) for _, hint in read if hint and len(hint) > _MIN_HINT]
        return Decision([vote for vote, _ in read], hint=max(hints, key=len, default=None))

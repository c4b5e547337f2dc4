"""Judges: from the next state that an action produced to a verdict on the action."""

from judges.base import Judge
from judges.composite import CombinedJudge, CompositeJudge
from judges.hint import HintJudge
from judges.outcome import OutcomeJudge
from judges.prm import PRMJudge
from judges.rules import RulesJudge
from judges.wrapper import JudgeReward

__all__ = [
    "CombinedJudge",
    "CompositeJudge",
    "HintJudge",
    "Judge",
    "JudgeReward",
    "OutcomeJudge",
    "PRMJudge",
    "RulesJudge",
]

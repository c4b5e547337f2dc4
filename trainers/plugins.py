"""What a run is put together from by name: the environments and the judge."""

import os
from collections.abc import Callable

from claw_envs.core.env import ClawEnv
from claw_envs.core.errors import UserError
from claw_envs.families import family
from claw_envs.lookup import lookup
from judges.base import Judge
from trainers.config import Config, JudgeConfig

API_KEY = "OPENAI_API_KEY"
"""Environment variable with the key of the judge's endpoint: keys do not belong into a settings file."""


def make_env(config: Config) -> ClawEnv:
    """One environment of the run's family.

    Raises:
        UserError: if `[env]` holds an argument that the family does not take.
    """
    create: Callable[..., ClawEnv] = lookup(family(config.family).env, extra="train")
    try:
        return create(**config.env)
    except TypeError as error:
        raise UserError(f"[env] of the {config.family} family: {error}") from None


def make_judge(config: JudgeConfig) -> Judge:
    """The judge of the run."""
    if config.kind == "rules":
        from judges.rules import RulesJudge

        return RulesJudge()
    from claw_envs.core.llm import ChatClient
    from judges.composite import CombinedJudge
    from judges.hint import HintJudge
    from judges.prm import PRMJudge

    client = ChatClient(config.base_url, config.model, api_key=os.environ.get(API_KEY))
    return CombinedJudge(score=PRMJudge(client, votes=config.votes), hint=HintJudge(client))

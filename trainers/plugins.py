"""What a run is put together from, by name: the judge, the environments, the scoring function."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, cast

from claw_envs.core.env import ClawEnv
from claw_envs.core.errors import UserError
from claw_envs.families import family
from judges.base import Judge
from trainers.config import Config, JudgeConfig

Evaluate = Callable[..., Awaitable[dict[str, float]]]


def resolve(name: str) -> Any:
    """The object that `module:attribute` names.

    Raises:
        UserError: if there is none.
    """
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UserError(f"{name!r} names no function (module:function): {error}") from None


def make_env(config: Config) -> ClawEnv:
    """One environment of the run's family.

    Raises:
        UserError: if `[env]` holds an argument that the family does not take.
    """
    create = resolve(family(config.family).env)
    try:
        return cast(ClawEnv, create(**config.env))
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

    client = ChatClient(config.base_url, config.model)
    return CombinedJudge(score=PRMJudge(client, votes=config.votes), hint=HintJudge(client))

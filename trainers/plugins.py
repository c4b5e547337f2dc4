"""What a run is put together from by name: the environments and the judge."""

from claw_envs import make
from claw_envs.core.endpoints import api_key
from claw_envs.core.env import ClawEnv
from claw_envs.core.llm import ChatClient
from judges.base import Judge
from judges.composite import CombinedJudge
from judges.hint import HintJudge
from judges.prm import PRMJudge
from judges.rules import RulesJudge
from trainers.config import Config, JudgeConfig


class EndpointJudge(CombinedJudge):
    """Score and hint by one model behind an endpoint; it owns the client."""

    def __init__(self, client: ChatClient, *, votes: int) -> None:
        """
        Args:
            client: of the judge's model.
            votes: for the score.
        """
        super().__init__(score=PRMJudge(client, votes=votes), hint=HintJudge(client))
        self._client = client

    async def aclose(self) -> None:
        """Close the client. May be called again."""
        await self._client.aclose()


def make_env(config: Config) -> ClawEnv:
    """One environment of the run's family.

    Raises:
        UserError: if `[env]` holds an argument that the family does not take.
    """
    return make.make_env(config.family, config.env, said="[env]")


def make_judge(config: JudgeConfig) -> Judge:
    """The judge of the run; `close_judge` releases it."""
    if config.kind == "rules":
        return RulesJudge()
    return EndpointJudge(ChatClient(config.base_url, config.model, api_key=api_key()), votes=config.votes)


async def close_judge(judge: Judge) -> None:
    """Release what `make_judge` opened. May be called again."""
    if isinstance(judge, EndpointJudge):
        await judge.aclose()

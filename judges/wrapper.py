"""`JudgeReward`: a Gymnasium wrapper that adds a judge's score to each step's reward."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym

from claw_envs.core.env import Action, ClawEnv, text_of, tool_calls_of
from claw_envs.core.episode import Message, Observation, Status, Turn, Verdict
from claw_envs.core.errors import UserError
from claw_envs.core.loop import run_sync
from judges.base import Judge

StepResult = tuple[dict[str, Any], float, bool, bool, dict[str, Any]]


class JudgeReward(
    gym.Wrapper[dict[str, Any], Action, dict[str, Any], Action],
    gym.utils.RecordConstructorArgs,
):
    """The reward of a step is the environment's own plus the verdict's score; None adds nothing.

    The verdict is in `info["verdict"]`, also as a `Verdict` where the judge abstained or failed. Aborted steps are not
    judged. Works through `step` and, for trainers, through `areset` and `astep`. In training a judge need not stand
    between a step and the next: a trainer judges turns while the episode goes on.

    >>> import claw_envs, gymnasium
    >>> from judges import JudgeReward, RulesJudge
    >>> env = JudgeReward(gymnasium.make("claw/chat-v0"), RulesJudge())
    """

    def __init__(self, env: gym.Env[dict[str, Any], Action], judge: Judge) -> None:
        """
        Args:
            env: a `ClawEnv`, wrapped or not.
            judge: asked once a step. If it holds a `ChatClient`, that belongs to whoever made it.

        Raises:
            UserError: if `env` is no `ClawEnv`.
        """
        # a judge may hold connections: the recorded arguments keep it itself, not a copy
        gym.utils.RecordConstructorArgs.__init__(self, _disable_deepcopy=True, judge=judge)
        gym.Wrapper.__init__(self, env)
        if not isinstance(env.unwrapped, ClawEnv):
            raise UserError(f"JudgeReward wraps environments of claw-envs, got {type(env.unwrapped).__name__}")
        self._claw: ClawEnv = env.unwrapped
        self._judge = judge
        self._messages: list[Message] = []
        self._turns: list[Turn] = []
        self._opening: Observation | None = None
        self._episodes = 0

    async def areset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Asynchronous `reset`."""
        return self._begun(await self.env.get_wrapper_attr("areset")(seed=seed, options=options))

    async def astep(self, action: Action) -> StepResult:
        """Asynchronous `step`; waits for the verdict."""
        result = await self.env.get_wrapper_attr("astep")(action)
        return _rewarded(result, await self._verdict(action, result))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """See `ClawEnv.reset`."""
        return self._begun(self.env.reset(seed=seed, options=options))

    def step(self, action: Action) -> StepResult:
        """See `ClawEnv.step`; the reward holds the verdict's score."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        result = (observation, float(reward), terminated, truncated, info)
        return _rewarded(result, run_sync(self._verdict(action, result)))

    def _begun(self, result: tuple[dict[str, Any], dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
        prompt = result[1].get("system_prompt")
        self._messages = [{"role": "system", "content": prompt}] if prompt else []
        self._messages += self._claw.last_observation.messages()
        self._turns = []
        self._opening = self._claw.last_observation if self._claw.last_observation.is_screen else None
        self._episodes += 1
        return result

    async def _verdict(self, action: Action, result: StepResult) -> Verdict | None:
        _, reward, _, _, info = result
        if info["status"] == Status.ABORTED:
            return None
        turn = Turn(
            episode_id=f"{info['task_id']}#{self._episodes}",
            step=len(self._turns),
            messages=list(self._messages),
            response=text_of(action),
            tool_calls=tool_calls_of(action),
            observation=self._claw.last_observation,
            opening=None if self._turns else self._opening,
            reward=reward,
            timings=dict(info["timings"]),
        )
        history: Sequence[Turn] = tuple(self._turns)
        turn.verdict = await self._judge.judge(turn, history, self._claw.task)
        self._turns.append(turn)
        said = action if isinstance(action, dict) else {"content": action}
        self._messages += [{"role": "assistant"} | said, *self._claw.last_observation.messages()]
        return turn.verdict


def _rewarded(result: StepResult, verdict: Verdict | None) -> StepResult:
    if verdict is None:
        return result
    observation, reward, terminated, truncated, info = result
    return observation, reward + (verdict.score or 0.0), terminated, truncated, info | {"verdict": verdict}

"""One episode at a time: prompts that extend each other, limits, aborts, pacing and judging hooks."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from claw_envs.chat.env import ChatEnv
from claw_envs.core.env import Action, Step
from claw_envs.core.episode import Answer, Episode, Status, Turn
from claw_envs.core.errors import ContextFull, InfrastructureError
from trainers.policies.base import Completion, Prompt, Sampling
from trainers.policies.render import Renderer
from trainers.rollout import run_episode

STEPS = "To find the number, let's go step by step."


class Speaker:
    """Says one thing; its context holds `answers` responses."""

    version = 3

    def __init__(self, text: str = STEPS, *, answers: int = 99, renderer: Renderer | None = None) -> None:
        self.text, self.answers, self.prompts = text, answers, list[Prompt]()
        if renderer is not None:
            self.renderer = renderer

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Completion:
        if len(self.prompts) >= self.answers:
            raise ContextFull("no room")
        self.prompts.append(prompt)
        ids = [] if isinstance(prompt[0], dict) else [int(i) for i in prompt]  # type: ignore[arg-type]
        said = self.renderer.tokenizer.encode(self.text + "<|im_end|>") if ids else [1]
        return Completion(ids, said, [-0.5] * len(said), [3] * len(said), "stop", self.text)

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        raise NotImplementedError

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        """Nothing to release."""


def run(policy: Speaker, env: ChatEnv | None = None, **options: Any) -> Episode:
    env = env or ChatEnv(mix={"correction": 1.0, "vague": 0.0, "reask": 0.0})
    return asyncio.run(
        run_episode(env, policy, sampling=Sampling(seed=1), task="student-wp-002", seed=7, episode_id="e", **options)
    )


def test_an_episode_holds_every_turn_with_what_came_after_it() -> None:
    episode = run(Speaker(), group_id="g", sample_index=2)
    assert episode.status is Status.TRUNCATED
    assert (episode.task_id, episode.family, episode.group_id, episode.sample_index) == (
        "student-wp-002",
        "chat",
        "g",
        2,
    )
    assert [turn.id for turn in episode.turns] == ["e/0", "e/1", "e/2"]
    assert episode.outcome == 0.0
    for before, after in zip(episode.turns, episode.turns[1:], strict=False):
        assert before.observation is not None
        said = [{"role": "assistant", "content": STEPS}, {"role": "user", "content": before.observation.text}]
        assert after.messages == [*before.messages, *said]


def test_later_prompts_extend_the_very_ids_that_were_fed_and_sampled(policy: Any) -> None:
    speaker = Speaker(renderer=policy.renderer)
    episode = run(speaker)
    for before, after in zip(episode.turns, episode.turns[1:], strict=False):
        so_far = before.prompt_ids + before.response_ids
        assert after.prompt_ids[: len(so_far)] == so_far
    shown = policy.renderer.decode(episode.turns[-1].prompt_ids, keep_special=True)
    assert shown.count(STEPS) == 2


def test_several_answers_to_one_message_extend_the_conversation_too(policy: Any) -> None:
    class Answers(ChatEnv):
        async def _act(self, action: Action) -> Step:
            step = await super()._act(action)
            step.observation.answers = [Answer("a", "first answer"), Answer("b", "second answer")]
            return step

    env = Answers(mix={"correction": 1.0, "vague": 0.0, "reask": 0.0})
    episode = run(Speaker(renderer=policy.renderer), env)
    for before, after in zip(episode.turns, episode.turns[1:], strict=False):
        so_far = before.prompt_ids + before.response_ids
        assert after.prompt_ids[: len(so_far)] == so_far
    roles = [message["role"] for message in episode.turns[-1].messages]
    assert roles[-6:] == ["assistant", "tool", "tool"] * 2
    shown = policy.renderer.decode(episode.turns[-1].prompt_ids, keep_special=True)
    assert shown.count("first answer") == shown.count("second answer") == 2


def test_a_full_context_truncates_and_scores_the_episode() -> None:
    episode = run(Speaker(answers=2))
    assert (episode.status, episode.outcome, len(episode.turns)) == (Status.TRUNCATED, 0.0, 2)


def test_an_abort_keeps_the_turns_before_it_and_no_outcome() -> None:
    class Breaks(ChatEnv):
        async def _act(self, action: Action) -> Step:
            if self._reactions:
                raise InfrastructureError("gone")
            return await super()._act(action)

    episode = run(Speaker(), Breaks(mix={"correction": 1.0, "vague": 0.0, "reask": 0.0}))
    assert (episode.status, episode.error, episode.outcome) == (Status.ABORTED, "gone", None)
    assert len(episode.turns) == 1


def test_each_turn_is_admitted_before_it_is_sampled_and_handed_over_with_its_history() -> None:
    events: list[tuple[str, int]] = []
    speaker = Speaker()

    async def admit() -> None:
        events.append(("admit", len(speaker.prompts)))

    async def hand_over(turn: Turn, history: list[Turn]) -> None:
        assert [earlier.step for earlier in history] == list(range(turn.step))
        events.append(("turn", turn.step))

    run(speaker, before_turn=admit, on_turn=hand_over)
    assert events == [("admit", 0), ("turn", 0), ("admit", 1), ("turn", 1), ("admit", 2), ("turn", 2)]

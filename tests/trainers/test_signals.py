from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from claw_envs.core.episode import Episode, Status, Turn, Verdict
from trainers.config import Config, load_config
from trainers.learner import Learner
from trainers.policies.gate import ComputeGate
from trainers.policies.model import load_model
from trainers.policies.render import Renderer, with_hint
from trainers.signals import process_reward, to_sequences, trainable
from trainers.store import Unit

MESSAGES = [{"role": "user", "content": "What is 2 + 2?"}]


def turn(episode: str, step: int, *, score: float | None = None, hint: str | None = None) -> Turn:
    return Turn(
        episode_id=episode,
        step=step,
        messages=MESSAGES,
        response="four",
        prompt_ids=[10 + step, 11, 12],
        response_ids=[100, 200],
        logprobs=[-2.0, -3.0],
        versions=[0, 0],
        verdict=Verdict(score=score, hint=hint),
    )


def parts(model: Path, **overrides: str) -> tuple[Config, Learner, Renderer]:
    config = load_config("chat", None, overrides)
    loaded, tokenizer = load_model(model)
    return config, Learner(loaded, config, ComputeGate()), Renderer(tokenizer)


def one_turn(turn: Turn) -> list[Unit]:
    return [Unit(id=turn.id, samples=1, episodes=[Episode(id="e", task_id="t", family="chat", turns=[turn])])]


@pytest.mark.parametrize(
    ("score", "hint", "expected"),
    [
        (1.0, None, {"binary": True, "opd": False, "combined": True}),
        (-1.0, "shorter", {"binary": True, "opd": True, "combined": True}),
        (0.0, "shorter", {"binary": False, "opd": True, "combined": True}),
        (0.0, None, {"binary": False, "opd": False, "combined": False}),
        (None, None, {"binary": False, "opd": False, "combined": False}),
    ],
)
def test_which_turns_train(score: float | None, hint: str | None, expected: dict[str, bool]) -> None:
    for signal, wanted in expected.items():
        assert trainable(turn("e", 0, score=score, hint=hint), load_config("chat", None, {"signal": signal})) is wanted


@pytest.mark.parametrize("signal", ["opd", "combined"])
def test_distillation_scores_every_token_from_the_first_under_the_hinted_prompt(tiny_model: Path, signal: str) -> None:
    config, learner, renderer = parts(tiny_model, signal=signal, **{"weights.opd_baseline": "false"})
    prompt = renderer.prompt_ids(with_hint(MESSAGES, "Shorter, please."))
    ids = torch.tensor([[*prompt, 100, 200]])
    with torch.inference_mode():
        table = learner.model(ids).logits.log_softmax(-1)[0]
    teacher = np.array([table[len(prompt) - 1, 100].item(), table[len(prompt), 200].item()])
    units = one_turn(turn("e", 0, score=-1.0, hint="Shorter, please."))
    (sequence,) = to_sequences(units, config, learner, renderer)
    expected = teacher - np.array([-2.0, -3.0]) + (-1.0 if signal == "combined" else 0.0)
    assert_allclose(sequence.advantages, expected, atol=1e-5)
    assert sequence.ids == [10, 11, 12, 100, 200]  # as sampled: the hint is in the teacher's prompt only


def test_the_hinted_prompt_shows_the_tools_that_the_prompt_showed(tiny_model: Path) -> None:
    config, learner, renderer = parts(tiny_model, signal="opd", **{"weights.opd_baseline": "false"})
    renderer.tokenizer.chat_template = "{{ tools[0].name if tools else 'nothing' }}: {{ messages[0].content }}"
    tooled = turn("e", 0, hint="Shorter, please.")
    tooled.tools = [{"name": "add"}]
    prompt = renderer.prompt_ids(with_hint(MESSAGES, "Shorter, please."), tools=tooled.tools)
    with torch.inference_mode():
        table = learner.model(torch.tensor([[*prompt, 100, 200]])).logits.log_softmax(-1)[0]
    teacher = np.array([table[len(prompt) - 1, 100].item(), table[len(prompt), 200].item()])
    (sequence,) = to_sequences(one_turn(tooled), config, learner, renderer)
    assert_allclose(sequence.advantages, teacher - np.array([-2.0, -3.0]), atol=1e-5)


def test_the_baseline_adds_the_exact_divergence_at_each_position(tiny_model: Path) -> None:
    config, learner, renderer = parts(tiny_model, signal="opd")
    learner.model.get_output_embeddings().weight.data *= 3.0  # else a random model's distribution is nearly uniform
    hinted = renderer.prompt_ids(with_hint(MESSAGES, "Shorter, please."))
    logs = []
    with torch.inference_mode():
        for model, prompt in ((learner.model, [10, 11, 12]), (learner.reference, hinted)):
            table = model(torch.tensor([[*prompt, 100, 200]])).logits.log_softmax(-1)[0]
            logs.append(table[len(prompt) - 1 : len(prompt) + 1])
    kl = (logs[0].exp() * (logs[0] - logs[1])).sum(-1).numpy()
    teacher = np.array([logs[1][0, 100].item(), logs[1][1, 200].item()])
    (sequence,) = to_sequences(one_turn(turn("e", 0, hint="Shorter, please.")), config, learner, renderer)
    assert kl.min() > 0.01
    assert_allclose(sequence.advantages, teacher - np.array([-2.0, -3.0]) + kl, atol=1e-4)


def test_a_verdict_without_a_hint_is_the_score_alone(tiny_model: Path) -> None:
    config, learner, renderer = parts(tiny_model, signal="combined", **{"weights.binary": "0.5"})
    (sequence,) = to_sequences(one_turn(turn("e", 0, score=1.0)), config, learner, renderer)
    assert_allclose(sequence.advantages, [0.5, 0.5])


def test_step_index_compares_the_steps_of_a_group_and_leaves_aborted_episodes_out(tiny_model: Path) -> None:
    config, learner, renderer = parts(tiny_model, signal="step_index")

    def episode(name: str, outcome: float, scores: list[float], status: Status = Status.COMPLETED) -> Episode:
        turns = [turn(name, step, score=score) for step, score in enumerate(scores)]
        return Episode(
            id=name, task_id="t", family="terminal", group_id="g", turns=turns, outcome=outcome, status=status
        )

    episodes = [
        episode("a", 1.0, [1.0, -1.0]),
        episode("b", 0.0, [-1.0]),
        episode("c", 0.0, [1.0, 1.0], Status.ABORTED),
    ]
    sequences = to_sequences([Unit(id="g", samples=2, episodes=episodes)], config, learner, renderer)
    first, second, other = sequences  # prompts differ between steps, so every step is a sequence of its own
    assert_allclose(first.advantages, [1.0, 1.0], rtol=1e-5)  # 2 against -1
    assert_allclose(other.advantages, [-1.0, -1.0], rtol=1e-5)
    assert_allclose(second.advantages, [0.0, 0.0])  # alone at its step: outcome 1 + score -1, as it is


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (Verdict(score=1.0, votes=[1.0, 1.0, -1.0]), 1 / 3),  # the mean, not the majority
        (Verdict(score=None, votes=[1.0, -1.0], status="abstained"), 0.0),  # a tie has a mean
        (Verdict(score=None, votes=[None, None], status="abstained"), None),
        (Verdict(score=1.0, votes=[1.0, None]), 1.0),
        (Verdict(score=-1.0), -1.0),
        (Verdict(status="failed"), float("nan")),
        (None, float("nan")),
    ],
)
def test_a_steps_process_reward_is_the_mean_of_its_valid_votes(verdict: Verdict | None, expected: float | None) -> None:
    assert process_reward(verdict) == pytest.approx(expected, nan_ok=True)

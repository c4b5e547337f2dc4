from pathlib import Path

import numpy as np
import pytest
import torch

from trainers import checkpoints
from trainers.config import Config, load_config
from trainers.learner import Learner
from trainers.logprobs import token_logprobs
from trainers.policies.gate import ComputeGate
from trainers.policies.model import load_model
from trainers.sequences import Sequence


def learner_of(model: Path, **overrides: str) -> tuple[Learner, Config]:
    config = load_config("chat", None, {"optim.lr": "1e-3", "loss.kl_coef": "0.0", **overrides})
    return Learner(load_model(model)[0], config, ComputeGate()), config


def sequence_of(learner: Learner, prompt: list[int], response: list[int], advantage: float) -> Sequence:
    (logprobs,) = learner.score([(prompt, response)], reference=False)
    return Sequence(
        ids=[*prompt, *response],
        positions=np.arange(len(response)) + len(prompt),
        logprobs=logprobs,
        versions=np.zeros(len(response), np.int64),
        advantages=np.full(len(response), advantage),
    )


def test_scores_are_those_of_the_whole_forward_pass_whatever_the_padding(tiny_model: Path) -> None:
    learner, _ = learner_of(tiny_model)
    rows = [([5, 6, 7], [8, 9]), ([11], [12, 13, 14, 15, 16]), ([20, 21, 22, 23, 24, 25], [30])]
    scored = learner.score(rows, reference=False)
    for (prompt, response), logprobs in zip(rows, scored, strict=True):
        ids = torch.tensor([prompt + response])
        with torch.inference_mode():
            table = learner.model(ids).logits.log_softmax(-1)[0]
        expected = [table[i - 1, ids[0, i]].item() for i in range(len(prompt), ids.shape[1])]
        np.testing.assert_allclose(logprobs, expected, atol=1e-5)


def test_a_temperature_scales_the_logits(tiny_model: Path) -> None:
    learner, _ = learner_of(tiny_model)
    with torch.inference_mode():
        table = (learner.model(torch.tensor([[5, 6]])).logits / 2.0).log_softmax(-1)[0]
        scored = token_logprobs(learner.model, [[5, 6]], [[1]], temperature=2.0)
    assert scored.logprobs.item() == pytest.approx(table[0, 6].item(), abs=1e-5)
    assert scored.entropy.item() == pytest.approx(-(table[0].exp() * table[0]).sum().item(), rel=1e-4)


@pytest.mark.parametrize("rank", ["0", "4"])
def test_an_update_raises_good_tokens_and_lowers_bad_ones(tiny_model: Path, rank: str) -> None:
    learner, _ = learner_of(tiny_model, **{"lora.rank": rank, "optim.lr": "1e-2" if rank != "0" else "1e-3"})
    good, bad = ([5, 6, 7], [8, 9, 10]), ([5, 6, 7], [40, 41, 42])
    sequences = [sequence_of(learner, *good, 1.0), sequence_of(learner, *bad, -1.0)]
    before = learner.score([good, bad], reference=False)
    figures = learner.update(sequences, version=1)
    learner.update(sequences, version=2)
    after = learner.score([good, bad], reference=False)
    assert after[0].sum() > before[0].sum()
    assert after[1].sum() < before[1].sum()
    assert learner.version == 2
    assert figures.tokens == 6
    assert figures.logprob_gap == pytest.approx(0.0, abs=1e-5)
    np.testing.assert_allclose(learner.score([good], reference=True)[0], before[0], atol=1e-6)


def test_the_batch_split_into_micro_batches_is_the_same_update(tiny_model: Path) -> None:
    figures, scores = [], []
    for microbatch in ("1", "8"):
        learner, _ = learner_of(tiny_model, **{"optim.microbatch": microbatch, "loss.kl_coef": "0.1"})
        sequences = [
            sequence_of(learner, [5, 6, 7], [8, 9, 10], 1.0),
            sequence_of(learner, [5], [40, 41, 42, 43], -1.0),
            sequence_of(learner, [7, 8], [44], 0.5),
        ]
        figures.append(learner.update(sequences, version=1))
        scores.append(np.concatenate(learner.score([([5, 6, 7], [8, 9, 10]), ([7], [44])], reference=False)))
    np.testing.assert_allclose(figures[0], figures[1], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-3)


def test_a_batch_without_signal_changes_no_weight(tiny_model: Path) -> None:
    learner, _ = learner_of(tiny_model)
    before = {name: tensor.clone() for name, tensor in learner.state().items()}
    figures = learner.update([sequence_of(learner, [5], [6, 7], float("nan"))], version=1)
    assert figures.tokens == 0
    assert all(torch.equal(tensor, before[name]) for name, tensor in learner.state().items())


def test_kl_pulls_back_to_the_reference(tiny_model: Path) -> None:
    far: dict[str, float] = {}
    for coefficient in ("0.0", "5.0"):
        options = {"loss.kl_coef": coefficient, "optim.epochs": "40", "loss.clip_high": "9"}
        learner, _ = learner_of(tiny_model, **options)
        learner.update([sequence_of(learner, [5, 6], [7, 8, 9], 1.0)], version=1)
        reference, now = (learner.score([([5, 6], [7, 8, 9])], reference=which)[0] for which in (True, False))
        far[coefficient] = float(np.abs(now - reference).sum())
    assert far["5.0"] < far["0.0"] / 2


def test_merged_lora_weights_are_what_the_adapted_model_computes(tiny_model: Path) -> None:
    learner, _ = learner_of(tiny_model, **{"lora.rank": "4", "optim.lr": "1e-2"})
    row = ([5, 6, 7], [8, 9, 10])
    learner.update([sequence_of(learner, *row, 1.0)], version=1)
    plain, _ = load_model(tiny_model)
    plain.load_state_dict(learner.state(), strict=False)
    with torch.inference_mode():
        served = token_logprobs(plain, [[5, 6, 7, 8, 9, 10]], [[3, 4, 5]]).logprobs.numpy()
    np.testing.assert_allclose(served, learner.score([row], reference=False)[0], atol=1e-5)
    assert not np.allclose(served, learner.score([row], reference=True)[0], atol=1e-3)


@pytest.mark.parametrize("rank", ["0", "4"])
def test_a_checkpoint_resumes_to_the_same_next_update(tiny_model: Path, tmp_path: Path, rank: str) -> None:
    options = {"lora.rank": rank, "optim.lr": "1e-2"}
    learner, config = learner_of(tiny_model, **options)
    tokenizer = load_model(tiny_model)[1]
    row = ([5, 6, 7], [8, 9, 10])
    sequence = sequence_of(learner, *row, 1.0)
    learner.update([sequence], version=1)
    path = checkpoints.save(tmp_path, learner, tokenizer, units={"a": 1}, keep=2)
    learner.update([sequence], version=2)

    resumed = Learner(load_model(tiny_model)[0], config, ComputeGate())
    checkpoints.restore(path, resumed)
    assert resumed.version == 1
    resumed.update([sequence], version=2)
    np.testing.assert_allclose(
        resumed.score([row], reference=False)[0], learner.score([row], reference=False)[0], atol=1e-5
    )

    saved, _ = load_model(path)
    assert saved.config.num_hidden_layers == 2


def test_only_whole_checkpoints_count_and_old_ones_go(tiny_model: Path, tmp_path: Path) -> None:
    learner, _ = learner_of(tiny_model)
    tokenizer = load_model(tiny_model)[1]
    (tmp_path / "v0009.partial").mkdir()
    for version in (1, 2, 3):
        learner.version = version
        checkpoints.save(tmp_path, learner, tokenizer, units={}, keep=2)
    assert [path.name for path in checkpoints.complete(tmp_path)] == ["v0002", "v0003"]
    (tmp_path / "v9999").mkdir()
    (tmp_path / "v10000").mkdir()
    assert [path.name for path in checkpoints.complete(tmp_path)][-2:] == ["v9999", "v10000"]

"""Log-probs of given tokens, in whichever way the rows go through the model."""

import random

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from trainers import logprobs
from trainers.logprobs import token_logprobs


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.5,
    )
    return LlamaForCausalLM(config).eval()


def attempts(common: int, ends: list[int], seed: int = 0) -> tuple[list[list[int]], list[list[int]]]:
    """Rows that share `common` tokens, and of each the positions of its own ones."""
    draw = random.Random(seed)
    prefix = [draw.randrange(64) for _ in range(common)]
    rows = [[*prefix, i, *(draw.randrange(64) for _ in range(end - 1))] for i, end in enumerate(ends)]
    return rows, [list(range(max(common, 1), len(row))) for row in rows]


@pytest.mark.parametrize(
    ("common", "ends"), [(40, [5, 9, 1, 7]), (100, [30, 30]), (0, [12, 5, 8]), (3, [20, 30, 25]), (50, [4])]
)
def test_rows_together_are_scored_as_each_alone(model: LlamaForCausalLM, common: int, ends: list[int]) -> None:
    rows, wanted = attempts(common, ends)
    with torch.no_grad():
        together = token_logprobs(model, rows, wanted, temperature=0.7)
        alone = [
            token_logprobs(model, [row], [columns], temperature=0.7) for row, columns in zip(rows, wanted, strict=True)
        ]
    assert together.logprobs.std() > 0.5  # otherwise any mask would do
    torch.testing.assert_close(together.logprobs, torch.cat([each.logprobs for each in alone]), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(together.entropy, torch.cat([each.entropy for each in alone]), atol=1e-4, rtol=1e-4)


def test_the_gradient_is_the_same_too(model: LlamaForCausalLM, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, wanted = attempts(60, [8, 12, 6, 9])
    gradients = []
    for worth in (0.8, 0.0):  # packed, padded
        monkeypatch.setattr(logprobs, "_WORTH", worth)
        model.zero_grad()
        token_logprobs(model, rows, wanted).logprobs.sum().backward()
        gradients.append(
            torch.cat([parameter.grad.flatten() for parameter in model.parameters() if parameter.grad is not None])
        )
    assert gradients[1].abs().max() > 1
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-3, rtol=1e-3)


def test_positions_within_the_common_beginning_are_scored_for_every_row(model: LlamaForCausalLM) -> None:
    rows, _ = attempts(40, [5, 5, 5])
    wanted = [list(range(1, len(row))) for row in rows]
    with torch.no_grad():
        together = token_logprobs(model, rows, wanted).logprobs
        alone = [token_logprobs(model, [row], [columns]).logprobs for row, columns in zip(rows, wanted, strict=True)]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-4, rtol=1e-4)


def test_rows_that_begin_alike_go_through_the_model_once(model: LlamaForCausalLM) -> None:
    widths: list[int] = []
    handle = model.get_input_embeddings().register_forward_hook(lambda _, inputs, __: widths.append(inputs[0].numel()))
    rows, wanted = attempts(40, [5, 5, 5, 5])
    with torch.no_grad():
        token_logprobs(model, rows, wanted)
        token_logprobs(model, *attempts(3, [20, 20]))
    handle.remove()
    assert widths == [40 + 4 * 5, 2 * 23]

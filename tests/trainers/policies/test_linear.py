"""Linear layers through oneDNN against torch's own."""

import copy

import pytest
import torch
from torch import nn

from trainers.policies.linear import OneDNNLinear, pack_weights, use_onednn


@pytest.fixture
def pair() -> tuple[nn.Module, nn.Module]:
    """A plain model and the same one through oneDNN."""
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(24, 40), nn.GELU(), nn.Linear(40, 12, bias=False))
    other = copy.deepcopy(plain)
    if not use_onednn(other):
        pytest.skip("this torch does not carry oneDNN's linear operator")
    assert sum(isinstance(module, OneDNNLinear) for module in other) == 2
    return plain, other


def test_values_and_gradients_are_the_same(pair: tuple[nn.Module, nn.Module]) -> None:
    plain, other = pair
    inputs = [torch.randn(3, 5, 24, requires_grad=True)]
    inputs.append(inputs[0].detach().clone().requires_grad_())
    outputs = [model(x) for model, x in zip(pair, inputs, strict=True)]
    torch.testing.assert_close(*outputs)
    for output in outputs:
        output.square().sum().backward()
    torch.testing.assert_close(inputs[0].grad, inputs[1].grad)
    for mine, theirs in zip(other.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)


def test_frozen_weights_get_no_gradient(pair: tuple[nn.Module, nn.Module]) -> None:
    _, other = pair
    other[0].requires_grad_(False)  # type: ignore[index, operator]
    other(torch.randn(2, 24)).sum().backward()
    assert [parameter.grad is None for parameter in other.parameters()] == [True, True, False]


def test_packed_weights_serve_and_follow_a_change(pair: tuple[nn.Module, nn.Module]) -> None:
    plain, other = pair
    x = torch.randn(7, 24)
    for change in (1.0, 2.0):
        with torch.no_grad():
            for model in pair:
                model[0].weight.mul_(change)
            pack_weights(other)
            for rows in (x, x[:1], x.reshape(7, 1, 24)):
                torch.testing.assert_close(other(rows), plain(rows))


def test_state_dict_is_the_same(pair: tuple[nn.Module, nn.Module]) -> None:
    plain, other = pair
    pack_weights(other)
    assert list(other.state_dict()) == list(plain.state_dict())


def test_other_number_formats_are_left_alone() -> None:
    model = nn.Sequential(nn.Linear(4, 4).to(torch.bfloat16))
    use_onednn(model)
    assert type(model[0]) is nn.Linear

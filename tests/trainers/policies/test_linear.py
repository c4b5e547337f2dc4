"""Linear layers through oneDNN against torch's own."""

import copy

import pytest
import torch
from torch import nn

from trainers.policies.linear import OneDNNLinear, serve_weights, use_onednn


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


def test_served_weights_follow_each_change(pair: tuple[nn.Module, nn.Module]) -> None:
    plain, other = pair
    x = torch.randn(7, 24)
    serve_weights(other)
    with torch.no_grad():
        for _ in range(2):
            for rows in (x, x[:1], x.reshape(7, 1, 24)):
                torch.testing.assert_close(other(rows), plain(rows))
            plain[0].weight.mul_(2.0)
            plain[0].bias.add_(1.0)
            serve_weights(other, plain.state_dict())


def test_names_stay_and_the_plain_form_of_a_packed_weight_goes(pair: tuple[nn.Module, nn.Module]) -> None:
    plain, other = pair
    serve_weights(other)
    assert list(other.state_dict()) == list(plain.state_dict())
    assert other[0].weight.numel() == 0
    assert other[0].bias.shape == plain[0].bias.shape


def test_a_weight_that_another_layer_shares_stays() -> None:
    embedding, head = nn.Embedding(11, 8), nn.Linear(8, 11, bias=False)
    head.weight = embedding.weight
    model = nn.Sequential(embedding, head)
    use_onednn(model)
    new = torch.randn(11, 8)
    with torch.no_grad():
        serve_weights(model)
        serve_weights(model, {"0.weight": new})
        torch.testing.assert_close(model(torch.tensor([3])), (new[3] @ new.T).unsqueeze(0))


def test_other_number_formats_are_left_alone() -> None:
    model = nn.Sequential(nn.Linear(4, 4).to(torch.bfloat16))
    use_onednn(model)
    assert type(model[0]) is nn.Linear

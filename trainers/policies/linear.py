"""Linear layers through oneDNN: the same float32 results as torch's default on a CPU, in less time.

torch multiplies float32 matrices on x86 with MKL, which leaves AVX-512 unused on some processors and is slow for few
rows; oneDNN, which torch carries too, was measured 1.5 to 5 times faster, forward and backward. Serving packs each
weight once per update into oneDNN's own layout, which pays where few rows meet many weights; training does not.
torch offers this to its own compiler only, so the operators' names are private: where they are missing, and off the
CPU, everything stays as it was.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable

_PACKED_ROWS = 16  # the batch that the packed layout suits best; others work


class OneDNNLinear(nn.Linear):
    """`nn.Linear` with float32 products through oneDNN; parameters and state dict are the same."""

    packed: torch.Tensor | None = None
    """The weight in oneDNN's layout, used where no gradient is wanted; stale once the weight changes."""

    def pack(self, weight: torch.Tensor) -> None:
        """Serve `weight` from now on."""
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), _PACKED_ROWS)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """See `nn.Linear.forward`."""
        if torch.is_grad_enabled():
            return _Product.apply(input, self.weight, self.bias)  # type: ignore[no-any-return, no-untyped-call]
        return _product(input, self.weight if self.packed is None else self.packed, self.bias)


class _Product(torch.autograd.Function):
    """y = x W^T + b, whose gradients are gW with dW = g^T x and db = the sum of g."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        ctx.save_for_backward(x, weight)
        return _product(x, weight, bias)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        for_x, for_weight, for_bias = ctx.needs_input_grad
        rows = gradient.flatten(0, -2)
        return (
            _product(gradient, weight.t()) if for_x else None,
            _product(rows.t(), x.flatten(0, -2).t()) if for_weight else None,
            rows.sum(0) if for_bias else None,
        )


def use_onednn(model: nn.Module) -> bool:
    """Let every float32 `nn.Linear` of a model on the CPU compute through oneDNN, in place.

    Returns:
        Whether this torch can; if not, the model is left alone.
    """
    available = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if not (available and hasattr(torch.ops.mkldnn, "_linear_pointwise")):
        return False
    for module in model.modules():
        if type(module) is nn.Linear and module.weight.device.type == "cpu" and module.weight.dtype == torch.float32:
            module.__class__ = OneDNNLinear
    return True


def serve_weights(model: nn.Module, state: Mapping[str, torch.Tensor] | None = None) -> None:
    """Put weights in place for serving: packed where oneDNN takes them, copied elsewhere.

    The plain form of a packed weight is let go, unless another layer needs it (a tied embedding): from then on the
    model can only serve, and new weights come by this function alone.

    Args:
        model: served without gradients.
        state: new weights by their name in the state dict, all or some; None packs the model's own.
    """
    weights = dict(model.named_parameters(remove_duplicate=False))
    uses = Counter(map(id, weights.values()))
    linears = {f"{name}.weight": each for name, each in model.named_modules() if isinstance(each, OneDNNLinear)}
    alone = {name: linear for name, linear in linears.items() if uses[id(linear.weight)] == 1}
    own = model.state_dict()
    with torch.no_grad():
        for name, tensor in (own if state is None else state).items():
            if name in alone:
                alone[name].pack(tensor)
                alone[name].weight = nn.Parameter(tensor.new_empty(0), requires_grad=False)
            elif state is not None:
                own[name].copy_(tensor)
        for name in linears.keys() - alone.keys():
            linears[name].pack(weights[name])
        if state is None:  # a loaded checkpoint stays mapped as a whole while one tensor lies in it
            for parameter in model.parameters():
                parameter.data = parameter.data.clone()


def _product(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")  # type: ignore[no-any-return]

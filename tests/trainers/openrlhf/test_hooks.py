"""The changes to OpenRLHF's own functions, each on the function or class itself."""

import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from trainers.openrlhf.hooks import cpu, maker, norm
from trainers.openrlhf.hooks.lora import merged_parameters

needs_openrlhf = pytest.mark.skipif(find_spec("openrlhf") is None, reason="openrlhf is not installed")


@needs_openrlhf
def test_a_window_without_a_token_divides_by_one() -> None:
    from openrlhf.utils.loss_utils import _optimizer_step_loss_norm as function

    empty, full = torch.zeros(2, 3), torch.ones(2, 3)
    bounded = norm._at_least_one(function, None, ([empty, empty], None, 1, 2), {})
    assert (bounded["batch_num_tokens"].item(), bounded["global_batch_size"].item()) == (0.5, 0.5)
    untouched = norm._at_least_one(function, None, ([empty, full], None, 1, 2), {})
    assert (untouched["batch_num_tokens"].item(), untouched["global_batch_size"].item()) == (3.0, 1.0)
    named = norm._at_least_one(function, None, (), {"masks": [empty], "dp_group": None, "dp_size": 1, "gas": 4})
    assert named["batch_num_tokens"].item() == 0.25


@needs_openrlhf
@pytest.mark.parametrize(("dim", "expected"), [(None, 0.0), (-1, [0.0, 0.0])])
def test_a_mean_over_no_token_is_zero(dim: int | None, expected: Any) -> None:
    from openrlhf.models.utils import masked_mean

    values, none = torch.ones(2, 3), torch.zeros(2, 3)
    assert norm._zero_where_empty(masked_mean, None, (values, none), {"dim": dim}).tolist() == expected


@needs_openrlhf
def test_a_mean_over_some_tokens_is_as_before() -> None:
    from openrlhf.models.utils import masked_mean

    values, mask = torch.tensor([[1.0, 2.0], [5.0, 7.0]]), torch.tensor([[1.0, 1.0], [0.0, 0.0]])
    assert norm._zero_where_empty(masked_mean, None, (values, mask, -1), {}).tolist() == [1.5, 0.0]
    assert norm._zero_where_empty(masked_mean, None, (values, None), {}).item() == 3.75


@needs_openrlhf
def test_a_trainer_with_another_experience_maker_is_refused() -> None:
    from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker

    from trainers.openrlhf.experience import ClawExperienceMaker

    module = ModuleType("ppo_trainer")
    with pytest.raises(AttributeError):
        maker._rebind(module)
    vars(module)["RemoteExperienceMaker"] = dict
    with pytest.raises(TypeError, match="ppo_trainer makes its experiences with"):
        maker._rebind(module)
    vars(module)["RemoteExperienceMaker"] = RemoteExperienceMaker
    maker._rebind(module)
    assert module.RemoteExperienceMaker is ClawExperienceMaker


def test_merged_parameters_are_those_of_a_model_that_computes_the_same(tiny_model: Path) -> None:
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    plain = AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32).eval()
    base = AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32)
    adapted = get_peft_model(base, LoraConfig(r=4, lora_alpha=8, target_modules="all-linear")).eval()
    torch.manual_seed(0)
    for name, parameter in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    before = [parameter.clone() for parameter in adapted.parameters()]

    sent = dict(merged_parameters(adapted))
    known = dict(plain.named_parameters())
    assert sent
    assert sent.keys() <= known.keys()
    ids = torch.arange(20).unsqueeze(0)
    assert not torch.allclose(plain(ids).logits, adapted(ids).logits, atol=1e-3)
    with torch.no_grad():
        for name, parameter in sent.items():
            assert parameter.shape == known[name].shape
            known[name].copy_(parameter.data)
    assert torch.allclose(plain(ids).logits, adapted(ids).logits, atol=1e-5)
    assert all(torch.equal(a, b) for a, b in zip(before, adapted.parameters(), strict=True))


MEMBER = """
import sys
import torch
from trainers.openrlhf.hooks.cpu import gloo_group
rank, port = map(int, sys.argv[1:])
group = gloo_group("127.0.0.1", port, rank, 2)
for weight in (torch.arange(6.0).reshape(2, 3).T, torch.ones(4, dtype=torch.bfloat16)):
    own = weight if rank == 0 else torch.empty(weight.shape, dtype=weight.dtype)
    group.broadcast(own, src=0)
    print(own.tolist(), own.dtype)
"""


def test_a_broadcast_fills_the_receivers_tensor() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
    members = [
        subprocess.Popen([sys.executable, "-c", MEMBER, rank, port], stdout=subprocess.PIPE, text=True)
        for rank in ("0", "1")
    ]
    sent, received = (member.communicate(timeout=120)[0] for member in members)
    assert (
        received == sent == "[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]] torch.float32\n[1.0, 1.0, 1.0, 1.0] torch.bfloat16\n"
    )


def test_the_device_is_a_cpu_to_torch_and_a_number_in_text() -> None:
    device = cpu.CpuDevice("cpu")
    assert torch.zeros(1).to(device).device.type == "cpu"
    assert f"cuda:{device}" == "cuda:0"


CPU_MODE = """
import sys
from trainers.openrlhf.hooks import cpu
if {cuda}:
    import torch
    torch.cuda.is_available = lambda: True
cpu.install()
import torch
from flash_attn.bert_padding import unpad_input
print(torch.cuda.current_device(), torch.cuda.set_device(0))
unpad_input()
"""


def _in_a_process(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120).stderr.strip()


def test_the_cpu_mode_is_refused_where_cuda_is() -> None:
    assert "set cluster.cpu to false" in _in_a_process(CPU_MODE.format(cuda=True)).splitlines()[-1]


def test_the_cpu_mode_offers_the_names_of_flash_attention_and_says_that_they_need_a_gpu() -> None:
    assert "need a GPU and flash-attn" in _in_a_process(CPU_MODE.format(cuda=False)).splitlines()[-1]


WHOSE = """
from trainers.openrlhf import hooks
hooks.install()
import torch
print(torch.cuda.set_device.__module__)
"""


@pytest.mark.parametrize(("setting", "module"), [("false", "torch.cuda"), ("true", "trainers.openrlhf.hooks.cpu")])
def test_the_cpu_mode_is_there_only_where_it_is_asked_for(setting: str, module: str, configure: Any) -> None:
    configure("toolcall", cluster__cpu=setting)
    done = subprocess.run([sys.executable, "-c", WHOSE], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == module, done.stderr

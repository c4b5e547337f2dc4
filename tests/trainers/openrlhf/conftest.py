"""OpenRLHF's own code without Ray, vLLM, DeepSpeed or a GPU: what it imports of them and never calls here is empty.

The stand-ins are there while OpenRLHF is imported and gone before any test runs, so that no other test sees them.
"""

import importlib
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from trainers.config import Config, load_config
from trainers.openrlhf.hooks import kl, norm

PLAYED = (
    "openrlhf.models",
    "openrlhf.utils.agent",
    "openrlhf.trainer.ppo_utils.experience_maker",
    "openrlhf.trainer.ppo_utils.samples_generator",
    "openrlhf.trainer.ray.ppo_actor",
)
STAND_INS = (
    "deepspeed",
    "deepspeed.runtime.zero.partition_parameters",
    "flash_attn.bert_padding",
    "flash_attn.utils.distributed",
    "pylatexenc",
    "ray",
    "ray.util.placement_group",
    "ray.util.scheduling_strategies",
    "torchdata.stateful_dataloader",
    "vllm",
    "vllm.inputs",
    "vllm.utils",
)


class StandIn(ModuleType):
    """Has every name, and nothing behind it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None, is_package=True)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _plain if name == "remote" else type(name, (), {})


def _plain(*args: Any, **options: Any) -> Any:
    """`ray.remote`, bare or with options: the class stays what it is."""
    return args[0] if args else lambda decorated: decorated


def _import_openrlhf() -> None:
    absent = {name.partition(".")[0] for name in STAND_INS if find_spec(name.partition(".")[0]) is None}
    wanted = [name for name in STAND_INS if name.partition(".")[0] in absent]
    names = sorted({".".join(name.split(".")[: i + 1]) for name in wanted for i in range(name.count(".") + 1)})
    for name in names:
        parent, _, last = name.rpartition(".")
        sys.modules[name] = StandIn(name)
        if parent:
            setattr(sys.modules[parent], last, sys.modules[name])
    norm.install()
    kl.install()
    try:
        for name in PLAYED:
            importlib.import_module(name)
    finally:
        for name in names:
            del sys.modules[name]


if find_spec("openrlhf") is None:
    needing = ("batches", "executor", "experience", "parity", "teachers", "vision")
    collect_ignore = [f"test_{name}.py" for name in needing]
else:
    _import_openrlhf()


@pytest.fixture
def configure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Config]:
    """Settings of a run, put where OpenRLHF's processes find them; keys are dotted, with two underscores for a dot."""
    from trainers.openrlhf.settings import to_environment

    def configured(family: str = "chat", **overrides: Any) -> Config:
        texts = {key.replace("__", "."): str(value) for key, value in overrides.items()}
        config = load_config(family, None, texts)
        for name, value in to_environment(config, tmp_path / "run").items():
            monkeypatch.setenv(name, value)
        return config

    return configured


@pytest.fixture(scope="session")
def tiny(tiny_model: Path) -> tuple[Any, Any]:
    """The tiny model in float32 and its tokenizer; a test that changes the model copies it first."""
    from trainers.policies.model import load_model

    return load_model(tiny_model)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray's object store and CUDA's current device as OpenRLHF needs them, in this process."""
    import torch
    from openrlhf.trainer.ppo_utils import experience_maker
    from openrlhf.trainer.ray import launcher

    from trainers.openrlhf.hooks.cpu import CpuDevice

    store = SimpleNamespace(put=lambda value: value, get=lambda value: value)
    for module in (experience_maker, launcher):
        monkeypatch.setattr(module, "ray", store)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: CpuDevice("cpu"))
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)


@pytest.fixture
def batch_config(configure: Callable[..., Config]) -> Callable[..., Config]:
    """Settings of one update of four attempts at a task."""

    def configured(**overrides: Any) -> Config:
        return configure(
            **{"batch_size": 4, "rollout__group_size": 4, "optim__microbatch": 2, "updates": 1} | overrides
        )

    return configured

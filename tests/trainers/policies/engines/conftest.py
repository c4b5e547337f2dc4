"""Models and servers for the tests of engines."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trainers.policies.engines.faults import mini
from tests.trainers.policies.engines.servers import PYTHON, sglang, stand_in


@pytest.fixture(scope="session")
def other_model(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with other weights for the tiny model."""
    import torch
    from transformers import LlamaForCausalLM

    directory = tmp_path_factory.mktemp("other-model")
    shutil.copytree(tiny_model, directory, dirs_exist_ok=True)
    model = LlamaForCausalLM.from_pretrained(tiny_model)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    model.save_pretrained(directory)
    return directory


@pytest.fixture(scope="session")
def sglang_server(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of an SGLang server with the tiny model. Starting it takes minutes: it serves all tests."""
    if not PYTHON:
        pytest.skip("CLAW_TEST_SGLANG_PYTHON names no Python with SGLang (docs/engines.md)")
    if PYTHON.startswith("http"):
        yield PYTHON
        return
    with sglang(tiny_model, tmp_path_factory.mktemp("sglang") / "log") as url:
        yield url


@pytest.fixture(scope="session")
def stand_in_server(tiny_model: Path) -> Iterator[str]:
    """URL of a stand-in with the tiny model."""
    with stand_in(tiny_model) as url:
        yield url


@pytest.fixture(scope="session", params=["stand_in_server", "sglang_server"])
def server(request: pytest.FixtureRequest) -> str:
    """URL of either; tests put the tiny model's weights back first."""
    url: str = request.getfixturevalue(request.param)
    return url


@pytest.fixture
def saved(tmp_path: Path) -> str:
    """A directory with other weights."""
    mini(1).save_pretrained(tmp_path)
    return str(tmp_path)

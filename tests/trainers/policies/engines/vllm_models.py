"""Two random models that vLLM's CPU kernels take (heads of 32), an adapter, and transformers' word on them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

CONTEXT = 600


def make(directory: Path, tokenizer: Path, seed: int) -> Path:
    """A model with the tokenizer of the directory `tokenizer`; its logits lie far apart, so that noise moves none.

    Its head is not tied to its embeddings: vLLM's CPU backend packs a head once, and loading weights from a directory
    without `lm_head.weight` leaves a tied one as it was.
    """
    tokens = AutoTokenizer.from_pretrained(tokenizer)
    tokens.save_pretrained(directory)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokens),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=CONTEXT,
        initializer_range=0.2,
        tie_word_embeddings=False,
        eos_token_id=tokens.eos_token_id,
        bos_token_id=tokens.bos_token_id,
        pad_token_id=tokens.pad_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(directory)
    return directory


def make_adapter(directory: Path, seed: int) -> Path:
    """A LoRA adapter of the query projections, as PEFT saves it, strong enough to change every answer."""
    directory.mkdir()
    settings = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj"]}
    (directory / "adapter_config.json").write_text(json.dumps(settings | {"bias": "none"}))
    generator = torch.Generator().manual_seed(seed)
    shapes = {"lora_A": (4, 64), "lora_B": (64, 4)}
    prefix = "base_model.model.model.layers"
    tensors = {
        f"{prefix}.{layer}.self_attn.q_proj.{name}.weight": torch.randn(shape, generator=generator)
        for layer in range(2)
        for name, shape in shapes.items()
    }
    save_file(tensors, directory / "adapter_model.safetensors")
    return directory


class Reference:
    """transformers in float32."""

    def __init__(self, directory: Path, adapter: Path | None = None) -> None:
        self.model: Any = LlamaForCausalLM.from_pretrained(directory, dtype=torch.float32)
        if adapter is not None:
            self._merge(adapter)

    def greedy(self, ids: Sequence[int], count: int) -> list[int]:
        """The most likely continuation, token by token."""
        done = list(ids)
        while len(done) < len(ids) + count:
            done.append(int(self._logits(done)[-1].argmax()))
        return done[len(ids) :]

    def logprobs(self, ids: Sequence[int], start: int, temperature: float = 1.0) -> list[float]:
        """Of `ids[start:]`, each after all before it."""
        rows = (self._logits(ids) / temperature).log_softmax(-1)[start - 1 : -1]
        return [float(row[token]) for row, token in zip(rows, ids[start:], strict=True)]

    def _logits(self, ids: Sequence[int]) -> torch.Tensor:
        with torch.inference_mode():
            logits: torch.Tensor = self.model(torch.tensor([list(ids)])).logits[0]
        return logits

    def _merge(self, adapter: Path) -> None:
        from safetensors.torch import load_file

        tensors = load_file(adapter / "adapter_model.safetensors")
        for i, layer in enumerate(self.model.model.layers):
            a, b = (
                tensors[f"base_model.model.model.layers.{i}.self_attn.q_proj.{x}.weight"] for x in ("lora_A", "lora_B")
            )
            layer.self_attn.q_proj.weight.data += 2.0 * b @ a  # alpha / r

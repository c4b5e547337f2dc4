"""A real processor and a real model that sees, both of Qwen3-VL: random, two layers each for text and images."""

from pathlib import Path
from typing import Any

import numpy as np

from claw_envs.core.images import image_part, png

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.content is string %}{{ m.content }}{% else %}{% for part in m.content %}"
    "{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TOKENS = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]


def processor(template: str = TEMPLATE) -> Any:
    """Pixels by Pillow; its half for video, which needs torchvision, is left out."""
    from transformers import AutoTokenizer, Qwen2VLImageProcessorPil, Qwen3VLProcessor

    from trainers.policies.model import resolve_model

    class Images(Qwen3VLProcessor):  # type: ignore[misc, no-any-unimported]
        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
            if argument_name != "video_processor":
                return super().check_argument_for_proper_class(argument_name, argument)  # type: ignore[no-untyped-call]
            return None

    tokenizer = AutoTokenizer.from_pretrained(resolve_model("smollm2"))
    tokenizer.add_special_tokens({"extra_special_tokens": TOKENS})
    size = {"shortest_edge": 32 * 32, "longest_edge": 32 * 32 * 12}
    images = Qwen2VLImageProcessorPil(size=size, patch_size=16, temporal_patch_size=2, merge_size=2)
    made: Any = Images(images, tokenizer, None, chat_template=template)  # type: ignore[no-untyped-call]
    for name in ("pad_token", "pad_token_id", "eos_token", "eos_token_id"):  # as OpenRLHF's get_tokenizer mirrors them
        setattr(made, name, getattr(tokenizer, name))
    return made


def save_model(directory: Path, tokenizer: Any) -> None:
    """A Hugging Face directory without a processor."""
    import torch
    from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration

    start, end, image, video = tokenizer.convert_tokens_to_ids(TOKENS)
    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "max_position_embeddings": 4096,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [6, 5, 5]},
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    vision = {
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "patch_size": 16,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "out_hidden_size": 32,
        "num_position_embeddings": 64,
        "deepstack_visual_indexes": [0, 1],
        "initializer_range": 0.2,
    }
    config = Qwen3VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=end,
        tie_word_embeddings=True,
    )
    torch.manual_seed(0)
    Qwen3VLForConditionalGeneration(config).save_pretrained(directory)


def picture(shade: int, *, width: int = 100, height: int = 60) -> dict[str, object]:
    """An image part of random pixels."""
    pixels = np.random.default_rng(shade).integers(0, 256, (height, width, 3), np.uint8)
    return image_part(png(pixels), "png")

"""A model of half a megabyte that says one of a few things: random but for a constant feature that makes those likely.

What it learns within a handful of updates is which of them to say. Its tokenizer knows bytes, the marks of ChatML, and
each of those things as one token.
"""

from collections.abc import Sequence
from pathlib import Path

MARKS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
HIDDEN = 64
_CONSTANT = 1.0
"""Value of the embeddings' first entry; the others are small. With less, a few updates wipe it out."""
_AVERSION = -3.0
"""Weight of that entry for the others: some 20 nats below the likely ones, so that none is ever sampled. Logits of the
likely ones stay near 0, where half precision is fine."""


def make_model(directory: Path, sayings: Sequence[str]) -> Path:
    """Write a Hugging Face directory.

    Args:
        directory: made if missing.
        sayings: what the model says to begin with, each about as often, and the end of the message as often as those.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _tokenizer(sayings)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        intermediate_size=2 * HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,  # of 32 entries: the smallest that vLLM computes on a CPU
        max_position_embeddings=4096,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = LlamaForCausalLM(config)
    likely = [tokenizer.convert_tokens_to_ids(text) for text in (*sayings, tokenizer.eos_token)]
    with torch.no_grad():
        model.get_input_embeddings().weight[:, 0] = _CONSTANT
        model.get_output_embeddings().weight[:, 0] = _AVERSION
        model.get_output_embeddings().weight[likely, 0] = 0.0
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory


def _tokenizer(sayings: Sequence[str]):  # type: ignore[no-untyped-def]
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytewise = Tokenizer(models.BPE(vocab={byte: number for number, byte in enumerate(alphabet)}, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    bytewise.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in MARKS])
    bytewise.add_tokens([AddedToken(text, special=False, normalized=False) for text in sayings])
    return PreTrainedTokenizerFast(
        tokenizer_object=bytewise,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        bos_token="<|im_start|>",
        chat_template=TEMPLATE,
    )

"""Settings for every test (few compute threads, nothing from a model hub) and the one real model that they share."""

import asyncio
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from trainers.policies.embedded import EmbeddedPolicy

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def model_and_tokenizer() -> tuple[Any, Any]:
    """The embedded default model, which `policy` serves, for comparison with plain transformers calls."""
    from trainers.policies.model import load_model, resolve_model

    return load_model(resolve_model("smollm2"))


@pytest.fixture(scope="session")
def policy(model_and_tokenizer: tuple[Any, Any]) -> "Iterator[EmbeddedPolicy]":
    """The embedded default policy. A test that changes its weights puts them back."""
    from trainers.policies.embedded import EmbeddedPolicy

    model, tokenizer = model_and_tokenizer
    policy = EmbeddedPolicy(model, tokenizer=tokenizer)
    yield policy
    asyncio.run(policy.aclose())

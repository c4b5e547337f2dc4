"""Settings for every test (few compute threads, nothing from a model hub) and the one real model that they share."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from trainers.policies.gate import ComputeGate

if TYPE_CHECKING:
    from trainers.policies.embedded import EmbeddedPolicy

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


class HaltingGate(ComputeGate):
    """A gate that can stop decoding between two tokens, and counts steps."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = self.halt_at = 0
        self.halted, self.resume = threading.Event(), threading.Event()

    def halt(self, *, after: int) -> None:
        """Stop once, `after` steps from now: sets `halted`, then waits for `resume`."""
        self.steps, self.halt_at = 0, after
        self.halted.clear()
        self.resume.clear()

    @contextmanager
    def decode(self) -> Iterator[Callable[[], None]]:
        with super().decode() as pause:

            def step() -> None:
                self.steps += 1
                if self.steps == self.halt_at:
                    self.halted.set()
                    assert self.resume.wait(timeout=120)
                pause()

            yield step


@pytest.fixture(scope="session")
def policy_gate() -> HaltingGate:
    """The gate of `policy`; open unless a test asks it to halt."""
    return HaltingGate()


@pytest.fixture(scope="session")
def policy(policy_gate: HaltingGate) -> "Iterator[EmbeddedPolicy]":
    """The embedded default policy. A test that changes its weights puts them back."""
    from trainers.policies.embedded import EmbeddedPolicy

    policy = EmbeddedPolicy.load("smollm2", gate=policy_gate)
    yield policy
    asyncio.run(policy.aclose())


@pytest.fixture(scope="session")
def plain_model() -> Any:
    """The embedded default model as transformers alone computes it, to compare with."""
    import torch
    from transformers import AutoModelForCausalLM

    from trainers.policies.model import resolve_model

    return AutoModelForCausalLM.from_pretrained(resolve_model("smollm2"), dtype=torch.float32).eval()

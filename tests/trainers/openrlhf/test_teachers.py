"""Hinted responses read by a serving engine."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from claw_envs.core.episode import Verdict
from claw_envs.core.errors import ContextFull
from tests.trainers.openrlhf.made import episode, experiences, on_tokens
from tests.trainers.openrlhf.parts import logprobs
from trainers.config import Config
from trainers.policies import engines
from trainers.policies.render import Renderer, with_hint

pytestmark = pytest.mark.usefixtures("cluster")
Configure = Callable[..., Config]


def test_an_engine_may_read_the_hints_and_what_it_has_no_room_for_does_not_train(
    batch_config: Configure, tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Served:
        closed = False

        async def score(self, ids: Sequence[int], start: int) -> list[float]:
            if len(ids) - start > 2:
                raise ContextFull("too long")
            values: list[float] = logprobs(tiny[0], ids)[start - 1 :].tolist()
            return values

        async def aclose(self) -> None:
            self.closed = True

    served, asked = Served(), list[Any]()
    monkeypatch.setattr(engines, "open_engine", lambda address, **options: asked.append((address, options)) or served)
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    config = batch_config(
        signal="opd", cluster__teacher="sglang+http://teacher", weights__opd_baseline="false", loss__kl_coef=0
    )
    hint = Verdict(score=-1.0, hint="Shorter, please.")
    episodes = [episode([hint] * 3), episode([None]), episode([None]), episode([None])]
    made = experiences(config, tiny, episodes)
    prompt = Renderer(tiny[1]).prompt_ids(with_hint(episodes[0].turns[1].messages, "Shorter, please."))
    second = episodes[0].turns[1]
    theirs = logprobs(tiny[0], prompt + second.response_ids)[len(prompt) - 1 :].numpy()
    _, got, last = on_tokens(made, 0, episodes[0].turns)
    assert_allclose(got, theirs - np.array(second.logprobs), atol=1e-5)
    assert np.isnan(last).all()
    assert (asked, served.closed) == ([("sglang+http://teacher", {"api_key": "secret"})], True)

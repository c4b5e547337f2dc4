"""Screenshots from an environment to a vision-language model's training step, through OpenRLHF's own code.

The engine is played by the model itself: it reads what OpenRLHF's actor would hand to vLLM and answers with log-probs
of a forward pass over the whole conversation at once. What is trained must have the same.
"""

import asyncio
import math
import re
from collections.abc import Callable
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from claw_envs.core.episode import Verdict
from claw_envs.core.errors import ContextFull, UserError
from claw_envs.gui.env import GuiEnv
from trainers.config import Config
from trainers.openrlhf.policy import EnginePolicy
from trainers.policies.base import Sampling
from trainers.policies.vision import VisionRenderer, images_of

from ...claw_envs.gui.drawn import SIZE, DrawnScenario, DrawnScreen, set_stage, task
from ..seeing import picture, processor, save_model

Configure = Callable[..., Config]
SAYS = ['click("1")<|im_end|>', "wait()<|im_end|>", 'click("1")<|im_end|>']
MESSAGES = [{"role": "user", "content": [{"type": "text", "text": "Look."}, picture(1)]}]


@pytest.fixture(scope="module")
def real() -> Any:
    return processor()


@pytest.fixture(scope="module")
def actor(real: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """OpenRLHF's own, which tells by the configuration that its model sees."""
    from openrlhf.models import Actor

    directory = tmp_path_factory.mktemp("seeing")
    save_model(directory, real.tokenizer)
    made = Actor(str(directory), attn_implementation="eager").float()
    assert made.is_vlm
    return made


class PlayedEngine:
    """OpenRLHF's actor with the model, or nothing, in place of vLLM."""

    def __init__(self, real: Any, model: Any, says: list[str]) -> None:
        self.real, self.model, self.says = real, model, says
        self.pictures: list[list[tuple[int, int]]] = []

    async def generate(self, ids: list[int], params: Any, multi_modal_data: Any = None) -> Any:
        from openrlhf.utils.vlm_utils import dedup_media_tokens

        short = dedup_media_tokens(ids, {self.real.image_token_id, self.real.video_token_id})
        images = multi_modal_data["image"]
        assert short.count(self.real.image_token_id) == len(images)
        self.pictures.append([image.getpixel((0, 0))[0] for image in images])
        made = self.real(
            text=[self.real.tokenizer.decode(short)], images=images, add_special_tokens=False, return_tensors="pt"
        )
        prompt = made.pop("input_ids")
        tokens = self.real.tokenizer.encode(self.says.pop(0))
        logprobs = self.logprobs(prompt, tokens, made) if self.model else [0.0] * len(tokens)
        tables = [{token: SimpleNamespace(logprob=logprob)} for token, logprob in zip(tokens, logprobs, strict=True)]
        output = SimpleNamespace(token_ids=tokens, logprobs=tables, finish_reason="stop")
        return SimpleNamespace(prompt_token_ids=prompt[0].tolist(), outputs=[output])

    def logprobs(self, prompt: torch.Tensor, tokens: list[int], made: Any) -> list[float]:
        """Of `tokens` after `prompt`, to which the processor made the rest."""
        said = torch.tensor([tokens])
        whole = torch.cat([prompt, said], 1)
        kinds = (whole == self.real.image_token_id).int()
        made |= {"attention_mask": torch.ones_like(whole), "mm_token_type_ids": kinds}
        with torch.no_grad():
            logits = self.model(input_ids=whole, **made).logits[0, prompt.shape[1] - 1 : -1]
        found: list[float] = logits.log_softmax(-1).gather(1, said.T)[:, 0].tolist()
        return found


def params() -> Any:
    return SimpleNamespace(logprobs=1, stop_token_ids=[], max_tokens=None, temperature=1.0, top_p=1.0)


def arguments(config: Config) -> Any:
    section = SimpleNamespace
    return section(
        algo=section(advantage=section(estimator="reinforce"), kl=section(use_loss=False)),
        actor=section(num_nodes=1, num_gpus_per_node=1),
        ds=section(ring_attn_size=1, tensor_parallel_size=1),
        rollout=section(n_samples_per_prompt=config.rollout.group_size, micro_batch_size=2),
        train=section(batch_size=4, dynamic_batch_enable=False, colocate_all=False, colocate_actor_ref=False),
    )


class Hinting:
    """A judge that always has the same to say."""

    async def judge(self, *args: Any) -> Verdict:
        return Verdict(score=-1.0, hint="Look again.")


def rolled_out(config: Config, engine: PlayedEngine, real: Any, *, episodes: int = 2) -> list[Any]:
    """OpenRLHF's rows of a few episodes, by the executor and OpenRLHF's own generator of samples."""
    from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator

    from trainers.openrlhf.executor import EpisodeExecutor
    from trainers.openrlhf.pool import EnvironmentPool

    async def run() -> list[dict[str, Any]]:
        executor = EpisodeExecutor()
        executor.judge = Hinting()
        executor.pool = EnvironmentPool(lambda _: GuiEnv([task(max_steps=3)], size=SIZE, **config.env), size=1)
        rows = [await executor.execute("drawn/go", "0", params(), 4096, real, engine) for _ in range(episodes)]
        await executor.pool.aclose()
        return rows

    generator = SamplesGenerator(SimpleNamespace(args=arguments(config)), None, None, real, [])
    return [generator._process_response_into_experience(row, max_len=4096) for row in asyncio.run(run())]


def forward(actor: Any, batch: Any) -> torch.Tensor:
    """As OpenRLHF's training step calls it."""
    from openrlhf.utils.vlm_utils import merge_mm_train_inputs

    inputs = merge_mm_train_inputs(batch.mm_train_inputs, "cpu")
    with torch.no_grad():
        logprobs: torch.Tensor = actor(batch.sequences, batch.action_mask, batch.attention_mask, **inputs)
    return logprobs


def trained_again(batch: Any) -> Any:
    """A batch as it comes out of OpenRLHF's replay buffer."""
    from openrlhf.trainer.ppo_utils.experience import (
        make_experience_batch,
        remove_padding_in_sequences,
        split_experience_batch,
    )

    return make_experience_batch(remove_padding_in_sequences(split_experience_batch(deepcopy(batch))))


def maker(config: Config, real: Any) -> Any:
    from trainers.openrlhf.experience import ClawExperienceMaker

    return ClawExperienceMaker(None, None, None, None, None, SimpleNamespace(args=arguments(config)), real)


@pytest.mark.parametrize(("images", "rows"), [(1, 8), (2, 4), (99, 4)])
def test_what_is_trained_has_the_log_probs_that_were_sampled(
    configure: Configure, monkeypatch: pytest.MonkeyPatch, real: Any, actor: Any, images: int, rows: int
) -> None:
    set_stage(monkeypatch, DrawnScenario(DrawnScreen()))
    config = configure("gui", signal="step_index", rollout__group_size=2, env__images=images)
    engine = PlayedEngine(real, actor.model, SAYS * 2)
    samples = rolled_out(config, engine, real)
    assert [len(seen) for seen in engine.pictures] == [min(images, i + 1) for i in range(3)] * 2
    assert len(samples[0].images[0]) == 3  # each file once, whatever is shown how often
    batches = maker(config, real).split_rollout_samples(samples)
    assert sum(len(batch.sequences) for batch in batches) == rows
    assert all(batch.images == [None] * len(batch.sequences) for batch in batches)
    assert all(inputs for batch in batches for inputs in batch.mm_train_inputs)  # those of rows that fill up too
    for batch in batches:
        for again in (batch, trained_again(batch)):
            assert torch.allclose(forward(actor, again), again.rollout_log_probs * again.action_mask, rtol=0, atol=2e-5)
    sampled = 2 * sum(len(real.tokenizer.encode(text)) for text in SAYS)
    assert sum(int(batch.action_mask.sum()) for batch in batches) == sampled


@pytest.mark.parametrize("images", [1, 99])
def test_a_teacher_sees_what_the_model_saw(
    configure: Configure, monkeypatch: pytest.MonkeyPatch, real: Any, actor: Any, images: int
) -> None:
    from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker
    from openrlhf.utils.vlm_utils import merge_mm_train_inputs

    from trainers.openrlhf.values import Reading, values_of

    def dispatch(self: Any, group: Any, together: bool, **columns: Any) -> list[torch.Tensor]:
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        inputs = [merge_mm_train_inputs(row.pop("mm_train_inputs_list"), "cpu") for row in rows]
        with torch.no_grad():
            return [actor(**row, **given) for row, given in zip(rows, inputs, strict=True)]

    monkeypatch.setattr(RemoteExperienceMaker, "_dispatch_forward", dispatch)
    monkeypatch.setattr(RemoteExperienceMaker, "_flatten_results", lambda self, answers, copies: answers)
    set_stage(monkeypatch, DrawnScenario(DrawnScreen()))
    config = configure("gui", signal="opd", weights__opd_baseline="false", teacher="current", env__images=images)
    engine = PlayedEngine(real, actor.model, SAYS * 2)
    ours = maker(config, real)
    ours.actor_model_group = SimpleNamespace(_actor_handlers=[None], duplicate_actors=1)
    ours.split_rollout_samples(rolled_out(config, engine, real))
    readings: list[Reading] = []

    def teach(asked: list[Reading]) -> Any:
        readings.extend(asked)
        return ours._teach(asked)

    firsts = [sample.sequences[0].tolist() for sample in ours._rows.samples[:2]]
    lessons = list(values_of(ours._records, firsts, config, teach).lessons.values())
    assert len(lessons) == len(readings) == 6
    for reading, lesson, seen in zip(readings, lessons, engine.pictures, strict=True):
        shades = [Image.fromarray(np.full((SIZE[1], SIZE[0], 3), shade, np.uint8)) for shade in seen]
        prompt, said = reading.ids[: reading.start], reading.ids[reading.start :]
        text = re.sub(r"(<\|image_pad\|>)+", r"\1", real.tokenizer.decode(prompt))
        assert "Look again." in text
        made = real(text=[text], images=shades, add_special_tokens=False, return_tensors="pt")
        direct = engine.logprobs(made.pop("input_ids"), said, made)
        assert np.allclose(lesson.logprobs, direct, rtol=0, atol=2e-5)


def test_other_pictures_give_other_log_probs(real: Any, actor: Any) -> None:
    """The model of these tests does look."""
    ids = VisionRenderer(real).prompt_ids(MESSAGES)
    said: list[list[float]] = []
    for shade in (1, 2):
        [file] = images_of([{"role": "user", "content": [picture(shade)]}])
        engine = PlayedEngine(real, actor.model, ["yes<|im_end|>"])
        policy = EnginePolicy(engine, VisionRenderer(real), params=params(), context=512)
        said.append(asyncio.run(policy.generate(ids, Sampling(), images=[file])).logprobs)
    assert not math.isclose(said[0][0], said[1][0], abs_tol=1e-4)


def test_a_response_ends_before_a_placeholder(real: Any) -> None:
    engine = PlayedEngine(real, None, ["yes<|image_pad|>no<|im_end|>", "<|video_pad|>"])
    renderer = VisionRenderer(real)
    policy = EnginePolicy(engine, renderer, params=params(), context=512)
    ids, files = renderer.prompt_ids(MESSAGES), images_of(MESSAGES)
    done = asyncio.run(policy.generate(ids, Sampling(), images=files))
    assert (done.text, done.finish_reason, len(done.response_ids)) == ("yes", "length", len(done.logprobs))
    empty = asyncio.run(policy.generate(ids, Sampling(), images=files))
    assert (empty.text, empty.finish_reason, empty.response_ids) == ("", "length", [])


def test_a_full_context_is_noticed_before_the_engine_is_asked(real: Any) -> None:
    engine = PlayedEngine(real, None, [])
    ids = VisionRenderer(real).prompt_ids(MESSAGES)
    policy = EnginePolicy(engine, VisionRenderer(real), params=params(), context=len(ids))
    with pytest.raises(ContextFull):
        asyncio.run(policy.generate(ids, Sampling(), images=images_of(MESSAGES)))
    assert not engine.pictures


def test_an_engine_that_sees_otherwise_is_refused(real: Any) -> None:
    smaller = deepcopy(real)
    smaller.image_processor.size = {"shortest_edge": 32 * 32, "longest_edge": 32 * 32 * 2}
    policy = EnginePolicy(PlayedEngine(smaller, None, ["yes"]), VisionRenderer(real), params=params(), context=512)
    with pytest.raises(UserError, match="different tokens"):
        asyncio.run(policy.generate(VisionRenderer(real).prompt_ids(MESSAGES), Sampling(), images=images_of(MESSAGES)))

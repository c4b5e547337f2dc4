"""`ServedPolicy`: a model behind serving engines as a `Policy`, token in, token out.

We render and decode, the engine sees ids alone: what it samples is what is trained. Not covered: images.
"""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from claw_envs.core.errors import ContextFull, UserError
from trainers.policies.base import Completion, Prompt, Sampling
from trainers.policies.engines.base import Engine
from trainers.policies.model import resolve_model
from trainers.policies.render import Renderer

_KEPT_VERSIONS = 2
"""Directories of weights: the newest, and the one that a server may still be reading."""


class ServedPolicy:
    """See `Policy`. Beside it: `engine`, `renderer`, `tokenizer` and `context`."""

    def __init__(
        self,
        engine: Engine,
        *,
        tokenizer: Any,
        config: Any = None,
        end_ids: Sequence[int] = (),
        publish: Path | None = None,
    ) -> None:
        """
        Args:
            engine: belongs to the policy from now on.
            tokenizer: of the model, with a chat template.
            config: the model's, of transformers, for its context and vocabulary; None leaves both to the server.
            end_ids: tokens that end a turn beside the tokenizer's own.
            publish: directory that trainer and servers share, for the weights of updates; None hands tensors over,
                which only reaches servers on this machine.
        """
        self.engine, self.tokenizer = engine, tokenizer
        self.renderer = Renderer(tokenizer)
        self.context: int | None = None if config is None else config.get_text_config().max_position_embeddings
        self._vocabulary: int | None = None if config is None else config.get_text_config().vocab_size
        self._config, self._publish = config, publish
        self._end_ids = sorted({*end_ids, tokenizer.eos_token_id} - {None})

    @classmethod
    def load(cls, engine: Engine, model: str, *, name: str = "", publish: Path | None = None) -> "ServedPolicy":
        """With the tokenizer and the settings of a model that is here; its weights are not loaded.

        Args:
            model: see `resolve_model`.
            name: what the user wrote, for errors.

        Raises:
            UserError: if there is no such model, or its tokenizer has no chat template.
        """
        from transformers import AutoConfig, AutoTokenizer, GenerationConfig

        if not model:
            raise UserError(f"{name}: name the model's directory for its tokenizer: {name}#DIRECTORY")
        path = resolve_model(model)
        tokenizer = AutoTokenizer.from_pretrained(path)
        if not tokenizer.chat_template:
            raise UserError(f"{model}: the tokenizer has no chat template; an instruct model is needed")
        try:
            ends = GenerationConfig.from_pretrained(path).eos_token_id
        except OSError:  # a model may come without one
            ends = None
        end_ids = ends if isinstance(ends, list) else [] if ends is None else [ends]
        config = AutoConfig.from_pretrained(path)
        return cls(engine, tokenizer=tokenizer, config=config, end_ids=end_ids, publish=publish)

    @property
    def version(self) -> int:
        """Of the weights in use; 0 for those that the servers were started with."""
        return self.engine.version

    async def generate(
        self, prompt: Prompt, sampling: Sampling, *, tools: Sequence[dict[str, Any]] | None = None
    ) -> Completion:
        """See `Policy.generate`. A response that reaches the end of the context is cut there (`length`).

        Raises:
            ContextFull: if the prompt leaves no room for a token.
            UserError: if the prompt is empty, or the sampling is not to be had.
            InfrastructureError: if no server gives an answer.
        """
        if sampling.max_new_tokens < 1 or sampling.temperature < 0:
            raise UserError(f"max_new_tokens >= 1 and temperature >= 0 are needed, got {sampling}")
        ids = self._ids(prompt, tools=tools)
        room = sampling.max_new_tokens if self.context is None else self.context - len(ids)
        if room < 1:
            raise ContextFull(f"{len(ids)} prompt tokens leave no room in the context of {self.context} tokens")
        wanted = sampling._replace(max_new_tokens=min(room, sampling.max_new_tokens))
        sampled = await self.engine.generate(ids, wanted, stop_ids=self._end_ids)
        logprobs = sampled.logprobs if sampling.temperature else [0.0] * len(sampled.ids)
        text = self.renderer.decode(sampled.ids)
        return Completion(ids, sampled.ids, logprobs, sampled.versions, sampled.finish_reason, text)

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        """See `Policy.score`.

        Raises:
            ContextFull: if prompt and response are longer than the context.
            InfrastructureError: if no server gives an answer.
        """
        ids, response = self._ids(prompt), self._known(response_ids)
        if self.context is not None and len(ids) + len(response) > self.context:
            raise ContextFull(f"{len(ids) + len(response)} tokens do not fit the context of {self.context}")
        return await self.engine.score([*ids, *response], len(ids)) if response else []

    async def score_batch(self, pairs: Sequence[tuple[Prompt, Sequence[int]]]) -> list[list[float]]:
        """`score` for every pair of prompt and response ids; the server batches them."""
        return list(await asyncio.gather(*(self.score(prompt, response) for prompt, response in pairs)))

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        """See `Policy.update_weights`: through `publish` where that is set, else as tensors.

        Raises:
            InfrastructureError: if no server took the weights.
        """
        if self._publish is None:
            await self.engine.update_from_tensors(state, version)
            return
        directory = await asyncio.to_thread(self._write, state, version)
        await self.engine.update_from_disk(str(directory), version)

    async def aclose(self) -> None:
        """See `Policy.aclose`; the servers live on."""
        await self.engine.aclose()

    def _write(self, state: Mapping[str, Any], version: int) -> Path:
        from safetensors.torch import save_file

        assert self._publish is not None
        directory = self._publish.absolute() / f"v{version:06d}"
        directory.mkdir(parents=True, exist_ok=True)
        if self._config is not None:
            self._config.save_pretrained(directory)
        self.tokenizer.save_pretrained(directory)
        whole = {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in state.items()}
        save_file(whole, directory / "model.safetensors", metadata={"format": "pt"})
        others = [path for path in self._publish.absolute().glob("v" + "[0-9]" * 6) if path != directory]
        for old in sorted(others, key=lambda path: path.stat().st_mtime)[: 1 - _KEPT_VERSIONS]:
            shutil.rmtree(old, ignore_errors=True)
        return directory

    def _ids(self, prompt: Prompt, *, tools: Sequence[dict[str, Any]] | None = None) -> list[int]:
        first = next(iter(prompt), None)
        if first is None:
            raise UserError("the prompt is empty")
        messages = isinstance(first, dict)
        return self.renderer.prompt_ids(prompt, tools=tools) if messages else self._known(prompt)  # type: ignore

    def _known(self, ids: Sequence[Any]) -> list[int]:
        """`ids` that the model has: others bring a server down."""
        known = [int(i) for i in ids]
        if known and (min(known) < 0 or (self._vocabulary is not None and max(known) >= self._vocabulary)):
            raise UserError(f"token ids must lie in 0..{(self._vocabulary or 0) - 1}")
        return known

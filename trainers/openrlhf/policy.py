"""`EnginePolicy`: the model inside OpenRLHF's vLLM actor as one of our policies. Token in, token out.

It cannot score, and its weights are updated by OpenRLHF behind its back: versions are always 0.
"""

import asyncio
from collections.abc import Mapping, Sequence
from copy import copy
from itertools import takewhile
from typing import Any

from claw_envs.core.errors import ContextFull, InfrastructureError, UserError
from trainers.policies.base import Completion, Prompt, Sampling
from trainers.policies.render import Renderer
from trainers.policies.vision import VisionRenderer, opened

GENERATE_SECONDS = 3600.0
"""For one response, with the wait for others and for updates of the weights; then the engine is taken to be stuck."""


class EnginePolicy:
    """See `Policy`. Log-probs are kept where OpenRLHF asked the engine for them, else there are none."""

    version = 0

    def __init__(self, engine: Any, renderer: Renderer, *, params: Any, context: int) -> None:
        """
        Args:
            engine: OpenRLHF's `RolloutRayActor`, or whatever answers `generate(ids, params, multi_modal_data=None)`
                with vLLM's `RequestOutput`.
            renderer: of the model's tokenizer.
            params: vLLM's `SamplingParams` as OpenRLHF made them; temperature and length are set for each response.
            context: most tokens of prompt and response together.
        """
        self.renderer, self.context = renderer, context
        self._engine, self._params = engine, params

    async def generate(
        self,
        prompt: Prompt,
        sampling: Sampling,
        *,
        tools: Sequence[dict[str, Any]] | None = None,
        images: Sequence[bytes] = (),
    ) -> Completion:
        """See `Policy.generate`. A response that reaches the end of the context is cut there; so is one before an id
        that stands for an image.

        `sampling.seed` is left out: an engine that samples a batch with a generator for each row is much slower.

        Raises:
            ContextFull: if the prompt leaves no room for a token.
            InfrastructureError: if the engine gives nothing, or not in time.
            UserError: if the engine makes other tokens of the images than the renderer.
        """
        ids = self._ids(prompt, tools)
        room = self.context - len(ids)
        if room < 1:
            raise ContextFull(f"{len(ids)} prompt tokens fill the context of {self.context} tokens")
        params = copy(self._params)
        params.max_tokens = min(sampling.max_new_tokens, room)
        params.min_tokens = 0  # OpenRLHF's 1 takes the end of the turn out of what the first token is sampled from
        params.temperature, params.top_p = sampling.temperature, sampling.top_p
        if self.renderer.reserved:
            params.stop_token_ids = [*(params.stop_token_ids or []), *self.renderer.reserved]
        try:
            async with asyncio.timeout(GENERATE_SECONDS):
                answer = await self._ask(ids, images, params)
        except TimeoutError:
            raise InfrastructureError(f"the engine gave no response within {GENERATE_SECONDS:.0f} seconds") from None
        output = answer.outputs[0] if answer is not None and answer.outputs else None
        if output is None or not output.token_ids or output.finish_reason not in ("stop", "length"):
            raise InfrastructureError(f"the engine ended a response with {output and output.finish_reason}")
        tokens = list(output.token_ids)
        sampled = list(takewhile(lambda token: token not in self.renderer.reserved, tokens))
        reason = output.finish_reason if len(sampled) == len(tokens) else "length"
        kept = [] if params.logprobs is None else sampled
        tables = (output.logprobs or [])[: len(kept)]
        logprobs = [table[token].logprob for table, token in zip(tables, kept, strict=True)]
        text = self.renderer.decode(sampled)
        return Completion(ids, sampled, logprobs, [0] * len(sampled), reason, text)

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        """Not possible: the experience maker has the models score."""
        raise NotImplementedError

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        """Not possible: OpenRLHF does it."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Nothing to release: the engine is OpenRLHF's."""

    async def _ask(self, ids: list[int], images: Sequence[bytes], params: Any) -> Any:
        if not (images and isinstance(self.renderer, VisionRenderer)):
            return await self._engine.generate(ids, params)
        pictures = await asyncio.to_thread(lambda: [opened(file) for file in images])
        short = self.renderer.short(ids, images)
        answer = await self._engine.generate(short, params, multi_modal_data={"image": pictures})
        if answer is not None and list(answer.prompt_token_ids) != ids:
            raise UserError("engine and processor make different tokens of an image: take a model where they agree")
        return answer

    def _ids(self, prompt: Prompt, tools: Sequence[dict[str, Any]] | None) -> list[int]:
        if isinstance(next(iter(prompt), None), dict):
            return self.renderer.prompt_ids(prompt, tools=tools)  # type: ignore[arg-type]
        return list(prompt)  # type: ignore[arg-type]

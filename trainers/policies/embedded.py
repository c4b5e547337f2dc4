"""`EmbeddedPolicy`: a model in this process as a `Policy`, for machines without a serving engine.

One model, one worker thread (`engine`), any number of event loops calling it. What it does not do: several chips,
quantised weights, beam search. An engine such as vLLM or SGLang takes over where those matter.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from claw_envs.core.errors import ContextFull, UserError
from trainers.policies.base import Completion, Prompt, Sampling
from trainers.policies.batch import Batch, Row
from trainers.policies.engine import Engine, ScoreItem, Update
from trainers.policies.gate import ComputeGate
from trainers.policies.model import load_model, resolve_model
from trainers.policies.render import Renderer


class EmbeddedPolicy:
    """See `Policy`. Beside it: `renderer`, `tokenizer`, `gate`, `context` (tokens) and `score_batch`."""

    def __init__(
        self,
        model: Any,
        *,
        tokenizer: Any,
        threads: int | None = None,
        max_batch: int = 32,
        gate: ComputeGate | None = None,
        context: int = 4096,
        prefix_tokens: int = 8192,
    ) -> None:
        """
        Args:
            model: transformers causal language model with full attention; from now on it belongs to the policy.
            tokenizer: its tokenizer, with a chat template.
            threads: cores that one operation uses; None leaves torch's own choice.
            max_batch: rows decoded at once; further requests wait.
            gate: shared with whatever else computes in this process.
            context: longest prompt and response together in tokens, at most what the model was built for.
            prefix_tokens: tokens whose keys and values are kept for prompts that continue them; 0 keeps none.

        Raises:
            UserError: for figures out of range.
        """
        if max_batch < 1:
            raise UserError(f"max_batch must be at least 1, got {max_batch}")
        self.tokenizer = tokenizer
        self.renderer = Renderer(tokenizer)
        self.gate = gate or ComputeGate()
        self.context = min(context, model.config.get_text_config().max_position_embeddings)
        self._vocabulary = model.get_input_embeddings().num_embeddings
        self._shapes = {name: tensor.shape for name, tensor in model.state_dict().items()}
        ends = model.generation_config.eos_token_id
        end_ids = {tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])} - {None}
        batch = Batch(model, end_ids=end_ids, context=self.context, prefix_tokens=prefix_tokens)
        self._engine = Engine(model, batch, max_batch=max_batch, threads=threads, gate=self.gate)

    @classmethod
    def load(
        cls,
        name: str = "smollm2",
        *,
        threads: int | None = None,
        max_batch: int = 32,
        gate: ComputeGate | None = None,
        context: int = 4096,
        prefix_tokens: int = 8192,
        device: str = "cpu",
    ) -> "EmbeddedPolicy":
        """Load a model by name; see `resolve_model` and the constructor.

        Raises:
            UserError: if there is no such model here.
        """
        model, tokenizer = load_model(resolve_model(name), device=device)
        return cls(
            model,
            tokenizer=tokenizer,
            threads=threads,
            max_batch=max_batch,
            gate=gate,
            context=context,
            prefix_tokens=prefix_tokens,
        )

    @property
    def version(self) -> int:
        """Of the weights in use; 0 for the initial ones."""
        return self._engine.version

    async def generate(
        self, prompt: Prompt, sampling: Sampling, *, tools: Sequence[dict[str, Any]] | None = None
    ) -> Completion:
        """See `Policy.generate`. Cancelling the call takes its row out of the batch.

        A response that reaches the end of the context is cut there with finish reason `length`. The cache of earlier
        tokens is kept across a weight update, as every engine does that updates without a restart.

        Raises:
            ContextFull: if the prompt leaves no room for a token.
            UserError: if the prompt is empty or holds unknown ids, or the sampling makes no sense.
            InfrastructureError: if the engine is gone.
        """
        if sampling.max_new_tokens < 1 or sampling.temperature < 0 or not 0 < sampling.top_p <= 1:
            raise UserError(f"max_new_tokens >= 1, temperature >= 0 and 0 < top_p <= 1 are needed, got {sampling}")
        prompt_ids = self._ids(prompt, room=1, tools=tools)
        future: Future[Any] = Future()
        self._engine.submit(Row(prompt_ids, sampling, future))
        sampled = await asyncio.wrap_future(future)
        text = self.renderer.decode(sampled.ids)
        return Completion(prompt_ids, sampled.ids, sampled.logprobs, sampled.versions, sampled.finish_reason, text)

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        """See `Policy.score`; the weights are those in use when the computation begins.

        Raises:
            ContextFull: if prompt and response are longer than the context.
            InfrastructureError: if the engine is gone.
        """
        if not response_ids:
            return []
        prompt_ids = self._ids(prompt, room=len(response_ids))
        future: Future[list[float]] = Future()
        self._engine.submit(ScoreItem([*prompt_ids, *self._ids(response_ids)], len(response_ids), future))
        return await asyncio.wrap_future(future)

    async def score_batch(self, pairs: Sequence[tuple[Prompt, Sequence[int]]]) -> list[list[float]]:
        """`score` for every pair of prompt and response ids, in micro-batches of similar length."""
        prompts = [self._ids(prompt) for prompt, _ in pairs]
        order = sorted(range(len(pairs)), key=lambda i: len(prompts[i]) + len(pairs[i][1]))
        scores = await asyncio.gather(*(self.score(prompts[i], pairs[i][1]) for i in order))
        return [score for _, score in sorted(zip(order, scores, strict=True))]

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        """See `Policy.update_weights`. Returns once the weights are copied; `state` must not change until then.

        Args:
            state: tensors by their name in the model's state dict; what is not named keeps its value.
            version: of the new weights.

        Raises:
            ValueError: if a name or a shape is not the model's; nothing has changed then.
            InfrastructureError: if the engine is gone.
        """
        for name, tensor in state.items():
            if tensor.shape != self._shapes.get(name):
                raise ValueError(
                    f"weight {name} of shape {tuple(tensor.shape)}: the model has {self._shapes.get(name)}"
                )
        future: Future[None] = Future()
        self._engine.submit(Update(state, version, future))
        await asyncio.wrap_future(future)

    async def aclose(self) -> None:
        """Stop the worker; whatever is pending fails with InfrastructureError. May be called again."""
        await asyncio.to_thread(self._engine.close)

    def _ids(self, prompt: Prompt, *, room: int = 0, tools: Sequence[dict[str, Any]] | None = None) -> list[int]:
        """The prompt as ids that the model knows, with `room` left in the context."""
        first = next(iter(prompt), None)
        if first is None:
            raise UserError("the prompt is empty")
        messages = isinstance(first, dict)
        ids = self.renderer.prompt_ids(prompt, tools=tools) if messages else [int(i) for i in prompt]  # type: ignore
        if not 0 <= min(ids) <= max(ids) < self._vocabulary:
            raise UserError(f"token ids must lie in 0..{self._vocabulary - 1}")
        if len(ids) + room > self.context:
            raise ContextFull(
                f"{len(ids)} prompt tokens and {room} more do not fit the context of {self.context} tokens"
            )
        return ids

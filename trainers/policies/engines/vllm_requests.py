"""`VLLMRequests`: one response from a vLLM server, by whichever of its two ways for ids it has."""

from collections.abc import Sequence
from typing import Any

from claw_envs.core.errors import ContextFull, UserError
from trainers.policies.engines.base import NoRouteError
from trainers.policies.engines.http import EngineHttp
from trainers.policies.engines.vllm_routes import Model, Models, VLLMRoutes
from trainers.policies.engines.vllm_wire import (
    COMPLETIONS,
    GENERATE,
    CompletionsAnswer,
    GenerateAnswer,
    Reply,
    completions_body,
    generate_body,
    read_completed,
    read_generated,
)


class VLLMRequests:
    """Remembers what the server turned out to be."""

    def __init__(self, http: EngineHttp, routes: VLLMRoutes, *, timeout: float) -> None:
        """
        Args:
            timeout: seconds for one response.
        """
        self._http, self._routes, self._timeout = http, routes, timeout
        self._generates, self._processed = True, False
        self._model: Model | None = None

    async def ask(self, ids: Sequence[int], params: dict[str, Any], lora: str | None, salt: str | None) -> Reply:
        """One response.

        Args:
            params: for both ways, see `sampling_params`.
            salt: prompts find only cached beginnings that were computed with the same.
        """
        try:
            if self._generates:
                return await self._generate(ids, params, lora, salt)
        except NoRouteError:
            self._generates = False
        return await self._complete(ids, params, lora, salt)

    async def _generate(self, ids: Sequence[int], params: dict[str, Any], lora: str | None, salt: str | None) -> Reply:
        body = generate_body(ids, params, lora, salt)
        answer = await self._http.call("POST", GENERATE, body, answer=GenerateAnswer, timeout=self._timeout)
        return read_generated(answer)

    async def _complete(self, ids: Sequence[int], params: dict[str, Any], lora: str | None, salt: str | None) -> Reply:
        """This way refuses what would not fit, where the other one ends at the context's end."""
        if self._model is None:
            self._model = (await self._routes.info("/v1/models", Models)).data[0]
        if self._model.max_model_len is not None:
            room = self._model.max_model_len - len(ids)
            if room < 1:
                raise ContextFull(f"{self._http.url}: {len(ids)} tokens fill its context")
            params = params | {"max_tokens": min(params["max_tokens"], room)}
        body = completions_body(ids, params, lora or self._model.id, salt)
        answer = await self._http.call("POST", COMPLETIONS, body, answer=CompletionsAnswer, timeout=self._timeout)
        return read_completed(answer)

    async def check_processed(self) -> None:
        """Whether log-probs are those after the temperature: where only one token is allowed, its log-prob is 0 then.

        Raises:
            UserError: if they are those before it.
        """
        if self._processed:
            return
        params = {"max_tokens": 1, "temperature": 1.0, "logprobs": 0, "allowed_token_ids": [0]}
        reply = await self.ask([0], params, None, None)
        if any(value < -1e-3 for value in reply.logprobs):
            raise UserError(
                f"{self._http.url} gives log-probs at temperature 1 only: start vLLM with "
                "--logprobs-mode processed_logprobs"
            )
        self._processed = True

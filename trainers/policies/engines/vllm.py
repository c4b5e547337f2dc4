"""`VLLMEngine`: one vLLM server over HTTP (0.29 to 0.32): ids in, ids and log-probs out, new weights in flight.

Start the server with `--logprobs-mode processed_logprobs` (else log-probs are those at temperature 1 whatever was
sampled from) and `VLLM_SERVER_DEV_MODE=1` (pauses, weights, versions); adapters need `--enable-lora` and
`VLLM_ALLOW_RUNTIME_LORA_UPDATING=1`. Not covered: streaming, images, several API servers before one engine.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from claw_envs.core.errors import UserError
from trainers.policies.base import Sampling
from trainers.policies.engines.base import (
    EngineRefusedError,
    PauseMode,
    Sampled,
    TensorSpec,
    WeightGroup,
    check_logprobs,
    check_start,
    token_versions,
    version_of,
)
from trainers.policies.engines.http import INSIST, EngineHttp
from trainers.policies.engines.tasks import surely, together
from trainers.policies.engines.vllm_requests import VLLMRequests
from trainers.policies.engines.vllm_routes import Paused, VLLMRoutes, World
from trainers.policies.engines.vllm_transfer import by_handles, described, in_memory, membership, save
from trainers.policies.engines.vllm_wire import Reply, sampling_params
from trainers.policies.engines.weights import SETTLE_SECONDS, ServerWeights

_PAUSES = {
    "keep": {"mode": "keep", "clear_cache": "false"},
    "recompute": {"mode": "keep", "clear_cache": "true"},
    "wait": {"mode": "wait", "clear_cache": "true"},
    "abort": {"mode": "abort", "clear_cache": "true"},
}
_UNFINISHED = "unfinished"
"""The tag of weights that are being changed: where it stays, an update has failed."""


class VLLMEngine:
    """See `Engine`.

    vLLM tags tokens with their weights' version from 0.32 on and on `/inference/v1/generate` only. Elsewhere the
    version is asked for before and after a response, and where the two differ all its tokens carry the older one: how
    old they are is never understated.

    A failed change of weights leaves vLLM with half-loaded ones, and sampling with those kills it. So it stays paused
    then, with what was in flight ended, and what is asked of it fails until an update succeeds.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        pause_mode: PauseMode = "recompute",
        timeout: float = 600.0,
        update_timeout: float = 600.0,
        health_timeout: float = 25.0,
        retries: int = 3,
    ) -> None:
        """
        Args:
            url: of the server, e.g. `http://localhost:8000`, without `/v1`.
            api_key: of the server, where it has one.
            pause_mode: what becomes of requests in flight during an update. `recompute` computes their keys and values
                anew with the new weights, as the trainer will; `keep` saves that time and mixes them, also in the
                cache of prefixes.
            timeout: seconds for one response, retries and pauses of the server included.
            update_timeout: seconds for one update of the weights.
            health_timeout: seconds after which a silent server counts as down.
            retries: see `EngineHttp`.

        Raises:
            UserError: for impossible arguments.
        """
        if pause_mode not in _PAUSES:
            raise UserError(f"vLLM pauses by {', '.join(_PAUSES)}, not {pause_mode!r}")
        self._http = EngineHttp(url, api_key=api_key, retries=retries)
        self._pause_mode: PauseMode = pause_mode
        self._routes = VLLMRoutes(self._http, timeout=update_timeout)
        self._requests = VLLMRequests(self._http, self._routes, timeout=timeout)
        self._timeout, self._health_timeout = timeout, health_timeout
        self._weights = ServerWeights(self._http.url)
        self._tags, self._spans = True, False
        self._salts: dict[str, str] = {}  # vLLM's cache tells adapters apart by name: a load again needs another salt
        self._swapping = asyncio.Lock()
        self._joined = False

    @property
    def version(self) -> int:
        """See `Engine`."""
        return self._weights.version

    @property
    def urls(self) -> list[str]:
        """See `Engine`."""
        return [self._http.url]

    # --- sampling and scoring -----------------------------------------------------------------------------------

    async def generate(
        self, ids: Sequence[int], sampling: Sampling, *, stop_ids: Sequence[int] = (), lora: str | None = None
    ) -> Sampled:
        """See `Engine.generate`. A greedy token's log-prob is that at temperature 1.

        Raises:
            UserError: for another temperature, or a top-p, from a server that gives the log-probs before them.
        """
        if sampling.temperature not in (0, 1) or sampling.top_p != 1:
            await self._requests.check_processed()
        known = self._weights.version
        before = known if self._spans else await self._tag()
        reply = await self._ask(ids, sampling_params(sampling, stop_ids), lora)
        check_logprobs(self._http.url, reply.logprobs if reply.scored == reply.ids else [], len(reply.ids))
        self._spans = reply.spans is not None
        if reply.spans is None:
            versions = [min(before, await self._tag())] * len(reply.ids)
        else:
            spans = [(span.version, span.start, span.end) for span in reply.spans]
            versions = token_versions(spans, len(reply.ids), before)
        self._weights.note(versions, known)
        return Sampled(reply.ids, reply.logprobs, versions, reply.finish_reason)

    async def score(self, ids: Sequence[int], start: int, *, lora: str | None = None) -> list[float]:
        """See `Engine.score`. vLLM samples at least one token, so `ids` must leave room for it in the context."""
        check_start(ids, start)
        if start == len(ids):
            return []
        reply = await self._ask(ids, {"max_tokens": 1, "temperature": 1.0, "prompt_logprobs": 0}, lora)
        scores = []
        for token, entry in zip(ids[start:], reply.prompt[start:], strict=False):
            found = (entry or {}).get(str(token))
            scores.append(float("nan") if found is None or found.logprob is None else found.logprob)
        check_logprobs(self._http.url, scores if len(reply.prompt) == len(ids) else [], len(ids) - start)
        return scores

    async def _ask(self, ids: Sequence[int], params: dict[str, Any], lora: str | None) -> Reply:
        self._weights.check_whole()
        salt = self._salts.get(lora) if lora else None
        try:
            reply = await self._requests.ask(ids, params, lora, salt)
        except EngineRefusedError:
            async with self._swapping:
                again = self._salts.get(lora) if lora else None
            if again == salt:
                raise
            reply = await self._requests.ask(ids, params, lora, again)  # its adapter was being loaded again
        self._weights.check_whole()
        return reply

    # --- weights ------------------------------------------------------------------------------------------------

    async def pause(self, mode: PauseMode = "keep") -> None:
        """See `Engine.pause`."""
        await self._routes.control("/pause", query=_PAUSES[mode], retries=INSIST)

    async def resume(self) -> None:
        """See `Engine.resume`."""
        await self._routes.control("/resume", retries=INSIST)

    async def is_paused(self) -> bool:
        """Whether requests wait, by whoever's pause."""
        return (await self._routes.info("/is_paused", Paused)).is_paused

    async def update_from_disk(self, path: str, version: int) -> None:
        """See `Engine.update_from_disk`.

        Raises:
            UserError: if no weights are to be seen there from here: vLLM would not survive the attempt to load them.
        """
        if not await asyncio.to_thread(_has_weights, path):
            raise UserError(f"no weights in {path}: it must lie where trainer and server both see it")
        await self._update(lambda: self._reload(path), version)

    async def update_from_tensors(self, state: Mapping[str, Any], version: int) -> None:
        """See `Engine.update_from_tensors`: by CUDA's handles where all are on a GPU, else through a file in memory.

        `state` has all of the model's tensors. For handles the server needs `--weight-transfer-config
        '{"backend": "ipc"}'` and `VLLM_ALLOW_INSECURE_SERIALIZATION=1`.
        """
        if all(tensor.is_cuda for tensor in state.values()):
            await self._routes.control("/init_weight_transfer_engine", {"init_info": {"packed": False}})
            await self._update(lambda: self._receive(by_handles(state)), version)
            return
        with in_memory() as directory:
            await asyncio.to_thread(save, state, directory)
            await self._update(lambda: self._reload(directory), version)

    async def join(self, group: WeightGroup) -> None:
        """See `Engine.join`. The server needs `--weight-transfer-config '{"backend": "nccl"}'`.

        Raises:
            UserError: for another backend than NCCL.
        """
        if group.backend != "nccl":
            raise UserError(f"vLLM's workers broadcast over nccl, not {group.backend}")
        await self._routes.control("/init_weight_transfer_engine", {"init_info": membership(group)})
        self._joined = True

    async def update_distributed(
        self, specs: Sequence[TensorSpec], version: int, send: Callable[[], Awaitable[None]]
    ) -> None:
        """See `Engine.update_distributed`."""
        if not self._joined:
            raise UserError("join a group before weights are broadcast over it")
        await self._update(lambda: self._receive(described(specs), send), version)

    async def leave(self) -> None:
        """See `Engine.leave`. A server before 0.32 cannot: there the next group takes this one's place."""
        if self._joined:
            self._joined = False
            await self._routes.optional("/shutdown_weight_transfer_engine")

    async def workers(self) -> int:
        """See `Engine.workers`."""
        return (await self._routes.info("/get_world_size", World)).world_size

    async def _update(self, load: Callable[[], Awaitable[None]], version: int) -> None:
        async def tagged() -> None:
            await load()
            await self._tag_as(str(version))

        async def go_on() -> None:
            await (self.abort() if self._weights.broken else self.resume())

        await self._weights.change(version, pause=lambda: self.pause(self._pause_mode), load=tagged, go_on=go_on)

    async def _reload(self, path: str) -> None:
        await self._begin()
        await self._routes.control("/collective_rpc", {"method": "reload_weights", "kwargs": {"weights_path": path}})

    async def _receive(self, info: dict[str, Any], send: Callable[[], Awaitable[None]] | None = None) -> None:
        """One session of vLLM's weight transfer; `send` runs beside the server's receiving."""
        await self._routes.control("/start_weight_update")
        try:
            await self._begin()
            receive = self._routes.control("/update_weights", {"update_info": info})
            await together(receive, *([] if send is None else [send()]))
        except BaseException:
            await surely(self._routes.control("/finish_weight_update"), SETTLE_SECONDS)
            raise
        await self._routes.control("/finish_weight_update")

    async def _begin(self) -> None:
        """From here on the weights are neither the old nor the new ones, and whoever asks the server can tell."""
        await self._tag_as(_UNFINISHED)
        self._weights.changing = True

    async def _tag_as(self, tag: str) -> None:
        await self._routes.control("/update_weight_version", {"new_version": tag}, retries=INSIST)

    async def _tag(self) -> int:
        """Version by the server's tag; what is known already while it is being changed, or where it has no tag."""
        tag = await self._routes.tag(self._timeout) if self._tags else None
        self._tags = tag is not None
        return self._weights.version if tag in (None, _UNFINISHED) else version_of(tag)

    # --- adapters and the rest ----------------------------------------------------------------------------------

    async def load_lora(self, name: str, path: str) -> None:
        """See `Engine.load_lora`. Requests in flight finish with the adapter they began with; the server needs
        `--max-loras 2` to run both at once.

        vLLM may read `path` again as long as requests use the adapter. Its own way of loading in place is not taken:
        an adapter that was loaded so is read again at every step, and vLLM dies when it is gone.
        """
        async with self._swapping:
            with suppress(EngineRefusedError):  # it is not there
                await self._routes.adapter("/v1/unload_lora_adapter", {"lora_name": name})
            await self._routes.adapter("/v1/load_lora_adapter", {"lora_name": name, "lora_path": path})
            self._salts[name] = uuid.uuid4().hex

    async def unload_lora(self, name: str) -> None:
        """See `Engine.unload_lora`."""
        async with self._swapping:
            self._salts.pop(name, None)
            await self._routes.adapter("/v1/unload_lora_adapter", {"lora_name": name})

    async def abort(self) -> None:
        """See `Engine.abort`."""
        await self._routes.control("/abort_requests", {}, retries=INSIST)

    async def health(self) -> bool:
        """See `Engine.health`. A paused server is a healthy one here: an update that failed leaves it so."""
        return await self._http.answers("/health", timeout=self._health_timeout)

    async def refresh(self) -> int:
        """See `Engine.refresh`; -1, and nothing taken, while the weights are being changed or where that failed."""
        tag = await self._routes.tag()
        if tag == _UNFINISHED:
            return -1
        if tag is not None:
            self._weights.version, self._weights.changing, self._weights.broken = version_of(tag), False, False
        return self._weights.version

    async def aclose(self) -> None:
        """See `Engine.aclose`."""
        await self._http.aclose()


def _has_weights(path: str) -> bool:
    return any(Path(path).glob("*.safetensors")) or any(Path(path).glob("*.bin"))

"""`SGLangEngine`: one SGLang server by its native API (0.5.23): ids in, ids and log-probs out, new weights in flight.

Not covered: streaming, images, several data-parallel ranks behind one server (SGLang itself refuses to update those).
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from claw_envs.core.errors import UserError
from trainers.policies.base import Sampling
from trainers.policies.engines.base import (
    EngineDownError,
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
from trainers.policies.engines.sglang_wire import Done, Generated, Model, Server, values_of
from trainers.policies.engines.tasks import surely, together
from trainers.policies.engines.transfer import shared_payload
from trainers.policies.engines.weights import SETTLE_SECONDS, ServerWeights

_PAUSES = {"keep": "in_place", "recompute": "retract", "abort": "abort"}
_ABORT_SECONDS = 5.0
_INFO_SECONDS = 10.0
_UNTOUCHED = ("Failed to get weights iterator", "Failed to get model loader")
"""What SGLang says where it found no weights to load. Where it fails later, it has overwritten those that it had."""


class SGLangEngine:
    """See `Engine`."""

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
            url: of the server, e.g. `http://localhost:30000`.
            api_key: of the server, where it has one.
            pause_mode: what becomes of requests in flight during an update. `recompute` computes their keys and values
                anew with the new weights, as the trainer will; `keep` saves that time and mixes them.
            timeout: seconds for one response, retries and pauses of the server included.
            update_timeout: seconds for one update of the weights.
            health_timeout: seconds after which a silent server counts as down; an idle one takes one to answer.
            retries: see `EngineHttp`.

        Raises:
            UserError: for impossible arguments.
        """
        self._http = EngineHttp(url, api_key=api_key, retries=retries)
        self._pause_mode: PauseMode = pause_mode
        self._timeout, self._update_timeout, self._health_timeout = timeout, update_timeout, health_timeout
        self._weights = ServerWeights(self._http.url)
        self._group: WeightGroup | None = None
        self._loaded: dict[str, str] = {}
        self._unloading: set[asyncio.Task[bool]] = set()
        self._mode(pause_mode)

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
        """See `Engine.generate`.

        Raises:
            UserError: for a top-p other than 1: SGLang's log-probs are those before the cut.
        """
        if sampling.top_p != 1:
            raise UserError("SGLang gives the log-probs of the whole distribution: leave top_p at 1")
        params: dict[str, Any] = {
            "max_new_tokens": sampling.max_new_tokens,
            "temperature": sampling.temperature,
            "skip_special_tokens": False,
        }
        params |= {"sampling_seed": sampling.seed} if sampling.seed is not None else {}
        params |= {"stop_token_ids": list(stop_ids)} if stop_ids else {}
        oldest = self._weights.version
        answer = await self._ask({"input_ids": list(ids), "sampling_params": params}, lora)
        meta, count = answer.meta_info, len(answer.output_ids)
        logprobs = values_of(meta.output_token_logprobs, answer.output_ids)
        check_logprobs(self._http.url, logprobs, count)
        spans = [(span.version, span.start, span.end) for span in meta.weight_versions]
        versions = token_versions(spans, count, version_of(meta.weight_version))
        self._weights.note(versions, oldest)
        reason = str((meta.finish_reason or {}).get("type", "stop"))
        return Sampled(answer.output_ids, logprobs, versions, reason)

    async def score(self, ids: Sequence[int], start: int, *, lora: str | None = None) -> list[float]:
        """See `Engine.score`."""
        check_start(ids, start)
        if start == len(ids):
            return []
        params = {"max_new_tokens": 0, "temperature": 1.0}
        body = {"input_ids": list(ids), "sampling_params": params, "logprob_start_len": start - 1}
        oldest = self._weights.version
        scored = (await self._ask(body, lora)).meta_info
        scores = values_of(scored.input_token_logprobs[-(len(ids) - start) :], ids[start:])
        check_logprobs(self._http.url, scores, len(ids) - start)
        self._weights.note([version_of(scored.weight_version)], oldest)
        return scores

    async def _ask(self, body: dict[str, Any], lora: str | None) -> Generated:
        self._weights.check_whole()
        rid = ""

        def once() -> dict[str, Any]:  # SGLang refuses the name of a request that it is still at
            nonlocal rid
            rid = uuid.uuid4().hex
            adapter = {"lora_path": self._loaded.get(lora, lora)} if lora else {}
            return body | adapter | {"return_logprob": True, "rid": rid}

        try:
            answer = await self._http.call("POST", "/generate", once, answer=Generated, timeout=self._timeout)
        except (asyncio.CancelledError, EngineDownError):
            await surely(self._end(rid), _ABORT_SECONDS)
            raise
        self._weights.check_whole()
        return answer

    async def _end(self, rid: str) -> None:
        await self._http.call("POST", "/abort_request", {"rid": rid}, answer=bytes, timeout=_ABORT_SECONDS, retries=0)

    # --- weights ------------------------------------------------------------------------------------------------

    async def pause(self, mode: PauseMode = "keep") -> None:
        """See `Engine.pause`.

        Raises:
            UserError: for `wait`, which SGLang doesn't have.
        """
        await self._control("/pause_generation", {"mode": self._mode(mode)}, retries=INSIST)

    async def resume(self) -> None:
        """See `Engine.resume`."""
        await self._control("/continue_generation", {}, retries=INSIST)

    async def update_from_disk(self, path: str, version: int) -> None:
        """See `Engine.update_from_disk`. Where it finds no weights there, SGLang keeps those that it has."""
        body = {"model_path": path, "weight_version": str(version), "flush_cache": self._flushes}

        async def load() -> None:
            already, self._weights.changing = self._weights.changing, True
            try:
                await self._control("/update_weights_from_disk", body, retries=None)
            except EngineRefusedError as error:
                self._weights.changing = already or not any(said in str(error) for said in _UNTOUCHED)
                raise

        await self._update(load, version)

    async def update_from_tensors(self, state: Mapping[str, Any], version: int) -> None:
        """See `Engine.update_from_tensors`. The tensors pass through shared memory of this machine."""
        payload = await asyncio.to_thread(shared_payload, state, await self.workers())
        body = {
            "serialized_named_tensors": payload,
            "weight_version": str(version),
            "flush_cache": self._flushes,
        }
        load = self._in_session(lambda: self._control("/update_weights_from_tensor", body))
        await self._update(load, version)

    async def join(self, group: WeightGroup) -> None:
        """See `Engine.join`."""
        body = {
            "master_address": group.host,
            "master_port": group.port,
            "rank_offset": group.rank,
            "world_size": group.size,
            "group_name": group.name,
            "backend": group.backend,
        }
        with suppress(EngineRefusedError):  # a trainer that died has left one; usually there is none
            await self._control("/destroy_weights_update_group", {"group_name": group.name})
        await self._control("/init_weights_update_group", body)
        self._group = group

    async def update_distributed(
        self, specs: Sequence[TensorSpec], version: int, send: Callable[[], Awaitable[None]]
    ) -> None:
        """See `Engine.update_distributed`."""
        if self._group is None:
            raise UserError("join a group before weights are broadcast over it")
        body = {
            "names": [spec.name for spec in specs],
            "dtypes": [spec.dtype for spec in specs],
            "shapes": [list(spec.shape) for spec in specs],
            "group_name": self._group.name,
            "weight_version": str(version),
            "flush_cache": self._flushes,
        }

        async def receive() -> None:
            await together(self._control("/update_weights_from_distributed", body), send())

        await self._update(self._in_session(receive), version)

    async def leave(self) -> None:
        """See `Engine.leave`."""
        if self._group is not None:
            name, self._group = self._group.name, None
            await self._control("/destroy_weights_update_group", {"group_name": name})

    async def workers(self) -> int:
        """See `Engine.workers`."""
        server = await self._http.call("GET", "/server_info", answer=Server, timeout=_INFO_SECONDS)
        return server.tp_size

    @property
    def _flushes(self) -> bool:
        """Cached prefixes go with the weights that made them, unless requests go on from theirs."""
        return self._pause_mode != "keep"

    async def _update(self, load: Callable[[], Awaitable[None]], version: int) -> None:
        """Pause, load, go on; whatever happens the server goes on."""
        await self._weights.change(version, pause=lambda: self.pause(self._pause_mode), load=load, go_on=self.resume)

    def _in_session(self, load: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        """`load` between the two calls that let SGLang change its weights piece by piece."""

        async def session() -> None:
            try:
                await self._control("/begin_weight_update", {})
            except EngineRefusedError:  # a trainer that died has left one open
                await self._control("/end_weight_update", {})
                await self._control("/begin_weight_update", {})
            self._weights.changing = True
            try:
                await load()
            finally:
                await surely(self._control("/end_weight_update", {}), SETTLE_SECONDS)

        return session

    # --- adapters and the rest ----------------------------------------------------------------------------------

    async def load_lora(self, name: str, path: str) -> None:
        """See `Engine.load_lora`. The server needs `--enable-lora`.

        SGLang refuses a name that is loaded, and unloads one only once its requests have finished. So every load has
        a name of its own there: new requests use it at once, those in flight finish with the old one, which then goes.
        """
        loaded = f"{name}@{uuid.uuid4().hex[:8]}"
        await self._control("/load_lora_adapter", {"lora_name": loaded, "lora_path": path})
        before, self._loaded[name] = self._loaded.get(name), loaded
        if before is not None:
            unloading = asyncio.create_task(surely(self._unload(before), self._update_timeout))
            self._unloading.add(unloading)
            unloading.add_done_callback(self._unloading.discard)

    async def unload_lora(self, name: str) -> None:
        """See `Engine.unload_lora`. Returns once its requests have finished."""
        await self._unload(self._loaded.pop(name, name))

    async def _unload(self, loaded: str) -> None:
        await self._control("/unload_lora_adapter", {"lora_name": loaded})

    async def abort(self) -> None:
        """See `Engine.abort`."""
        await self._http.call("POST", "/abort_request", {"abort_all": True}, answer=bytes, timeout=_INFO_SECONDS)

    async def health(self) -> bool:
        """See `Engine.health`. A paused server does not count as healthy."""
        return await self._http.answers("/health", timeout=self._health_timeout)

    async def refresh(self) -> int:
        """See `Engine.refresh`; -1, and nothing taken, after an update that failed half-way."""
        if self._weights.broken:
            return -1
        model = await self._http.call("GET", "/model_info", answer=Model, timeout=_INFO_SECONDS)
        self._weights.version = version_of(model.weight_version)
        return self._weights.version

    async def aclose(self) -> None:
        """See `Engine.aclose`."""
        for unloading in self._unloading:
            unloading.cancel()
        await self._http.aclose()

    def _mode(self, mode: PauseMode) -> str:
        if mode not in _PAUSES:
            raise UserError(f"SGLang pauses by {', '.join(_PAUSES)}, not {mode!r}; Replicas(rolling=True) waits")
        return _PAUSES[mode]

    async def _control(self, path: str, body: dict[str, Any], *, retries: int | None = 0) -> None:
        """A call that answers whether it succeeded, in one of SGLang's two ways."""
        timeout = self._update_timeout
        payload = await self._http.call("POST", path, body, answer=bytes, timeout=timeout, retries=retries)
        with suppress(msgspec.DecodeError):
            done = msgspec.json.decode(payload, type=Done)
            if not done.success:
                raise EngineRefusedError(f"{self._http.url}{path}: {done.error_message or done.message}")

"""A small HTTP server that speaks SGLang's native protocol over a tiny real model, one token at a time.

What it answers was compared with a real server of 0.5.23: the same tests run against both (`test_sglang.py`).
"""

import asyncio
import base64
import io
import pickle
import sys
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from aiohttp import web

from trainers.policies.engines.base import WeightGroup
from trainers.policies.engines.transfer import make_group

Fault = Callable[[web.Request], Awaitable[web.StreamResponse]]


class StandIn:
    """One server. `faults` answer the next calls of `/generate` in its place; `asked` is every call with its body."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.tag = "default"
        self.running: dict[str, asyncio.Event] = {}
        """Requests in flight, and whether to end them."""
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.faults: deque[Fault] = deque()
        self.healthy = True
        self.breaks = False
        """Whether weights fail to load."""
        self.on_token: Callable[[int], None] = lambda count: None
        self.on_load: Callable[[], Awaitable[None]] = _at_once
        self.statuses: defaultdict[str, deque[int]] = defaultdict(deque)
        """By path, what to answer in place of the next calls."""
        self._paused = False
        self._goes_on = asyncio.Condition()
        self._news = asyncio.Event()
        self._session = False
        self.adapters: dict[str, str] = {}
        self._known_adapters: dict[str, str] = {}
        self._adapted: Counter[str] = Counter()
        self._groups: dict[str, Any] = {}
        self.url = ""

    def paths(self) -> list[str]:
        """What was asked, in order."""
        return [path for path, _ in self.asked]

    async def until(self, ready: Callable[[], bool]) -> None:
        """Wait for requests to come until `ready` is true."""
        while not ready():
            self._news.clear()
            await self._news.wait()

    async def until_asked(self, count: int = 1) -> None:
        """Wait until `/generate` was asked for `count` times."""
        await self.until(lambda: self.paths().count("/generate") >= count)

    @asynccontextmanager
    async def serve(self, port: int = 0) -> AsyncIterator["StandIn"]:
        """Listen until the end of the block; what is in flight then breaks off."""
        app = web.Application(middlewares=[self._note], client_max_size=2**30)
        app.add_routes(
            [
                web.get("/health", self._health),
                web.get("/model_info", self._model_info),
                web.get("/server_info", self._server_info),
                web.post("/generate", self._generate),
                web.post("/abort_request", self._abort),
                web.post("/pause_generation", self._pause),
                web.post("/continue_generation", self._continue),
                web.post("/begin_weight_update", self._begin),
                web.post("/end_weight_update", self._end),
                web.post("/update_weights_from_disk", self._from_disk),
                web.post("/update_weights_from_tensor", self._from_tensor),
                web.post("/init_weights_update_group", self._join),
                web.post("/destroy_weights_update_group", self._leave),
                web.post("/update_weights_from_distributed", self._from_distributed),
                web.post("/load_lora_adapter", self._load_lora),
                web.post("/unload_lora_adapter", self._unload_lora),
            ]
        )
        runner = web.AppRunner(app, shutdown_timeout=0.01, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()

    @web.middleware
    async def _note(self, request: web.Request, handler: Any) -> Any:
        body = await request.json() if request.can_read_body else {}
        self.asked.append((request.path, body))
        self._news.set()
        if self.statuses[request.path]:
            return web.Response(status=self.statuses[request.path].popleft())
        return await handler(request)

    # --- sampling -----------------------------------------------------------------------------------------------

    async def _generate(self, request: web.Request) -> web.StreamResponse:
        if self.faults:
            return await self.faults.popleft()(request)
        body = await request.json()
        await self._wait()
        rid, ended, adapter = body["rid"], asyncio.Event(), body.get("lora_path")
        if adapter and adapter not in self._known_adapters:
            said = f"Got LoRA adapter that has never been loaded: {adapter}"
            return web.json_response({"error": {"message": said}}, status=400)
        if adapter:  # SGLang loads one again that it has unloaded
            self.adapters.setdefault(adapter, self._known_adapters[adapter])
        if rid in self.running:
            return web.json_response({"error": {"message": f"Duplicate request ID detected: {rid}"}}, status=400)
        self.running[rid] = ended
        self._adapted[adapter] += 1
        self._news.set()
        try:
            return web.json_response(await self._respond(body, ended))
        finally:
            self.running.pop(rid, None)
            self._adapted[adapter] -= 1
            self._news.set()

    async def _respond(self, body: dict[str, Any], ended: asyncio.Event) -> dict[str, Any]:
        ids, params = body["input_ids"], body["sampling_params"]
        stops = {self.model.config.eos_token_id, *params.get("stop_token_ids", [])}
        generator = torch.Generator().manual_seed(params.get("sampling_seed") or 0)
        entries: list[list[Any]] = []
        spans: list[dict[str, Any]] = []
        reason: dict[str, Any] = {"type": "length", "length": params["max_new_tokens"]}
        while len(entries) < params["max_new_tokens"]:
            await self._wait()
            if ended.is_set():
                reason = {"type": "abort", "message": "Abort by the user"}
                break
            logits = self._logits([*ids, *(entry[1] for entry in entries)], last=1)[-1]
            logprobs = torch.log_softmax(logits / (params["temperature"] or 1.0), -1)
            greedy = not params["temperature"]
            token = int(logits.argmax() if greedy else torch.multinomial(logprobs.exp(), 1, generator=generator))
            entries.append([float(logprobs[token]), token, None])
            if not spans or spans[-1]["version"] != self.tag:
                spans.append({"version": self.tag, "start": len(entries) - 1, "end": len(entries)})
            spans[-1]["end"] = len(entries)
            self.on_token(len(entries))
            await asyncio.sleep(0)
            if token in stops:
                reason = {"type": "stop", "matched": token}
                break
        meta: dict[str, Any] = {
            "id": body["rid"],
            "finish_reason": reason,
            "prompt_tokens": len(ids),
            "weight_version": self.tag,
            "weight_versions": spans or [{"version": self.tag, "start": 0, "end": 0}],
            "completion_tokens": len(entries),
            "output_token_logprobs": entries,
        }
        if (start := body.get("logprob_start_len", -1)) >= 0:
            scores = torch.log_softmax(self._logits(ids), -1)
            inputs = [
                [None if i == start else float(scores[i - 1, ids[i]]), ids[i], None] for i in range(start, len(ids))
            ]
            meta["input_token_logprobs"] = inputs
        return {"text": "", "output_ids": [entry[1] for entry in entries], "meta_info": meta}

    def _logits(self, ids: list[int], *, last: int = 0) -> torch.Tensor:
        with torch.no_grad():
            logits: torch.Tensor = self.model(torch.tensor([ids]), logits_to_keep=last).logits[0].float()
        return logits

    async def _wait(self) -> None:
        async with self._goes_on:
            await self._goes_on.wait_for(lambda: not self._paused)

    # --- control ------------------------------------------------------------------------------------------------

    async def _health(self, request: web.Request) -> web.Response:
        return web.Response(status=200 if self.healthy and not self._paused else 503)

    async def _model_info(self, request: web.Request) -> web.Response:
        return web.json_response({"model_path": "tiny", "weight_version": self.tag})

    async def _server_info(self, request: web.Request) -> web.Response:
        return web.json_response({"tp_size": 1, "dp_size": 1})

    async def _abort(self, request: web.Request) -> web.Response:
        body = await request.json()
        for rid, ended in self.running.items():
            if body.get("abort_all") or rid == body["rid"]:
                ended.set()
        return web.Response()

    async def _pause(self, request: web.Request) -> web.Response:
        mode = (await request.json())["mode"]
        assert mode in ("abort", "retract", "in_place")
        if mode == "abort":
            for ended in self.running.values():
                ended.set()
        else:
            self._paused = True
        return web.json_response({"message": "Generation paused successfully.", "status": "ok"})

    async def _continue(self, request: web.Request) -> web.Response:
        async with self._goes_on:
            self._paused = False
            self._goes_on.notify_all()
        return web.json_response({"message": "Generation continued successfully.", "status": "ok"})

    async def _begin(self, request: web.Request) -> web.Response:
        if self._session:
            return _done(False, "a weight-update session is already open; call end_weight_update() first")
        self._session = True
        return _done()

    async def _end(self, request: web.Request) -> web.Response:
        if not self._session:
            return _done(False, "no weight-update session is open; call begin_weight_update() first")
        self._session = False
        return _done()

    async def _from_disk(self, request: web.Request) -> web.Response:
        from safetensors.torch import load_file

        body = await request.json()
        files = [file for file in [Path(body["model_path"], "model.safetensors")] if file.is_file()]
        if not files:
            return _done(False, f"Failed to get weights iterator: no weights in {body['model_path']}.")
        return await self._load([item for file in files for item in load_file(file).items()], body)

    async def _from_tensor(self, request: web.Request) -> web.Response:
        body = await request.json()
        if not self._session:
            return _done(False, "update_weights_from_tensor must run between begin_weight_update() and …")
        (payload,) = body["serialized_named_tensors"]
        return await self._load(pickle.load(io.BytesIO(base64.b64decode(payload))), body)

    async def _load(self, weights: list[tuple[str, torch.Tensor]], body: dict[str, Any]) -> web.Response:
        await self.on_load()
        if self.breaks:
            return _done(False, "Failed to update parameter online. The weights are partially updated.")
        self.model.load_state_dict({name: tensor.clone() for name, tensor in weights}, strict=False)
        self.tag = body["weight_version"]
        return _done()

    async def _join(self, request: web.Request) -> web.Response:
        body = await request.json()
        rank, name = body["rank_offset"], body["group_name"]
        group = WeightGroup(
            body["master_address"], body["master_port"], rank, body["world_size"], name, body["backend"]
        )
        self._groups[name] = await asyncio.to_thread(make_group, group, rank, timedelta(seconds=60))
        return _done()

    async def _leave(self, request: web.Request) -> web.Response:
        name = (await request.json())["group_name"]
        if self._groups.pop(name, None) is None:
            return _done(False, "The group to be destroyed does not exist.")
        return _done()

    async def _from_distributed(self, request: web.Request) -> web.Response:
        body = await request.json()
        if not self._session:
            return _done(False, "update_weights_from_distributed must run between begin_weight_update() and …")
        group = self._groups[body["group_name"]]

        def receive() -> list[tuple[str, torch.Tensor]]:
            weights = []
            for name, dtype, shape in zip(body["names"], body["dtypes"], body["shapes"], strict=True):
                weight = torch.empty(shape, dtype=getattr(torch, dtype))
                group.broadcast(weight, 0).wait()
                weights.append((name, weight))
            return weights

        return await self._load(await asyncio.to_thread(receive), body)

    async def _load_lora(self, request: web.Request) -> web.Response:
        body = await request.json()
        name, path = body["lora_name"], body["lora_path"]
        if name in self.adapters:
            return _done(False, f"LoRA adapter {name} already loaded", key="error_message")
        self.adapters[name] = self._known_adapters[name] = path
        return web.json_response({"success": True, "error_message": "", "loaded_adapters": self.adapters})

    async def _unload_lora(self, request: web.Request) -> web.Response:
        name = (await request.json())["lora_name"]
        if self.adapters.pop(name, None) is None:
            return _done(False, f"LoRA adapter {name} is not loaded", key="error_message")
        await self.until(lambda: not self._adapted[name])
        return web.json_response({"success": True, "error_message": "", "loaded_adapters": self.adapters})


async def _at_once() -> None:
    """The next thing."""


def _done(success: bool = True, message: str = "Success", *, key: str = "message") -> web.Response:
    return web.json_response({"success": success, key: message}, status=200 if success else 400)


async def _main(model: str) -> None:
    """A server in a process of its own: it prints its URL, and ends with its standard input."""
    async with StandIn(load(model)).serve() as server:
        print(server.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


def load(model: str | Path) -> Any:
    """A model that this server can have for itself."""
    from transformers import LlamaForCausalLM

    return LlamaForCausalLM.from_pretrained(model)  # in evaluation mode


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))

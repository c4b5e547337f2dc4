"""The server's routes; see `claw_envs.server.wire` for what is said on them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict

import msgspec
from fastapi import FastAPI, Request, Response, WebSocket
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.websockets import WebSocketDisconnect, WebSocketState

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.server import wire
from claw_envs.server.guard import Guard, body_of
from claw_envs.server.leases import BusyError, Lease, Leases
from claw_envs.server.offer import Offer

_UNREADABLE = 1007  # WebSocket close code


def create_app(offer: Offer, leases: Leases, *, key: str | None) -> FastAPI:
    """The application; when it shuts down, every environment is closed."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await leases.end_all()
        await offer.close()

    app = FastAPI(lifespan=lifespan, openapi_url=None)
    app.add_middleware(Guard, key=key)
    app.add_exception_handler(UserError, _refused)
    app.add_exception_handler(InfrastructureError, _failed)
    app.add_exception_handler(BusyError, _busy)
    app.add_exception_handler(Exception, _bug)

    @app.get("/health")
    async def health() -> Response:
        return JSONResponse({"status": "stopping" if leases.closing else "ok"}, 503 if leases.closing else 200)

    @app.get("/metrics")
    async def metrics() -> Response:
        return PlainTextResponse(_metrics(leases))

    @app.post("/v1/describe")
    async def describe(request: Request) -> Response:
        return _answer(await offer.describe(await _wanted(request)))

    @app.post("/v1/leases")
    async def lease(request: Request) -> Response:
        wanted = await _wanted(request)
        async with leases.place() as keep:
            granted = keep(await offer.make(wanted))
        return _answer(wire.Granted(id=granted.id, ttl=leases.ttl))

    @app.delete("/v1/lease")
    async def release(request: Request) -> Response:
        await leases.end(request.headers.get(wire.LEASE, ""))
        return Response(status_code=204)

    @app.websocket("/v1/lease")
    async def attend(socket: WebSocket) -> None:
        await socket.accept()
        held = leases.find(socket.headers.get(wire.LEASE, ""))  # only now: it may have ended meanwhile
        if held is None:
            await socket.close(wire.GONE)
        else:
            await held.attach(socket)
            await _attend(held, socket)

    return app


async def _attend(lease: Lease, socket: WebSocket) -> None:
    """Answer until the connection ends. What runs then goes on: its client may come back for the result."""
    answering: set[asyncio.Task[None]] = set()
    try:
        while (message := await socket.receive())["type"] != "websocket.disconnect":
            try:
                request = wire.read_request(message.get("bytes") or b"")
            except ValueError:
                await socket.close(_UNREADABLE)
                return
            lease.touch()
            match request:
                case wire.Beat():
                    await _send(socket, wire.encode(request))
                case wire.Cancel():
                    lease.cancel(request.key)
                case _:
                    task = asyncio.create_task(_reply(lease, socket, request))
                    answering.add(task)
                    task.add_done_callback(answering.discard)
    finally:
        for task in answering:
            task.cancel()


async def _reply(lease: Lease, socket: WebSocket, call: wire.Call) -> None:
    reply = await lease.call(call)
    if reply is not None:
        await _send(socket, reply)


async def _send(socket: WebSocket, data: bytes) -> None:
    """To a client that may have gone: it will ask again."""
    if socket.application_state is WebSocketState.CONNECTED:
        with suppress(WebSocketDisconnect):
            await socket.send_bytes(data)


async def _wanted(request: Request) -> wire.Wanted:
    try:
        return msgspec.msgpack.decode(await body_of(request), type=wire.Wanted)
    except (ValueError, RecursionError) as error:
        raise UserError(f"unreadable request: {error}") from None


def _answer(value: object, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(wire.encode(value), status, headers, media_type=wire.CONTENT_TYPE)


async def _refused(_: Request, error: Exception) -> Response:
    return _answer(wire.fault(error), status=400)


async def _failed(_: Request, error: Exception) -> Response:
    return _answer(wire.fault(error), status=503)


async def _bug(_: Request, error: Exception) -> Response:
    return _answer(wire.fault(error), status=500)  # and its traceback goes to the log


async def _busy(_: Request, error: Exception) -> Response:
    return _answer(wire.Fault(kind="busy", text=str(error)), status=429, headers={"retry-after": "1"})


def _metrics(leases: Leases) -> str:
    """Prometheus' text format."""
    now = {"claw_leases": len(leases), "claw_calls_running": leases.turns.running}
    since = {f"claw_{name}_total": value for name, value in asdict(leases.counts).items()}
    return "".join(f"{name} {value}\n" for name, value in (now | since).items())

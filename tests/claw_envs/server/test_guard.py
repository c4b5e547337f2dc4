"""Who may use a server, and for what: seen from an attacker's side."""

import asyncio
import gzip
import http.client
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import gymnasium as gym
import msgspec
import pytest
import uvicorn
from uvicorn.server import ServerState

from claw_envs.core.errors import UserError
from claw_envs.server import guard, wire
from claw_envs.server.app import create_app
from claw_envs.server.leases import Leases
from claw_envs.server.offer import Offer

from .conftest import Host
from .hosting import KEY, Hosted

DESCRIBE = wire.encode(wire.Wanted(family="chat"))
MSGPACK = {"Content-Type": wire.CONTENT_TYPE}


def ask(
    server: Hosted, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def upgrade(server: Hosted, headers: dict[str, str]) -> int:
    """Status of a WebSocket's opening handshake."""
    opening = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    return ask(server, "GET", "/v1/lease", None, opening | {"Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg=="} | headers)[
        0
    ]


async def attend(server: Hosted, lease: str) -> int | None:
    """The code with which a WebSocket for the lease is closed."""
    async with (
        aiohttp.ClientSession(headers={wire.LEASE: lease}) as session,
        session.ws_connect(f"{server.url}/v1/lease") as socket,
    ):
        await socket.receive(timeout=60)
        return socket.close_code


def claw_serve(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("claw")), "serve", "envs", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_the_key_decides(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    server = host(key=KEY)
    for key in ("", "wrong", KEY + "x", KEY[:-1], "wröng"):
        monkeypatch.setenv("CLAW_API_KEY", key)
        if key.isascii():
            with pytest.raises(UserError, match="set CLAW_API_KEY"):
                gym.make("claw/chat-v0", server=server.url)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        headers = {name: value.encode() for name, value in headers.items()}  # type: ignore[misc]
        assert ask(server, "GET", "/metrics", headers=headers)[0] == 401
        assert ask(server, "POST", "/v1/leases", DESCRIBE, MSGPACK | headers)[0] == 401
        assert upgrade(server, headers) == 403
    assert ask(server, "GET", "/health") == (200, b'{"status":"ok"}')
    monkeypatch.setenv("CLAW_API_KEY", KEY)
    env = gym.make("claw/chat-v0", server=server.url)
    env.reset(seed=0)
    env.close()
    assert server.metric("leases_total") == 1
    assert KEY not in server.log.read_text()
    assert KEY.encode() not in Path(f"/proc/{server.process.pid}/cmdline").read_bytes()


def test_the_key_may_come_from_a_file(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(KEY + "\n")
    server = host("--api-key-file", str(file))
    assert ask(server, "GET", "/metrics")[0] == 401
    assert ask(server, "GET", "/metrics", headers={"Authorization": f"Bearer {KEY}"})[0] == 200


def test_loopback_alone_without_a_key(server: Hosted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listening = Path("/proc/net/tcp").read_text().split()
    assert f"0100007F:{server.port:04X}" in listening
    assert f"00000000:{server.port:04X}" not in listening
    monkeypatch.delenv("CLAW_API_KEY", raising=False)
    short = tmp_path / "short"
    short.write_text("secret\n")
    for arguments, named in (
        (("--host", "0.0.0.0"), "set CLAW_API_KEY, or give --api-key-file"),
        (("--host", "::"), "set CLAW_API_KEY"),
        (("--api-key-file", str(short)), "openssl rand"),
        (("--api-key-file", "/no/such/file"), "/no/such/file"),
        (("--port", str(server.port)), "cannot listen"),
        (("--set", "colour=blue"), "colour"),
        (("--set", "chat.backend=docker"), "chat.backend"),
        (("--allow-tasks", "/no/such/folder"), "/no/such/folder"),
        (("gardening",), "no environment family 'gardening'"),
    ):
        done = claw_serve(*arguments)
        assert done.returncode == 2, (arguments, done.stderr)
        assert named in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "null"},
        {"Host": "evil.example"},  # a name that was rebound to 127.0.0.1
        {"Host": "evil.example:8700"},
        {"Host": "["},
        {"Host": "127.0.0.1.evil.example"},
    ],
)
def test_browsers_are_turned_away(server: Hosted, headers: dict[str, str]) -> None:
    assert ask(server, "GET", "/metrics", headers=headers)[0] == 403
    assert ask(server, "POST", "/v1/describe", DESCRIBE, MSGPACK | headers)[0] == 403
    assert upgrade(server, headers) == 403


def test_a_form_is_no_request(server: Hosted) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json"):
        assert ask(server, "POST", "/v1/leases", DESCRIBE, {"Content-Type": kind})[0] == 400


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xc1",
        DESCRIBE[:-1],
        b"\x91" * 100_000,
        msgspec.msgpack.encode({"family": "chat", "settings": {}, "more": 1}),
        msgspec.msgpack.encode({"family": 3}),
        msgspec.msgpack.encode({"family": "gardening"}),
        b"x" * (2**20 + 1),
    ],
)
def test_unreadable_and_oversized_bodies_are_refused(server: Hosted, body: bytes) -> None:
    assert ask(server, "POST", "/v1/describe", body, MSGPACK)[0] == 400


def test_a_body_without_end_is_cut_off(server: Hosted) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(
            b"POST /v1/describe HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n"
            b"Content-Type: application/msgpack\r\n\r\n"
        )
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        try:
            for _ in range(1000):
                connection.sendall(chunk)
        except ConnectionError:
            return
        pytest.fail("64 MB of a request were taken")


def test_compressed_bodies_are_not_unpacked(server: Hosted) -> None:
    headers = MSGPACK | {"Content-Encoding": "gzip"}
    assert ask(server, "POST", "/v1/describe", gzip.compress(DESCRIBE), headers)[0] == 400


def test_leases_cannot_be_guessed_or_taken_over(server: Hosted) -> None:
    env = gym.make("claw/chat-v0", server=server.url).unwrapped
    env.reset(seed=0)
    for lease in ("", "1", "a" * 43):
        assert asyncio.run(attend(server, lease)) == wire.GONE
        assert ask(server, "DELETE", "/v1/lease", headers={"claw-lease": lease})[0] == 204
    assert "error" not in env.step("## 12")[4]
    env.close()


def test_there_is_nothing_else_to_call(server: Hosted) -> None:
    for path in ("/docs", "/openapi.json", "/redoc", "/v1/../etc/passwd", "/v1/lease"):
        assert ask(server, "GET", path)[0] in (404, 405)


@pytest.mark.parametrize(
    "settings",
    [
        {"backend": "local"},
        {"simulator": "llm", "base_url": "http://169.254.169.254/", "model": "m"},
        {"tasks": "/etc/passwd"},
        {"tasks": "../../etc/passwd"},
        {"tasks": "student:/etc/passwd"},
        {"tasks": "student:../allowed/../secret.jsonl"},
        {"tasks": "secret.jsonl"},
        {"tasks": "student:here"},
        {"tasks": "student:x:allowed/good.jsonl"},
        {"tasks": "."},
        {"tasks": "~"},
        {"tasks": "allowed/" + "x" * 5000},
        {"tasks": "allowed/link.jsonl"},
        {"tasks": "a\0b"},
        {"tasks": "~/secret.jsonl"},
        {"tasks": 3},
        {"tasks": [{"id": "x"}]},
        {"server": "http://127.0.0.1:1"},
    ],
)
def test_clients_choose_nothing_dangerous(settings: dict[str, Any], restricted: Hosted) -> None:
    family = "terminal" if "backend" in settings else "chat"
    body = wire.encode(wire.Wanted(family=family, settings=settings))
    for path in ("/v1/describe", "/v1/leases"):
        status, answer = ask(restricted, "POST", path, body, MSGPACK)
        assert status == 400
        assert b"question" not in answer


@pytest.fixture
def restricted(host: Host, tmp_path: Path) -> Hosted:
    """A server with one folder of task sets that clients may name, and files beside it."""
    row = '{"question": "1 + 1?", "answer": "2", "id": "a"}\n'
    (tmp_path / "allowed").mkdir()
    (tmp_path / "x:allowed").mkdir()
    for place in ("allowed/good.jsonl", "secret.jsonl", "here", "x:allowed/good.jsonl"):
        (tmp_path / place).write_text(row)
    (tmp_path / "allowed/link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    return host("--allow-tasks", "allowed", cwd=tmp_path)


def test_the_operator_allows_folders_of_tasks(restricted: Hosted, tmp_path: Path) -> None:
    for source in ("allowed/good.jsonl", f"student:{tmp_path}/allowed/good.jsonl", "student:dev", "student:"):
        env = gym.make("claw/chat-v0", server=restricted.url, tasks=source)
        env.reset(seed=0)
        env.close()


def test_the_operator_fixes_settings(host: Host) -> None:
    server = host("chat", "--set", "max_steps=1", "--set", "chat.tasks=teacher:dev", "--allow", "simulator")
    env = gym.make("claw/chat-v0", server=server.url, simulator="scripted")
    assert env.reset(seed=0)[1]["task_id"].startswith("teacher-")
    assert env.step("## 12")[3]
    for settings in ({"max_steps": 100}, {"tasks": "student:dev"}):
        with pytest.raises(UserError, match=f"clients set {next(iter(settings))} of chat"):
            gym.make("claw/chat-v0", server=server.url, **settings)
    with pytest.raises(UserError, match="does not offer 'terminal'; it offers: chat"):
        gym.make("claw/terminal-v0", server=server.url)
    env.close()


async def listen(limit: int | None = None) -> asyncio.Server:
    """The server's protocol on a port, with nothing to answer but health."""
    app = create_app(Offer(), Leases(most=1, most_running=1, ttl=60.0), key=None)
    config = uvicorn.Config(app, limit_concurrency=limit, log_config=None)
    config.load()
    state, loop = ServerState(), asyncio.get_running_loop()
    return await loop.create_server(lambda: guard.PromptProtocol(config, state, {}), "127.0.0.1", 0)


async def said_to(listening: asyncio.Server, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
    try:
        writer.write(request)
        return await asyncio.wait_for(reader.read(), 60)
    finally:
        writer.close()


HEALTH = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def test_a_slow_head_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with await listen() as listening:
            assert b'{"status":"ok"}' in await said_to(listening, HEALTH)
            monkeypatch.setattr(guard, "PATIENCE", 0.1)
            assert await said_to(listening, b"") == b""
            assert await said_to(listening, HEALTH[:-2]) == b""

    asyncio.run(main())


def test_connections_are_bounded() -> None:
    async def main() -> None:
        async with await listen(limit=3) as listening:
            held = [await asyncio.open_connection(*listening.sockets[0].getsockname()) for _ in range(3)]
            refused = [said_to(listening, b"") for _ in range(3)]
            assert await asyncio.gather(*refused) == [b""] * 3
            reader, writer = held[0]
            assert not reader.at_eof()
            for _, each in held[1:]:
                each.close()
                await each.wait_closed()
            writer.write(HEALTH)
            assert b'{"status":"ok"}' in await asyncio.wait_for(reader.read(), 60)
            writer.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    "data",
    [b"", b"\xc1", b"\x91" * 100_000, wire.encode({"type": "step", "key": "1"}), b"x" * (wire.LARGEST_REQUEST + 1)],
)
def test_an_unreadable_message_ends_its_connection_alone(server: Hosted, data: bytes) -> None:
    async def main() -> None:
        async with aiohttp.ClientSession() as session:
            async with session.post(f"{server.url}/v1/describe", data=DESCRIBE, headers=MSGPACK) as response:
                digest = wire.read_description(await response.read()).digest
            wanted = wire.encode(wire.Wanted(family="chat", digest=digest))
            async with session.post(f"{server.url}/v1/leases", data=wanted, headers=MSGPACK) as response:
                lease = {wire.LEASE: msgspec.msgpack.decode(await response.read(), type=wire.Granted).id}
            async with session.ws_connect(f"{server.url}/v1/lease", headers=lease) as socket:
                with suppress(ConnectionError):
                    await socket.send_bytes(data)
                assert (await socket.receive(timeout=60)).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
            async with session.ws_connect(f"{server.url}/v1/lease", headers=lease) as socket:
                await socket.send_bytes(wire.encode(wire.Reset(key=1, seed=0)))
                reply = wire.read_reply((await socket.receive(timeout=60)).data)
                assert isinstance(reply, wire.Result)
            async with session.delete(f"{server.url}/v1/lease", headers=lease) as response:
                assert response.status == 204

    asyncio.run(main())
    assert server.log.read_text() == ""


def test_an_action_that_no_server_takes_aborts_the_episode(server: Hosted) -> None:
    env = gym.make("claw/chat-v0", server=server.url).unwrapped
    env.reset(seed=0)
    info = env.step("x" * (wire.LARGEST_REQUEST + 1))[4]
    assert (info["status"], "bytes in one message" in info["error"]) == ("ABORTED", True)
    env.reset(seed=0)
    env.close()

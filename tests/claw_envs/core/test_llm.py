"""The chat client against a real server that fails in scripted ways."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from claw_envs.core.errors import ContextFull, InfrastructureError, UserError
from claw_envs.core.llm import ChatClient, ChatReply

from ...judges.chat_server import DROP, HANG, Answer, ChatServer, Cut, Fault, in_turn

T = TypeVar("T")
ASKED = [{"role": "user", "content": "two plus three"}]


def served(answer: Answer, use: Callable[[ChatServer, ChatClient], Awaitable[T]], **options: Any) -> T:
    async def run() -> T:
        async with ChatServer(answer) as server:
            client = ChatClient(server.url, "small", **{"backoff": 0.001} | options)
            try:
                return await use(server, client)
            finally:
                await client.aclose()

    return asyncio.run(run())


async def ask(_: ChatServer, client: ChatClient) -> list[ChatReply]:
    return await client.complete(ASKED, temperature=0.5, max_tokens=9)


def test_the_request_and_the_reply() -> None:
    async def use(server: ChatServer, client: ChatClient) -> None:
        replies = await client.complete(ASKED, temperature=0.5, max_tokens=9, n=2, seed=7)
        assert replies == [ChatReply("five it is", "stop", 3, 6), ChatReply("five it is", "stop", 0, 0)]
        expected = {"model": "small", "messages": ASKED, "temperature": 0.5, "max_tokens": 9, "n": 2, "seed": 7}
        assert server.requests == [expected]
        assert server.authorizations == ["Bearer secret"]

    served(lambda _: "five it is", use, api_key="secret")


TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}]


def calling(*calls: Any) -> Fault:
    """An answer that calls tools."""
    choice = {"message": {"role": "assistant", "content": None, "tool_calls": calls}, "finish_reason": "tool_calls"}
    return Fault(200, text=msgspec.json.encode({"choices": [choice]}).decode())


def test_tools_are_sent_and_calls_come_back(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    given = [
        {"id": "a", "type": "function", "function": {"name": "add", "arguments": '{"x": 1'}, "index": 0},
        {"function": {"name": "add", "arguments": {"x": 1}}},
        {"id": "", "function": {"name": "now"}},
    ]
    calls = [
        {"id": "a", "type": "function", "function": {"name": "add", "arguments": '{"x": 1'}},
        {"id": "call_2", "type": "function", "function": {"name": "add", "arguments": '{"x":1}'}},
        {"id": "call_3", "type": "function", "function": {"name": "now", "arguments": "{}"}},
    ]

    async def ask_with_tools(client: ChatClient) -> list[ChatReply]:
        return await client.complete(ASKED, temperature=0.5, max_tokens=9, tools=TOOLS)

    async def use(server: ChatServer, client: ChatClient) -> None:
        assert await ask_with_tools(client) == [ChatReply("", "tool_calls", 0, 0, calls)]
        assert server.requests[0]["tools"] == TOOLS

    async def replay() -> list[ChatReply]:
        return await ask_with_tools(ChatClient("http://127.0.0.1:1/v1", "small", replay=tape))

    served(lambda _: calling(*given), use, record=tape)
    assert asyncio.run(replay())[0].tool_calls == calls


@pytest.mark.parametrize("call", [{}, {"function": {}}, {"function": {"name": "f", "arguments": 1}}, "f"])
def test_calls_that_are_none_are_asked_for_again(call: Any) -> None:
    assert served(in_turn(calling(call), "five"), ask) == [ChatReply("five", "stop", 3, 1)]


def test_recordings_without_calls_are_as_they_were(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    served(lambda _: "five", ask, record=tape)
    [entry] = [msgspec.json.decode(line) for line in tape.read_text().splitlines()]
    assert entry["answer"] == [{"text": "five", "finish_reason": "stop", "prompt_tokens": 3, "completion_tokens": 1}]
    assert "tools" not in entry["request"]


def test_a_reply_that_was_cut_says_so() -> None:
    assert served(lambda _: Cut("five"), ask)[0].finish_reason == "length"


@pytest.mark.parametrize(
    "fault",
    [
        Fault(500),
        Fault(503),
        Fault(408),
        Fault(429, {"Retry-After": "0"}),
        Fault(429, {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}),
        Fault(200, text='{"choices": ['),
        Fault(200, text='{"choices": []}'),
        Fault(200, text="<html>busy</html>"),
        DROP,
    ],
)
def test_a_passing_fault_is_retried(fault: Any) -> None:
    async def use(server: ChatServer, client: ChatClient) -> None:
        assert (await ask(server, client))[0].text == "five"
        assert len(server.requests) == 3
        assert client.retried == 2

    served(in_turn(fault, fault, "five"), use)


def test_retries_end() -> None:
    async def use(server: ChatServer, client: ChatClient) -> None:
        with pytest.raises(InfrastructureError, match=r"HTTP 500: scripted fault \(attempts: 3\)"):
            await ask(server, client)
        assert len(server.requests) == 3

    served(lambda _: Fault(500), use, retries=2)


def test_the_server_s_own_time_goes_before_the_backoff() -> None:
    """With a backoff beyond the deadline only `Retry-After: 0` lets the second attempt happen."""
    replies = served(in_turn(Fault(429, {"Retry-After": "0"}), "five"), ask, backoff=1e6, timeout=30)
    assert replies[0].text == "five"


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    with pytest.raises(InfrastructureError, match="past the deadline"):
        served(in_turn(Fault(429, {"Retry-After": "3600"})), ask)


def test_a_server_that_never_answers() -> None:
    with pytest.raises(InfrastructureError, match=r"no answer within 0\.2 s"):
        served(lambda _: HANG, ask, timeout=0.2)


def test_nobody_there() -> None:
    async def run() -> None:
        async with ChatServer(lambda _: "") as server:
            url = server.url
        client = ChatClient(url, "small", retries=1, backoff=0.001)
        with pytest.raises(InfrastructureError, match="cannot be reached"):
            await client.complete(ASKED, temperature=0, max_tokens=1)
        await client.aclose()

    asyncio.run(run())


@pytest.mark.parametrize(("status", "says"), [(401, "api_key"), (403, "api_key"), (404, "no model 'small'")])
def test_the_user_s_mistakes_are_not_retried(status: int, says: str) -> None:
    async def use(server: ChatServer, client: ChatClient) -> None:
        with pytest.raises(UserError, match=says) as caught:
            await ask(server, client)
        assert "\n" not in str(caught.value)
        assert len(server.requests) == 1

    served(lambda _: Fault(status, text="no\nsuch thing"), use)


def test_a_refusal_of_one_request_is_not_retried() -> None:
    async def use(server: ChatServer, client: ChatClient) -> None:
        with pytest.raises(InfrastructureError, match="HTTP 400: prompt too long"):
            await ask(server, client)
        assert len(server.requests) == 1

    served(lambda _: Fault(400, text="prompt too long"), use)


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        '{"error": {"message": "too many tokens", "code": "context_length_exceeded"}}',
        '{"error": {"message": "the request exceeds the available context size"}}',
        "x" * 400 + " is longer than the model's context length",
    ],
)
def test_a_full_context_is_told_from_other_refusals(said: str, tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"

    async def use(server: ChatServer, client: ChatClient) -> None:
        with pytest.raises(ContextFull, match="HTTP 400"):
            await ask(server, client)
        assert len(server.requests) == 1

    served(lambda _: Fault(400, text=said), use, record=tape)

    async def replay() -> None:
        client = ChatClient("http://127.0.0.1:1/v1", "small", replay=tape)
        with pytest.raises(ContextFull, match="HTTP 400"):
            await client.complete(ASKED, temperature=0.5, max_tokens=9)

    asyncio.run(replay())


def test_other_refusals_are_no_full_context() -> None:
    async def use(server: ChatServer, client: ChatClient) -> None:
        with pytest.raises(InfrastructureError) as caught:
            await ask(server, client)
        assert type(caught.value) is InfrastructureError

    served(lambda _: Fault(400, text="temperature must be at most 2"), use)


def test_no_more_than_the_limit_is_in_flight() -> None:
    full = asyncio.Event()

    async def answer(_: Any) -> str:
        if server_of[0].in_flight == 4:
            full.set()
        await full.wait()
        return "five"

    server_of: list[ChatServer] = []

    async def use(server: ChatServer, client: ChatClient) -> int:
        server_of.append(server)
        await asyncio.gather(*(ask(server, client) for _ in range(20)))
        assert len(server.requests) == 20
        return server.most_in_flight

    assert served(answer, use, concurrency=4) == 4


def test_a_recording_replays_without_a_server(tmp_path: Path) -> None:
    tape = tmp_path / "runs" / "tape.jsonl"

    async def use(server: ChatServer, client: ChatClient) -> list[str]:
        return [(await ask(server, client))[0].text for _ in range(2)]

    recorded = served(in_turn("five", "5"), use, record=tape, api_key="secret")

    async def replay() -> list[str]:
        client = ChatClient("http://127.0.0.1:1/v1", "small", replay=tape)
        again = [(await client.complete(ASKED, temperature=0.5, max_tokens=9))[0].text for _ in range(2)]
        with pytest.raises(UserError, match="no \\(further\\) answer"):
            await client.complete(ASKED, temperature=0.5, max_tokens=9)
        with pytest.raises(UserError, match="record again"):
            await client.complete(ASKED, temperature=0.6, max_tokens=9)
        await client.aclose()
        return again

    assert asyncio.run(replay()) == recorded == ["five", "5"]
    assert "secret" not in tape.read_text()
    assert [msgspec.json.decode(line)["request"]["messages"] for line in tape.read_text().splitlines()] == [ASKED] * 2


def test_failures_are_recorded_too(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    with pytest.raises(InfrastructureError) as first:
        served(lambda _: Fault(500), ask, retries=0, record=tape)

    async def replay() -> None:
        client = ChatClient("http://127.0.0.1:1/v1", "small", replay=tape)
        await client.complete(ASKED, temperature=0.5, max_tokens=9)

    with pytest.raises(InfrastructureError) as second:
        asyncio.run(replay())
    assert str(second.value) == str(first.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"base_url": "localhost:8000"}, "http://"),
        ({"concurrency": 0}, "concurrency"),
        ({"record": "a", "replay": "b"}, "not both"),
        ({"replay": "/nowhere/tape.jsonl"}, "No such file"),
        ({"replay": __file__}, "not a recording"),
        ({"record": "/proc/tape.jsonl"}, "cannot record"),
    ],
)
def test_impossible_arguments(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says):
        ChatClient(**{"base_url": "http://localhost:8000/v1", "model": "small"} | options)


def test_a_missing_aiohttp_is_named() -> None:
    program = """
import asyncio, sys
sys.modules["aiohttp"] = None
from claw_envs.core.llm import ChatClient
client = ChatClient("http://127.0.0.1:1/v1", "small")
asyncio.run(client.complete([], temperature=0, max_tokens=1))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.strip().splitlines()[-1].endswith('pip install "claw-envs[llm]"')

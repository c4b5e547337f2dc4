import asyncio
import socket
import ssl

import aiohttp
import pytest
import requests

from claw_envs.reason import reason


def _refused_address() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


async def _with_aiohttp(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        await session.get(url)


def test_what_libraries_wrap_around_a_refused_connection_is_left_out() -> None:
    with pytest.raises(aiohttp.ClientError) as one:
        asyncio.run(_with_aiohttp(_refused_address()))
    with pytest.raises(requests.RequestException) as other:
        requests.get(_refused_address(), timeout=10)
    assert reason(one.value) == reason(other.value) == "connection refused"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (TimeoutError(), "timed out"),
        (requests.ReadTimeout("HTTPConnectionPool(...)"), "timed out"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (ssl.SSLError(1, "certificate verify failed"), "certificate verify failed"),
        (ValueError("several\nlines"), "several lines"),
        (aiohttp.ServerDisconnectedError(), "Server disconnected"),
        (EOFError(), "EOFError"),
    ],
)
def test_other_reasons(error: Exception, said: str) -> None:
    assert reason(error) == said

"""Addresses of engines."""

import pytest

from claw_envs.core.errors import UserError
from trainers.policies.engines.addresses import EngineAddress, is_engine, read_address


def test_an_address_has_a_kind_servers_and_a_model() -> None:
    assert read_address("sglang+http://localhost:30000#models/small") == EngineAddress(
        "sglang", ("http://localhost:30000",), "models/small"
    )
    assert read_address("vllm+https://a:1, b:2/") == EngineAddress("vllm", ("https://a:1", "https://b:2"), "")


def test_what_is_an_engine_s() -> None:
    assert is_engine("sglang+http://a")
    assert not is_engine("http://a#model")
    assert not is_engine("sglang")
    assert is_engine("vllm+localhost:8000#models/small")  # a mistake, told as an engine's


@pytest.mark.parametrize(
    "name",
    [
        "sglang+http://",
        "http://a:1#m",
        "tgi+http://a",
        "vllm+localhost:8000#m",
        "vllm+ftp://a",
        "vllm+http://a:1/v1#m",
        "sglang+http://a:1,",
        "vllm+http://a:x",
        "vllm+http://a?b=c",
    ],
)
def test_a_mistake_is_one_line_that_shows_how(name: str) -> None:
    with pytest.raises(UserError, match=r"engines are written KIND\+http") as raised:
        read_address(name)
    assert "\n" not in str(raised.value)

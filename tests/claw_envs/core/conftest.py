import pytest

from .echo import EchoEnv, echo_task


@pytest.fixture
def env() -> EchoEnv:
    return EchoEnv([echo_task(f"t{i}") for i in range(5)])

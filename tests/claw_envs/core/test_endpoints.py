import pytest

from claw_envs.core.endpoints import KEY_VARIABLE, api_key, is_endpoint, split_endpoint
from claw_envs.core.errors import UserError


def test_url_and_model() -> None:
    assert split_endpoint("https://host/v1#org/model") == ("https://host/v1", "org/model")
    assert is_endpoint("http://host/v1")
    assert not is_endpoint("smollm2")


@pytest.mark.parametrize("name", ["smollm2", "http://host/v1", "http://host/v1#", "models#http://host", ""])
def test_anything_else_is_a_users_mistake(name: str) -> None:
    with pytest.raises(UserError, match="URL#MODEL"):
        split_endpoint(name)


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert api_key() is None
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    assert api_key() == "secret"

"""Environments from settings that a user wrote."""

from typing import Any

import pytest

from claw_envs import make
from claw_envs.core.errors import UserError
from claw_envs.make import make_env

from .core.echo import EchoEnv, echo_task


class Broken(EchoEnv):
    """Its constructor has a bug."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__([echo_task("a")], **kwargs)
        len(3)  # type: ignore[arg-type]


def test_settings_reach_the_constructor_and_its_base() -> None:
    env = make_env("chat", {"mix": {"correction": 1.0, "vague": 0.0, "reask": 0.0}, "max_steps": 7}, said="--set")
    env.reset(seed=0)
    assert env.task.limits.max_steps == 7


@pytest.mark.parametrize("family", ["chat", "terminal"])
def test_an_unknown_setting_is_named_with_those_there_are(family: str) -> None:
    with pytest.raises(UserError, match=rf"\[env\]: the {family} .* no colour; it takes tasks.*max_steps"):
        make_env(family, {"colour": "blue", "max_steps": 3}, said="[env]")


def test_a_bug_in_a_constructor_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "lookup", lambda dotted, *, extra: Broken)
    with pytest.raises(TypeError, match="has no len"):
        make_env("chat", {"max_steps": 3}, said="--set")

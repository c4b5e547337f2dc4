"""A user's settings, and what is said of mistakes in them."""

from typing import Literal

import msgspec
import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.settings import read_settings


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    mode: Literal["token", "row-wise"] = "token"
    size: int = 1


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    inner: Inner = msgspec.field(default_factory=Inner)
    form: Literal["a", "b"] | None = None


def test_settings_become_a_struct() -> None:
    assert read_settings({"inner": {"size": 3}}, Outer, said="file") == Outer(Inner(size=3))
    assert read_settings({"size": "3"}, Inner, said="--set", strict=False).size == 3


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"form": "c"}, "run.toml: Invalid enum value 'c' - at `$.form`; there are: a, b"),
        (
            {"inner": {"mode": "x"}},
            "run.toml: Invalid enum value 'x' - at `$.inner.mode`; there are: token, row-wise",
        ),
        ({"inner": {"size": "x"}}, "run.toml: Expected `int`, got `str` - at `$.inner.size`"),
        ({"outer": 1}, "run.toml: Object contains unknown field `outer`"),
    ],
)
def test_mistakes_are_named_with_what_may_be_chosen(given: dict[str, object], complaint: str) -> None:
    with pytest.raises(UserError) as raised:
        read_settings(given, Outer, said="run.toml")
    assert str(raised.value) == complaint

import pytest

from claw_envs.core.errors import UserError
from claw_envs.lookup import lookup, trainer


def test_what_is_there_is_found() -> None:
    assert lookup("claw_envs.core.errors:UserError", extra="train") is UserError


def test_a_missing_package_names_the_extra() -> None:
    with pytest.raises(UserError, match=r'pip install "claw-envs\[gui\]"'):
        lookup("no_such_package:thing", extra="gui")


def test_a_missing_module_of_ours_is_a_bug() -> None:
    with pytest.raises(ModuleNotFoundError):
        lookup("trainers.no_such_module:thing", extra="train")


def test_a_missing_name_is_named() -> None:
    with pytest.raises(UserError, match="no_such_name"):
        lookup("claw_envs:no_such_name", extra="train")


def test_the_bundled_trainer_is_an_entry_point() -> None:
    assert trainer("async") == "trainers.async_trainer:train"
    assert trainer("my.module:train") == "my.module:train"
    with pytest.raises(UserError, match="installed: async"):
        trainer("other")

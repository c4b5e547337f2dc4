import re
import tomllib
from pathlib import Path

import pytest

import claw_envs
from claw_envs.core.errors import UserError
from claw_envs.lookup import lookup, trainer


def test_what_is_there_is_found() -> None:
    assert lookup("claw_envs.core.errors:UserError", extra="train") is UserError


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which modules are imported."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_missing_package_names_the_extra(on_path: Path) -> None:
    (on_path / "needing_trainer.py").write_text("import no_such_package")
    with pytest.raises(UserError, match=r'needs no_such_package: pip install "claw-envs\[train\]"'):
        lookup("needing_trainer:train", extra="train")


@pytest.mark.parametrize(
    ("dotted", "missing"),
    [
        ("no_such_package:thing", "no_such_package"),
        ("no_such_package.module:thing", "no_such_package"),
        ("trainers.nope:x", "trainers.nope"),
        ("evals.personal.evalute:evaluate", "evals.personal.evalute"),
        ("claw_envs.lookup.deeper:x", "claw_envs.lookup.deeper"),
    ],
)
def test_a_typo_is_named_and_no_extra_is_suggested(dotted: str, missing: str) -> None:
    with pytest.raises(UserError, match=f"{re.escape(dotted)}: there is no module {missing}$"):
        lookup(dotted, extra="train")


@pytest.mark.parametrize("dotted", ["", "claw_envs", "claw_envs:", ":name", ".errors:UserError", "a..b:c", "a:b:c"])
def test_what_is_not_written_as_a_name_is_refused(dotted: str) -> None:
    with pytest.raises(UserError, match="write module:name"):
        lookup(dotted, extra="train")


def test_bugs_of_ours_propagate(on_path: Path) -> None:
    (on_path / "importing_ours.py").write_text("import trainers.no_such_module")
    with pytest.raises(ModuleNotFoundError):
        lookup("importing_ours:train", extra="train")
    (on_path / "buggy.py").write_text("().nothing")
    with pytest.raises(AttributeError):
        lookup("buggy:train", extra="train")


def test_every_extra_that_is_suggested_exists() -> None:
    root = Path(claw_envs.__file__).parents[1]
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for package in ("claw_envs", "judges", "trainers", "evals"):
        for path in (root / package).rglob("*.py"):
            suggested = re.findall(r'claw-envs\[(\w+)\]|extra="(\w+)"', path.read_text())
            assert {a or b for a, b in suggested} <= extras.keys(), path


def test_a_missing_name_is_named() -> None:
    with pytest.raises(UserError, match="no_such_name"):
        lookup("claw_envs:no_such_name", extra="train")


def test_the_bundled_trainer_is_an_entry_point() -> None:
    assert trainer("async") == "trainers.async_trainer:train"
    assert trainer("my.module:train") == "my.module:train"
    with pytest.raises(UserError, match="installed: async"):
        trainer("other")

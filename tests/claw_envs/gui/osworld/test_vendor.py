"""OSWorld's own package in a Python of its own: a stand-in with its layout, and the real one where there is one.

`CLAW_TEST_DESKTOP_ENV` names a Python with `desktop_env` (installed with `--no-deps` is enough), openpyxl and pandas.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.gui.osworld.format import Check
from claw_envs.gui.osworld.place import Place
from claw_envs.gui.osworld.vendor import Vendor

REAL = os.environ.get("CLAW_TEST_DESKTOP_ENV")
METRICS = """
import os, subprocess, sys, time
import not_installed_anywhere
from not_installed_either.deep import Thing, other

print("noise on import")

class Special(Thing):
    pass

def same(result, expected, **options):
    print("noise", flush=True)
    subprocess.run(["echo", "noise of a child"])
    os.write(1, b"noise past Python")
    return result == expected and options.get("really", True)

def needs_what_is_missing(result):
    return other(result)

def lengthens(result):
    with open(result) as file:
        return len(file.read()) / 10

def fails(result):
    raise KeyError("no such sheet")

def is_text(result):
    return "yes"

def sleeps(result):
    time.sleep(1000)

def environment(result):
    return len([name for name in os.environ if "SECRET" in name])
"""
GETTERS = """
def get_where(env, config):
    machine = {"ip": env.vm_ip, "port": env.server_port, "dir": env.cache_dir, "size": [env.screen_width]}
    return machine | {"config": config}
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python with a package of the same layout."""
    folder = tmp_path_factory.mktemp("vendor")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    for name, text in (("", ""), ("evaluators", ""), ("evaluators/metrics", METRICS), ("evaluators/getters", GETTERS)):
        (site / "desktop_env" / name).mkdir(exist_ok=True)
        (site / "desktop_env" / name / "__init__.py").write_text(text)
    return str(folder / "venv/bin/python")


@pytest.fixture
def place(make_task: Callable[..., Task], tmp_path: Path) -> Place:
    machine = cast(Any, SimpleNamespace(size=(800, 600)))
    return Place(machine, make_task(), tmp_path, address="http://10.0.0.5:5000")


def score(python: str, place: Place, metric: str, *, timeout: float = 60.0, **check: Any) -> float:
    values = check.pop("values", {"result": "x"})
    return asyncio.run(Vendor(python, timeout=timeout).score(Check(metric, **check), values, place))


def test_a_verdict_is_not_confused_with_what_is_printed(python: str, place: Place) -> None:
    assert score(python, place, "same", values={"result": {"a": [1]}, "expected": {"a": [1]}}) == 1.0
    assert score(python, place, "same", values={"result": 1, "expected": 2}) == 0.0
    assert score(python, place, "same", values={"result": 1, "expected": 1}, options={"really": False}) == 0.0


def test_files_are_handed_over_by_path(python: str, place: Place) -> None:
    assert score(python, place, "lengthens", values={"result": place.keep("f", b"12345")}) == 0.5


def test_its_getters_are_asked_for_what_ours_cannot_find(python: str, place: Place) -> None:
    found = asyncio.run(Vendor(python).get({"type": "where", "more": 1}, place))
    assert found == {
        "ip": "10.0.0.5", "port": 5000, "dir": str(place.folder), "size": [800], "config": {"type": "where", "more": 1}
    }  # fmt: skip
    theirs = {"type": "where"}
    assert score(python, place, "same", result=theirs, values={"expected": found}) == 0.0
    with pytest.raises(UserError, match="needs an OSWorld machine"):
        score(python, place._replace(address=None), "same", result=theirs, values={"expected": 1})


@pytest.mark.parametrize(
    ("metric", "error", "said"),
    [
        ("no_such_metric", UserError, "lacks desktop_env.evaluators.metrics.no_such_metric"),
        ("needs_what_is_missing", UserError, "lacks not_installed_either.deep"),
        ("check_python_file_by_test_suite", UserError, "would run the agent's code"),
        ("fails", InfrastructureError, "no such sheet"),
        ("is_text", InfrastructureError, "fails"),
    ],
)
def test_no_verdict(metric: str, error: type[Exception], said: str, python: str, place: Place) -> None:
    with pytest.raises(error, match=said):
        score(python, place, metric)


def test_a_time_limit(python: str, place: Place) -> None:
    with pytest.raises(InfrastructureError, match=r"took over 1\.5 s"):
        score(python, place, "sleeps", timeout=1.5)


def test_nothing_of_our_environment(python: str, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "x")
    assert score(python, place, "environment") == 0.0


def test_a_python_without_the_package_is_said(place: Place, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="lacks desktop_env"):
        score(sys.executable, place, "same")
    with pytest.raises(UserError, match="no such program"):
        Vendor(str(tmp_path / "python"))


@pytest.mark.skipif(REAL is None, reason="CLAW_TEST_DESKTOP_ENV names no Python")
def test_the_real_package(place: Place) -> None:
    assert REAL is not None
    make = (
        "import openpyxl, sys\nbook = openpyxl.Workbook()\nbook.active['A1'] = int(sys.argv[2])\nbook.save(sys.argv[1])"
    )
    one, other = (str(place.folder / f"{number}.xlsx") for number in (3, 4))
    for path in (one, other):
        subprocess.run([REAL, "-c", make, path, Path(path).stem], check=True)
    options = {"rules": [{"type": "sheet_data", "sheet_idx0": 0, "sheet_idx1": "EI0"}]}
    assert score(REAL, place, "compare_table", values={"result": one, "expected": one}, options=options) == 1.0
    assert score(REAL, place, "compare_table", values={"result": one, "expected": other}, options=options) == 0.0

"""Opening a file whose program was just ending."""

import json
import sys
from importlib import import_module
from types import SimpleNamespace

import pytest


def test_a_request_that_a_program_took_with_it_as_it_ended_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    package = "claw_envs.gui.desktop.inside"
    # what the machine is made of is Debian's own Python's
    monkeypatch.setitem(sys.modules, f"{package}.machine", SimpleNamespace(Machine=object, MachineError=RuntimeError))
    monkeypatch.delitem(sys.modules, f"{package}.osworld.things", raising=False)
    things, answers = import_module(f"{package}.osworld.things"), import_module(f"{package}.osworld.answers")
    monkeypatch.setattr(things, "_LOST_AFTER", 0.0)
    monkeypatch.setattr(things, "_PAUSE", 0.0)
    opened: list[str] = []
    activated: list[int] = []
    windows = SimpleNamespace(find=lambda name: 7 if len(opened) == 2 else None, activate=activated.append)
    desk = SimpleNamespace(machine=SimpleNamespace(open_path=opened.append, windows=windows))
    request = answers.Request("application/json", json.dumps({"path": "~/note.txt"}).encode())
    answer = things.ROUTES["POST", "/setup/open_file"](desk, request)
    assert (answer.status, opened, activated) == (200, ["~/note.txt"] * 2, [7])
    monkeypatch.delitem(sys.modules, f"{package}.osworld.things")

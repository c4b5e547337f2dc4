"""Runs one evaluator of `desktop_env` for `vendor`, in the user's Python, where nothing of this project is installed.

A request on stdin, the answer on what was stdout at the start: `{"value"}`, `{"lacks"}` or `{"error"}`. Modules that
the package imports for other evaluators may be missing: an error comes only where a missing one is used.
"""

import importlib
import importlib.abc
import importlib.machinery
import json
import os
import sys
import types
from collections.abc import Sequence
from typing import Any

_PACKAGE = "desktop_env"


class _Missing(type):
    """A name out of a module that is not installed; to call it raises ModuleNotFoundError."""

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        raise ModuleNotFoundError(f"No module named {cls.__module__!r}", name=cls.__module__)

    def __getattr__(cls, name: str) -> Any:
        return _missing(cls.__module__, name)


def _missing(module: str, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Missing(name, (), {"__module__": module})


class _Stub(types.ModuleType):
    """A module that is not installed."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return _missing(self.__name__, name)


class _Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Asked last, for what nobody else finds: a stub, where the package itself imports it, and not another's."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        of_stub = isinstance(sys.modules.get(name.rpartition(".")[0]), _Stub)
        if name.startswith(_PACKAGE) or not (of_stub or _importer().startswith(_PACKAGE)):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Stub(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """A stub has nothing to run."""


def _importer() -> str:
    """Name of the module that has the import statement which is being carried out."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_code.co_filename == __file__ or "importlib" in frame.f_code.co_filename
    ):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


class _Env:
    """What the package's getters ask of its environment."""

    def __init__(self, machine: dict[str, Any]) -> None:
        self.vm_ip, self.server_port = machine["ip"], machine["port"]
        self.chromium_port, self.vlc_port = machine["browser_port"] or 9222, 8080
        self.cache_dir, self.client_password = machine["cache_dir"], machine["password"]
        self.screen_width, self.screen_height = machine["width"], machine["height"]
        self.current_use_proxy = self.enable_proxy = False

    @property
    def controller(self) -> Any:
        module = importlib.import_module("desktop_env.controllers.python")
        return module.PythonController(self.vm_ip, self.server_port)

    @property
    def setup_controller(self) -> Any:
        module = importlib.import_module("desktop_env.controllers.setup")
        return module.SetupController(self.vm_ip, self.server_port, cache_dir=self.cache_dir)

    @property
    def vm_platform(self) -> Any:
        return self.controller.get_vm_platform()

    @property
    def vm_screen_size(self) -> Any:
        return self.controller.get_vm_screen_size()

    @property
    def vm_machine(self) -> Any:
        return self.controller.execute_python_command("import platform; print(platform.machine())")["output"].strip()


def _named(module: str, name: str) -> Any:
    """A getter or a metric of the package's."""
    evaluators = importlib.import_module(module)
    if not hasattr(evaluators, name):
        raise ModuleNotFoundError(name=f"{module}.{name}")
    return getattr(evaluators, name)


def _value(request: dict[str, Any]) -> Any:
    values = dict(request["values"])
    for name, config in request["getters"].items():
        getter = _named("desktop_env.evaluators.getters", "get_" + config["type"])
        values[name] = getter(_Env(request["machine"]), config)
    if request["metric"] is None:
        return values["result"]
    metric = _named("desktop_env.evaluators.metrics", request["metric"])
    arguments = [values[name] for name in ("result", "expected") if name in values]
    return float(metric(*arguments, **request["options"]))


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"value": _value(request)}
    except ModuleNotFoundError as error:
        return {"lacks": error.name}
    except Exception as error:
        return {"error": repr(error)}


def _main() -> None:
    verdict = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever prints, prints elsewhere
    sys.meta_path.append(_Stubs())
    answer = json.dumps(_answer(json.load(sys.stdin)))
    verdict.write(answer)
    verdict.close()


_main()

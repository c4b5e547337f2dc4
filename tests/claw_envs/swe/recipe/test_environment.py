import asyncio
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.sandbox.base import Sandbox
from claw_envs.swe.recipe.environment import ENV, environment_layer
from claw_envs.swe.recipe.interpreter import SYSTEM, find_interpreter, interpreter_layers

Runner = Callable[..., Any]


async def _layers(python: str, *packages: str) -> tuple[str, ...]:
    found = await find_interpreter(python)
    below = await interpreter_layers(found)
    return (*below, await environment_layer(found, packages, below))


def _say(script: str) -> Callable[[Sandbox], Any]:
    async def body(sandbox: Sandbox) -> tuple[int | None, list[str]]:
        result = await sandbox.exec(["/bin/bash", "-c", script], timeout=60)
        return result.exit_code, result.output.splitlines()

    return body


def test_the_hosts_own_python_needs_no_layer() -> None:
    found = asyncio.run(find_interpreter("system"))
    assert found.path == str(Path(SYSTEM).resolve())
    assert asyncio.run(interpreter_layers(found)) == ()


def test_a_version_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    short = "{}.{}".format(*sys.version_info)
    assert asyncio.run(find_interpreter(short)).short == short
    assert asyncio.run(find_interpreter(platform.python_version())).version.startswith(platform.python_version())
    with pytest.raises(UserError, match=r"no Python 3\.0 on this machine: install it"):
        asyncio.run(find_interpreter("3.0"))
    with pytest.raises(UserError, match="no Python"):
        asyncio.run(find_interpreter(str(tmp_path / "python")))


def test_a_shim_without_the_version_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "python{}.{}".format(*sys.version_info)
    (tmp_path / "shims").mkdir()
    (tmp_path / "shims" / name).write_text("#!/bin/sh\necho the version is not set >&2\nexit 127\n")
    (tmp_path / "shims" / name).chmod(0o755)
    managed = tmp_path / f".pyenv/versions/{platform.python_version()}/bin"
    managed.mkdir(parents=True)
    (managed / name).symlink_to(sys.executable)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}/shims:/usr/bin:/bin")
    assert asyncio.run(find_interpreter(platform.python_version())).version == sys.version


def test_pins_are_there_without_activation(in_sandbox: Runner) -> None:
    layers = asyncio.run(_layers("system", "greet==1.0"))
    code, said = in_sandbox(_say("python -c 'import greet'; which python pip"), layers=layers, env=ENV)
    assert (code, said) == (0, ["hello", f"{ENV['VIRTUAL_ENV']}/bin/python", f"{ENV['VIRTUAL_ENV']}/bin/pip"])


def test_scripts_for_images_with_conda_run_unmodified(in_sandbox: Runner) -> None:
    script = """set -uxo pipefail
    source /opt/miniconda3/bin/activate
    conda activate testbed
    source /opt/miniconda3/bin/activate
    conda activate testbed
    set +x
    python -c 'import greet'
    echo $PATH $CONDA_DEFAULT_ENV
    conda install flask
    """
    layers = asyncio.run(_layers("system", "greet==1.0"))
    code, said = in_sandbox(_say(script), layers=layers)
    assert "hello" in said
    assert any(line.startswith(f"{ENV['VIRTUAL_ENV']}/bin:/usr/") and line.endswith(" testbed") for line in said)
    assert (code, said[-1]) == (1, "conda: there is none here, only 'conda activate testbed'")


def test_pip_inside_looks_at_no_index(in_sandbox: Runner) -> None:
    layers = asyncio.run(_layers("system", "greet==1.0"))
    code, said = in_sandbox(_say("python -m pip install flask"), layers=layers, env=ENV)
    assert code == 1
    assert "No matching distribution found for flask" in said[-1]


def test_an_interpreter_that_sandboxes_do_not_see_is_copied(in_sandbox: Runner) -> None:
    if Path(sys.base_prefix).is_relative_to("/usr"):
        pytest.skip("sandboxes see this Python as it is")
    layers = asyncio.run(_layers(sys.executable, "greet==1.0"))
    assert len(layers) == 2
    script = "python -c 'import greet, sys, ssl, sqlite3; print(sys.version)'; python -m pip list --format=freeze"
    code, said = in_sandbox(_say(script), layers=layers, env=ENV)
    assert code == 0
    assert said[0] == "hello"
    assert sys.version.splitlines()[0] in said[1]
    assert {line.partition("==")[0] for line in said if "==" in line} == {"greet", "pip"}


def test_the_same_pins_are_one_layer() -> None:
    async def main() -> set[tuple[str, ...]]:
        return set(await asyncio.gather(*(_layers("system", "greet==1.0") for _ in range(3))))

    assert len(asyncio.run(main())) == 1


def test_a_package_that_is_not_to_be_had() -> None:
    with pytest.raises(UserError, match=r"cannot be had for Python 3\.\d+: ERROR: .*no-such-package"):
        asyncio.run(_layers("system", "no-such-package==1"))

"""The environment layer: a virtual environment at the place where SWE-bench's images have theirs, with a recipe's pins.

Wheels are fetched, and built where there are none, on the host, by the recipe's pip with the user's settings; they are
installed in a sandbox without network. Official evaluation scripts `source /opt/miniconda3/bin/activate` and
`conda activate testbed`, which works here without conda. Nothing can be fetched inside: pip there looks at no index,
and builds a package with what the environment holds.
"""

import asyncio
import re
import shutil
import sys
import tempfile
from pathlib import Path

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.namespace.backend import NamespaceSandbox
from claw_envs.sandbox.namespace.host import TOOL_PATH
from claw_envs.swe.recipe.build import build
from claw_envs.swe.recipe.interpreter import Interpreter
from claw_envs.swe.recipe.layers import key_of, layer
from claw_envs.swe.recipe.process import last_words, run

CONDA = "/opt/miniconda3"
ENVIRONMENT = f"{CONDA}/envs/testbed"
ENV = {
    "PATH": f"{ENVIRONMENT}/bin:{CONDA}/bin:{TOOL_PATH}",
    "VIRTUAL_ENV": ENVIRONMENT,
    "CONDA_DEFAULT_ENV": "testbed",
    "CONDA_PREFIX": ENVIRONMENT,
}
"""What the agent's shell has from the start, as after `conda activate testbed`."""
_FETCH_TIMEOUT, _INSTALL_TIMEOUT = 3600.0, 1800.0
_WHEELS = "/build/wheels"
_TOOL = re.compile(r"(pip|setuptools|wheel)\s*([=<>!~@;\[].*)?")
_PIP_CONF = """[global]
no-index = true
no-build-isolation = false
disable-pip-version-check = true
no-warn-script-location = false
"""
# pip reads the value of an option `--no-…` as that of the option without `no`
_ACTIVATE = f"""# `conda activate testbed` for scripts that were written for an image with conda
conda() {{
    case "${{1-}} ${{2-}}" in
        "activate testbed") ;;
        "activate "*|"deactivate "*) return 0 ;;
        *) echo "conda: there is none here, only 'conda activate testbed'" >&2; return 1 ;;
    esac
    case ":$PATH:" in :{ENVIRONMENT}/bin:*) ;; *) PATH="{ENVIRONMENT}/bin:$PATH" ;; esac
    export PATH VIRTUAL_ENV={ENVIRONMENT} CONDA_DEFAULT_ENV=testbed CONDA_PREFIX={ENVIRONMENT}
}}
"""
_SCRIPT = f"""set -e
mkdir -p {CONDA}/bin
"$1" -m venv --without-pip {ENVIRONMENT}
cd {ENVIRONMENT}
PYTHONPATH=$(echo {_WHEELS}/pip-*.whl) bin/python -m pip --isolated install \
    --no-index --no-deps --no-cache-dir --disable-pip-version-check --no-warn-script-location {_WHEELS}/*.whl
cat > pip.conf <<'EOF'
{_PIP_CONF}EOF
cat > {CONDA}/bin/activate <<'EOF'
{_ACTIVATE}EOF
"""


async def environment_layer(python: Interpreter, packages: tuple[str, ...], below: tuple[str, ...]) -> str:
    """The layer with `packages`.

    Args:
        below: layers that it lies on, the interpreter's.

    Raises:
        UserError: if a package cannot be had.
        InfrastructureError: if the sandbox fails.
    """
    key = key_of("environment", python, packages, _SCRIPT)

    async def make(place: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="claw-envs-wheels-") as wheels:
            await _fetch(python, packages, Path(wheels))
            spec = SandboxSpec(layers=below, files={_WHEELS: wheels}, workdir="/")
            async with build(spec) as sandbox:
                await _install(sandbox, python)
                await sandbox.keep(place)

    return str(await layer(key, make))


async def _fetch(python: Interpreter, packages: tuple[str, ...], wheels: Path) -> None:
    """Wheels of the packages and of what they need, by the tools that the environment will have.

    The interpreter's own are too old to know today's wheels, or too new for old packages.
    """
    tools = [package for package in packages if _TOOL.fullmatch(package)]
    if not any(tool.startswith("pip") for tool in tools):
        tools.append("pip")
    await _run_pip(python, [*await _pip_of(python), "download", "--no-deps", "--dest", str(wheels), *tools])
    with tempfile.TemporaryDirectory(prefix="claw-envs-pip-") as unpacked:
        await asyncio.to_thread(_unpack, wheels, unpacked)
        fetch = [python.path, "-m", "pip", "wheel", "--wheel-dir", str(wheels), *tools, *packages]
        await _run_pip(python, fetch, env={"PYTHONPATH": unpacked})


def _unpack(wheels: Path, target: str) -> None:
    for wheel in wheels.glob("*.whl"):
        shutil.unpack_archive(wheel, target, "zip")


async def _run_pip(python: Interpreter, command: list[str], env: dict[str, str] | None = None) -> None:
    code, said = await run(command, timeout=_FETCH_TIMEOUT, env=env)
    if code != 0:
        raise UserError(f"the recipe's packages cannot be had for Python {python.short}: {last_words(code, said)}")


async def _pip_of(python: Interpreter) -> list[str]:
    """The interpreter's own pip, else ours for that interpreter."""
    code, _ = await run([python.path, "-m", "pip", "--version"], timeout=60.0)
    return [python.path, "-m", "pip"] if code == 0 else [sys.executable, "-m", "pip", "--python", python.path]


async def _install(sandbox: NamespaceSandbox, python: Interpreter) -> None:
    result = await sandbox.exec(["/bin/bash", "-c", _SCRIPT, "bash", python.path], timeout=_INSTALL_TIMEOUT)
    if result.exit_code != 0:
        raise UserError(f"the recipe's packages cannot be installed: {last_words(result.exit_code, result.output)}")

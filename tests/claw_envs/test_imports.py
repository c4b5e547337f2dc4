"""What importing must not cost: the light parts never pull in the heavy ones."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import claw_envs

ROOT = Path(claw_envs.__file__).parent.parent
HEAVY = {
    "aiohttp",
    "datasets",
    "docker",
    "fastapi",
    "matplotlib",
    "pandas",
    "playwright",
    "ray",
    "rich",
    "scipy",
    "swebench",
    "tensorboard",
    "torch",
    "transformers",
}
ORDER = ["claw_envs", "judges", "trainers", "evals"]
"""Imports run one way: each package may import those before it."""


def modules_after(code: str) -> set[str]:
    """Top-level names in `sys.modules` of a fresh interpreter after `code`."""
    code += "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        "import claw_envs",
        "import gymnasium, claw_envs; gymnasium.spec('claw/terminal-v0')",
        "import claw_envs.cli",
        "import judges.base, trainers.policies.base",
    ],
)
def test_light_imports_stay_light(code: str) -> None:
    assert not modules_after(code) & HEAVY


@pytest.mark.parametrize("arguments", ["--help", "train --help", "tasks --help", "envs"])
def test_help_loads_nothing_heavy(arguments: str) -> None:
    code = f"""
import sys
from claw_envs.cli import main
sys.argv = ["claw", *{arguments.split()!r}]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""
    assert not modules_after(code) & (HEAVY | {"judges", "trainers", "evals"})


@pytest.mark.parametrize("package", ORDER)
def test_packages_import_only_what_comes_before(package: str) -> None:
    later = set(ORDER[ORDER.index(package) + 1 :])
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            wrong = {name for name in names if name.partition(".")[0] in later}
            assert not wrong, f"{path.relative_to(ROOT)} imports {wrong}"


def test_the_public_names_exist() -> None:
    assert all(hasattr(claw_envs, name) for name in claw_envs.__all__)

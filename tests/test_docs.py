"""The documentation's code runs, its links lead somewhere, and the examples work."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
README_BLOCKS = re.findall(r"(?ms)^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"))


def run(*arguments: str) -> str:
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("number", range(len(README_BLOCKS)))
def test_the_readmes_code_runs(number: int) -> None:
    assert run("-c", README_BLOCKS[number]).strip()


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_the_examples_run(example: Path) -> None:
    assert run(str(example)).strip()


def test_the_judged_example_shows_the_difference() -> None:
    rewards = re.findall(r"judge: +([+-]\d)", run("examples/judged_chat.py"))
    assert rewards == ["-1", "+1"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"

"""The code in the documentation of tools runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")

ROOT = Path(__file__).parents[4]
BLOCKS = re.findall(r"(?ms)^```python\n(.*?)^```$", (ROOT / "docs" / "tools.md").read_text(encoding="utf-8"))
SERVER = next(block for block in BLOCKS if block.startswith("# bakery.py"))


@pytest.mark.parametrize("block", [block for block in BLOCKS if block != SERVER])
def test_the_pages_code_runs(block: str, tmp_path: Path) -> None:
    (tmp_path / "bakery.py").write_text(SERVER, encoding="utf-8")
    command = [sys.executable, "-W", "error", "-c", block]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    shown = re.findall(r"# (\[ok\], [\d.]+|\[not run\]|\[\"jam\"\])", block)
    for text in shown:
        assert text.replace("], ", "]\n") in done.stdout

from pathlib import Path

import pytest

from claw_envs import doctor


def test_what_is_missing_comes_with_its_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAW_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.delenv("CLAW_CHROMIUM", raising=False)
    monkeypatch.delenv("CLAW_BFCL_PYTHON", raising=False)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/engine.sock")
    report = doctor.report()
    assert "no   chromium      no chromium: `apt install chromium`" in report
    assert "no   Xvfb          apt-get install xvfb" in report
    assert f"no   docker        DOCKER_HOST=unix://{tmp_path}/engine.sock: no container engine answers there" in report
    assert "no   bfcl-eval     python -m claw_envs.toolcall.bfcl install" in report
    assert f"no   converted     happens once, at first use, in {tmp_path / 'models'}" in report


def test_the_python_of_ones_own_for_bfcl_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAW_BFCL_PYTHON", "/opt/bfcl/bin/python")
    assert "yes  bfcl-eval     /opt/bfcl/bin/python\n" in doctor.report()


def test_a_converted_model_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models" / "tiny").mkdir(parents=True)
    (tmp_path / "models" / "tiny" / "config.json").write_text("{}")
    (tmp_path / "models" / "half-done").mkdir()
    monkeypatch.setenv("CLAW_CACHE", str(tmp_path))
    assert "yes  converted     tiny\n" in doctor.report()

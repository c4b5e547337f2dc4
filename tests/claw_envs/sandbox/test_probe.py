import pytest

from claw_envs.sandbox.namespace import host
from claw_envs.sandbox.probe import probe


def test_every_backend_is_named() -> None:
    found = probe()
    assert [backend.backend for backend in found] == ["namespace", "docker", "local"]
    assert all(backend.detail and "\n" not in backend.detail for backend in found)


def test_a_backend_that_does_not_work_says_how_to_fix_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "TOOL_PATH", "/nonexistent")
    host.tools.cache_clear()
    try:
        namespace = probe()[0]
    finally:
        host.tools.cache_clear()
    assert not namespace.usable
    assert "apt-get install" in namespace.detail

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.base import Sandbox


def _with_local(body: Callable[[Sandbox], Awaitable[Any]], **spec: Any) -> Any:
    async def main() -> Any:
        with pytest.warns(UserWarning, match="isolates nothing"):
            sandbox = make_sandbox(SandboxSpec(**spec), backend="local")
        await sandbox.start()
        try:
            return await body(sandbox)
        finally:
            await sandbox.close()

    return asyncio.run(main())


def test_commands_shell_and_files(tmp_path: Path) -> None:
    (tmp_path / "given").write_text("given")

    async def body(sandbox: Sandbox) -> list[Any]:
        shell = await sandbox.shell()
        await sandbox.put("/app/put", b"put", mode=0o600)
        await shell.run("x=1; mkdir -p d; cd d", timeout=30)
        return [
            (await shell.run("echo $x; cat ../given ../made ../put", timeout=30)).output,
            (await sandbox.exec(["sh", "-c", "cat; exit 3"], timeout=30, stdin=b"in")).exit_code,
            await sandbox.get("made"),
        ]

    spec = {"files": {"/app/given": str(tmp_path / "given")}, "setup": ("echo made > made",)}
    assert _with_local(body, **spec) == ["1\ngivenmade\nput", 3, b"made\n"]


def test_reset_stops_the_shells_and_restores_the_files() -> None:
    async def body(sandbox: Sandbox) -> bytes:
        shell = await sandbox.shell()
        await shell.run("echo changed > f; touch g", timeout=30)
        await sandbox.reset()
        with pytest.raises(InfrastructureError):
            await shell.run("true", timeout=30)
        with pytest.raises(FileNotFoundError):
            await sandbox.get("g")
        return await sandbox.get("f")

    assert _with_local(body, setup=("echo seed > f",)) == b"seed\n"


def test_paths_do_not_lead_out(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("host")

    async def body(sandbox: Sandbox) -> None:
        await sandbox.exec(["ln", "-s", str(tmp_path), "out"], timeout=30)
        for path in ("out/f", f"../../../../../..{tmp_path}/f", str(tmp_path / "f")):
            with pytest.raises(OSError):  # noqa: PT011  missing or refused, as the path goes
                await sandbox.get(path)
        for path in ("out/f", f"../../../../../..{tmp_path}/f"):
            with pytest.raises(OSError, match="leads out"):
                await sandbox.put(path, b"evil")

    _with_local(body)
    assert (tmp_path / "f").read_text() == "host"


def test_what_it_cannot_do_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match="namespace"):
        make_sandbox(SandboxSpec(rootfs="/x"), backend="local")


def test_a_closed_one_is_an_infrastructure_error() -> None:
    async def body(sandbox: Sandbox) -> None:
        await sandbox.close()
        with pytest.raises(InfrastructureError):
            await sandbox.exec(["true"], timeout=30)

    _with_local(body)


def test_without_a_working_directory_commands_start_at_the_top() -> None:
    async def body(sandbox: Sandbox) -> None:
        assert sandbox.workdir == "/"
        await sandbox.put("made", b"made")
        await sandbox.put("/deep/too", b"too")
        assert (await sandbox.exec(["sh", "-c", "cat made deep/too"], timeout=30)).output == "madetoo"

    _with_local(body, workdir="")


@pytest.mark.parametrize("spec", [{"setup": ("exit 3",)}, {"files": {"/x": "/no/such/file"}}])
def test_a_start_that_fails_leaves_nothing(
    spec: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def body(sandbox: Sandbox) -> None: ...

    with pytest.raises((InfrastructureError, UserError)):
        _with_local(body, **spec)
    assert list(tmp_path.iterdir()) == []


def test_no_verifier_runs_on_the_host(tmp_path: Path) -> None:
    async def body(sandbox: Sandbox) -> None:
        with pytest.raises(UserError, match="cannot verify"):
            await sandbox.exec(["/bin/touch", str(tmp_path / "made")], timeout=30, user="verifier")

    _with_local(body)
    assert not list(tmp_path.iterdir())

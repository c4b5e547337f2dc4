import asyncio
import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.swe.recipe.assign import record, recorded
from claw_envs.swe.recipe.layers import key_of, layer

_MAKE = """
import asyncio, sys
from pathlib import Path
from claw_envs.swe.recipe.layers import layer

async def make(place: Path) -> None:
    place.mkdir()
    print("making", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    (place / "whole").touch()

print(asyncio.run(layer("some-key", make)).name, flush=True)
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAW_CACHE", str(tmp_path))
    return tmp_path / "recipes"


def _fill(place: Path) -> None:
    place.mkdir()
    (place / "whole").touch()


async def _write(place: Path) -> None:
    await asyncio.to_thread(_fill, place)


async def _never(place: Path) -> None:
    raise AssertionError(place)


def _other() -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", _MAKE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_layer_is_known_by_all_that_it_is_made_from() -> None:
    assert key_of("kind", "a", ("b",)) == key_of("kind", "a", ("b",))
    assert len({key_of("kind", "a", ("b",)), key_of("kind", "a", ("b", "")), key_of("kind", "ab", ())}) == 3


def test_a_layer_is_made_once(own_cache: Path) -> None:
    place = asyncio.run(layer("key", _write))
    assert place == own_cache / "key"
    assert asyncio.run(layer("key", _never)) == place
    assert own_cache.stat().st_mode & 0o077 == 0


def test_many_at_once_make_it_once() -> None:
    made = []

    async def make(place: Path) -> None:
        made.append(place)
        await asyncio.sleep(0)
        await _write(place)

    async def main() -> set[Path]:
        return set(await asyncio.gather(*(layer("key", make) for _ in range(40))))

    assert len(asyncio.run(main())) == len(made) == 1


def test_another_process_is_waited_for() -> None:
    async def main(other: subprocess.Popen[str]) -> Path:
        waiting = asyncio.ensure_future(layer("some-key", _never))
        await asyncio.sleep(0)
        other.communicate("go on\n")
        return await asyncio.wait_for(waiting, 30)

    with _other() as other:
        assert _line(other) == "making"
        place = asyncio.run(main(other))
    assert (place / "whole").exists()


def test_who_gives_up_waiting_holds_nobody_up() -> None:
    async def give_up() -> None:
        waiting = asyncio.ensure_future(layer("some-key", _never))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    with _other() as other:
        assert _line(other) == "making"
        asyncio.run(give_up())
        assert other.communicate("go on\n")[0] == "some-key\n"
    assert asyncio.run(layer("another-key", _write)).name == "another-key"


def test_what_was_killed_in_the_middle_does_not_count(own_cache: Path) -> None:
    with _other() as other:
        assert _line(other) == "making"
        os.kill(other.pid, signal.SIGKILL)
    assert asyncio.run(layer("some-key", _write)) == own_cache / "some-key"
    assert sorted(path.name for path in own_cache.iterdir()) == ["some-key", "some-key.lock"]


def test_what_fails_leaves_nothing(own_cache: Path) -> None:
    async def fail(place: Path) -> None:
        await _write(place)
        raise UserError("no")

    with pytest.raises(UserError):
        asyncio.run(layer("key", fail))
    assert [path.name for path in own_cache.iterdir()] == ["key.lock"]
    assert asyncio.run(layer("key", _write)).is_dir()


@pytest.mark.parametrize("place", ["/dev/null", "/proc/none"])
def test_a_place_that_cannot_be_written_is_the_users_mistake(
    place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLAW_CACHE", place)
    said = f"{place}/recipes.* cannot be written .*: set CLAW_CACHE"
    with pytest.raises(UserError, match=said):
        asyncio.run(layer("key", _never))
    assert recorded("tiny__calc-1") is None
    with pytest.raises(UserError, match=said):
        record("tiny__calc-1", tmp_path / "recipe.toml")


def test_a_full_disk_is_no_bug_and_nothing_stays_of_the_layer(own_cache: Path) -> None:
    async def fill(place: Path) -> None:
        await _write(place)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(InfrastructureError, match=r"key cannot be made: .*No space left"):
        asyncio.run(layer("key", fill))
    assert [path.name for path in own_cache.iterdir()] == ["key.lock"]

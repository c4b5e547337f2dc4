"""An image cache of the test's own, and archives made of a few lines."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

Entry = tuple[str, str | bytes]
"""Name and content; of a name that ends in `/` the content does not matter."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Directory of the cache's images."""
    monkeypatch.setenv("CLAW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache/images"


@pytest.fixture
def archive() -> Callable[..., bytes]:
    """`archive(*entries)`: a tar archive; an entry is (name, text) or a `TarInfo` without content."""

    def make(*entries: Entry | tarfile.TarInfo, mode: str = "w") -> bytes:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode=mode) as tar:  # type: ignore[call-overload]
            for entry in entries:
                if isinstance(entry, tarfile.TarInfo):
                    tar.addfile(entry)
                    continue
                name, content = entry
                member = tarfile.TarInfo(name.rstrip("/"))
                data = content if isinstance(content, bytes) else content.encode()
                if name.endswith("/"):
                    member.type, member.mode = tarfile.DIRTYPE, 0o755
                    tar.addfile(member)
                else:
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))
        return buffer.getvalue()

    return make

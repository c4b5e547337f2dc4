"""A container engine of the test's own, to be killed: everything of it lies in one directory, and it has no network."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tarfile
import time
from pathlib import Path
from typing import Any

from claw_envs.sandbox.docker.build import BASE
from claw_envs.sandbox.process.child import descendants, send_signal
from tests.claw_envs.server.hosting import all_end

PROGRAMS = (
    "bash",
    "sh",
    "cat",
    "chmod",
    "chown",
    "dirname",
    "head",
    "id",
    "ls",
    "mkdir",
    "rm",
    "sleep",
    "tar",
    "touch",
)
_PATIENCE = 60.0
_LOOK_EVERY = 0.05


class OwnEngine:
    """`dockerd` with a small base image, made of this machine's own programs. Blocks.

    Args:
        folder: for everything of it; the path must be short, as a socket lies there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.url = f"unix://{folder}/docker.sock"
        self.api: Any = None
        """The SDK's low-level client of the engine that runs."""
        self.start()
        self.api.import_image_from_data(_image(folder / "image.tar"), *BASE.split(":"))

    def start(self) -> None:
        """Start it, or start it again, and wait until it answers."""
        import docker

        for stale in (self._folder / "pid", self._folder / "run/containerd/containerd.pid"):
            stale.unlink(missing_ok=True)  # that number may be another process's by now
        command = [
            # in a network of its own, for `--bridge=none` removes the bridge of the machine's own engine
            "unshare", "--net",
            "dockerd", f"--host={self.url}", f"--data-root={self._folder}/data", f"--exec-root={self._folder}/run",
            f"--pidfile={self._folder}/pid", "--bridge=none", "--iptables=false",
            "--containerd-namespace=faults", "--containerd-plugins-namespace=faults-plugins",
        ]  # fmt: skip
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self.api = docker.APIClient(self.url, timeout=60)
                return
            except docker.errors.DockerException:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(_LOOK_EVERY)

    def kill(self) -> None:
        """Kill it with all that it started but the containers' own processes, as a crash would."""
        pids = [*descendants(self._process.pid), self._process.pid]
        for pid in pids:
            send_signal(pid, signal.SIGKILL)
        self._process.wait()
        assert all_end(set(pids))
        self.api.close()

    def remove(self) -> None:
        """End it, and whatever is left of it: processes, mounts, files."""
        self.kill()
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if str(self._folder).encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                    os.kill(int(name), signal.SIGKILL)
        places = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        for place in reversed([each for each in places if each.startswith(str(self._folder))]):
            subprocess.run(["umount", "-l", place], check=True)
        shutil.rmtree(self._folder)

    def containers(self) -> list[str]:
        """Names of its containers, stopped ones too."""
        return [name for each in self.api.containers(all=True) for name in each["Names"]]


def _image(archive: Path) -> bytes:
    files = {f"/bin/{name}": _real(shutil.which(name)) for name in PROGRAMS}
    linked = subprocess.run(["ldd", *map(str, files.values())], capture_output=True, text=True, check=True).stdout
    for target, source in re.findall(r"^\t(?:\S+ => )?((/\S+)) \(0x", linked, flags=re.MULTILINE):
        files[target] = _real(source)
    with tarfile.open(archive, "w") as tar:
        for target, path in files.items():
            tar.add(path, arcname=target)
    return archive.read_bytes()


def _real(path: str | None) -> Path:
    assert path is not None
    return Path(path).resolve()

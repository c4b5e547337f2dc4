"""Start what a desktop is made of: X server, session bus, accessibility bus, window manager; and watch over it.

Each is ready when it says so itself: nothing is polled or slept for. The window manager is started again where it ends;
the desktop ends with its X server or one of its buses.
"""

import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

HOME_FILES = Path(__file__).parent / "home"
"""Settings that a user of the desktop finds in the home directory; there their names begin with a dot."""
FRAMEBUFFER = "Xvfb_screen0"
RUNTIME = Path("/tmp/.desktop")
"""What belongs to this desktop alone."""
_READY_TIMEOUT = 30.0
_MOST_RESTARTS = 20
_FOLDERS = ("Desktop", "Documents", "Downloads", "Pictures")


def environment(display: str, bus: str, runtime: str) -> dict[str, str]:
    """What applications of the desktop find in their environment."""
    return os.environ | {
        "DISPLAY": display,
        "DBUS_SESSION_BUS_ADDRESS": bus,
        "XDG_RUNTIME_DIR": runtime,
        "XDG_SESSION_TYPE": "x11",
        "XDG_CURRENT_DESKTOP": "X-Generic",
        "GDK_BACKEND": "x11",
        "GIO_USE_VFS": "local",
        "GSETTINGS_BACKEND": "memory",
        "GSK_RENDERER": "cairo",
        "GTK_A11Y": "atspi",
        "GTK_MODULES": "gail:atk-bridge",
        "GTK_USE_PORTAL": "0",
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "NO_AT_BRIDGE": "0",
        "QT_ACCESSIBILITY": "1",
        "SAL_USE_VCLPLUGIN": "gtk3",
        "TERM": "xterm-256color",
    }


class Session:
    """A desktop that runs.

    Args:
        size: of the screen, in pixels.
        on_end: called with a sentence, from another thread, when the desktop has ended by itself.

    Raises:
        OSError: if a program of it is missing or does not start.
    """

    def __init__(self, size: tuple[int, int], *, on_end: Callable[[str], None]) -> None:
        self.size = size
        self._on_end = on_end
        self._restarts = 0
        self.home = Path(os.environ.setdefault("HOME", str(Path.home())))
        self.runtime = runtime = RUNTIME
        self.framebuffer = runtime / "screen" / FRAMEBUFFER
        shutil.rmtree(runtime, ignore_errors=True)
        self.framebuffer.parent.mkdir(mode=0o700, parents=True)
        runtime.chmod(0o700)
        self._settle_home()
        display = self._serve(
            "Xvfb", "-screen", "0", f"{size[0]}x{size[1]}x24", "-fbdir", str(self.framebuffer.parent), "-nolisten",
            "tcp", "-noreset", "-displayfd", "{}",
        )  # fmt: skip
        bus = self._serve("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address={}")
        self.env = environment(f":{display}", bus, str(runtime))
        os.environ.update(self.env)
        self.start_manager()

    def _settle_home(self) -> None:
        for folder in _FOLDERS:
            (self.home / folder).mkdir(parents=True, exist_ok=True)
        for source in HOME_FILES.rglob("*"):
            target = self.home / f".{source.relative_to(HOME_FILES)}"
            if source.is_dir():
                target.mkdir(exist_ok=True)
            elif not target.exists():
                shutil.copyfile(source, target)

    def _serve(self, *argv: str) -> str:
        """Start a server that writes one line to a descriptor, `{}`, once it is ready; that line."""
        ours, theirs = os.pipe()
        with os.fdopen(ours) as answer:
            line = [word.format(theirs) for word in argv]
            process = subprocess.Popen(line, pass_fds=[theirs], stdin=subprocess.DEVNULL, start_new_session=True)
            os.close(theirs)
            said = answer.readline().strip()
        if not said:
            raise OSError(f"{argv[0]} does not start: exit code {process.wait(_READY_TIMEOUT)}")
        threading.Thread(target=self._watch, args=(argv[0], process), daemon=True).start()
        return said

    def _watch(self, name: str, process: "subprocess.Popen[bytes]") -> None:
        code = process.wait()
        self._on_end(f"{name} has ended: exit code {code}")

    def start_manager(self) -> None:
        """Start the window manager, again too."""
        config = self.home / ".config/openbox/rc.xml"
        process = subprocess.Popen(
            ["openbox", "--sm-disable", "--config-file", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        threading.Thread(target=self._watch_manager, args=(process,), daemon=True).start()

    def _watch_manager(self, process: "subprocess.Popen[bytes]") -> None:
        process.wait()
        self._restarts += 1
        if self._restarts > _MOST_RESTARTS:
            self._on_end("the window manager does not stay")
        else:
            self.start_manager()

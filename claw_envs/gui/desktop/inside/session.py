"""Start what a desktop is made of: X server, session bus, accessibility bus, window manager; and watch over it.

Each is ready when it says so itself: nothing is polled or slept for. The window manager is started again where it
ends; the desktop ends with its X server or one of its buses, and they with this program, however that ends.
"""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

HOME_FILES = Path(__file__).parent / "home"
"""Settings that a user of the desktop finds in the home directory; there their names begin with a dot."""
FRAMEBUFFER = "Xvfb_screen0"
_READY_TIMEOUT = 30.0
_MOST_RESTARTS = 20
_ENDS_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
"""Before a command: it is killed when the thread that started it ends, which none of ours does before the program."""
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
        self.home = Path(os.environ.setdefault("HOME", str(Path.home())))
        self.runtime = Path(tempfile.mkdtemp(prefix="desktop-"))
        """What belongs to this desktop alone."""
        self.framebuffer = self.runtime / "screen" / FRAMEBUFFER
        self.framebuffer.parent.mkdir(mode=0o700)
        self._settle_home()
        display = self._serve(
            "Xvfb", "-screen", "0", f"{size[0]}x{size[1]}x24", "-fbdir", str(self.framebuffer.parent), "-nolisten",
            "tcp", "-noreset", "-displayfd", "{}",
        )  # fmt: skip
        bus = self._serve("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address={}")
        self.env = environment(f":{display}", bus, str(self.runtime))
        os.environ.update(self.env)
        threading.Thread(target=self._keep_manager, daemon=True).start()

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
            process = subprocess.Popen(
                [*_ENDS_WITH_US, *line], pass_fds=[theirs], stdin=subprocess.DEVNULL, start_new_session=True
            )
            os.close(theirs)
            said = answer.readline().strip()
        if not said:
            raise OSError(f"{argv[0]} does not start: exit code {process.wait(_READY_TIMEOUT)}")
        threading.Thread(target=self._watch, args=(argv[0], process), daemon=True).start()
        return said

    def _watch(self, name: str, process: "subprocess.Popen[bytes]") -> None:
        code = process.wait()
        self._on_end(f"{name} has ended: exit code {code}")

    def _keep_manager(self) -> None:
        """Start the window manager, again too."""
        config = self.home / ".config/openbox/rc.xml"
        for _ in range(_MOST_RESTARTS):
            subprocess.run(
                [*_ENDS_WITH_US, "openbox", "--sm-disable", "--config-file", str(config)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                check=False,
            )
        self._on_end("the window manager does not stay")

    def close(self) -> None:
        """Remove what belongs to this desktop alone; its programs end with this one."""
        shutil.rmtree(self.runtime, ignore_errors=True)

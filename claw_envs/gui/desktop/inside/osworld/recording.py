"""Films of the screen, by ffmpeg where there is one."""

import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

_RATE = 15
"""Pictures a second."""
_STOP_TIMEOUT = 20.0
_FIRST_BYTES = 2.0
"""Seconds that ffmpeg gets to complain."""


class RecordingError(RuntimeError):
    """There is no film; the message says why."""


class Recording:
    """At most one film at a time. Safe to use from several threads."""

    def __init__(self, size: tuple[int, int]) -> None:
        self._size = size
        self._path = Path(tempfile.gettempdir()) / "recording.mp4"
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin a film.

        Raises:
            RecordingError: if there is no ffmpeg, or it does not start.
        """
        ffmpeg = shutil.which("ffmpeg")
        if ffmpeg is None:
            raise RecordingError("there is no ffmpeg on this machine")
        with self._lock:
            self._path.unlink(missing_ok=True)
            self._process = subprocess.Popen(
                [
                    ffmpeg, "-y", "-loglevel", "error", "-f", "x11grab", "-draw_mouse", "1", "-framerate", str(_RATE),
                    "-video_size", f"{self._size[0]}x{self._size[1]}", "-i", os.environ["DISPLAY"],
                    "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", str(self._path),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )  # fmt: skip
            try:
                self._process.wait(_FIRST_BYTES)
            except subprocess.TimeoutExpired:  # it films
                return
            raise RecordingError(f"ffmpeg has ended: {self._complaint()}")

    @property
    def running(self) -> bool:
        """Whether a film is being made."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> bytes:
        """End the film; an MP4 file.

        Raises:
            RecordingError: if there is none.
        """
        with self._lock:
            if not self.running:
                raise RecordingError("there is no recording to stop")
            process, self._process = self._process, None
            assert process is not None
            try:
                process.communicate(b"q", timeout=_STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                raise RecordingError("ffmpeg did not end in time") from None
            if not self._path.is_file():
                raise RecordingError("ffmpeg wrote nothing")
            data = self._path.read_bytes()
            self._path.unlink()
            return data

    def _complaint(self) -> str:
        assert self._process is not None
        assert self._process.stderr is not None
        return self._process.stderr.read().decode(errors="replace").strip()[-500:]

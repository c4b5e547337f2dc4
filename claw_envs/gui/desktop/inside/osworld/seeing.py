"""What can be seen, and films of it."""

from pathlib import Path

from claw_envs.gui.desktop.inside.osworld.answers import (
    BAD,
    FAULT,
    MISSING,
    Answer,
    Desk,
    Handler,
    Request,
    as_bytes,
    as_json,
    as_text,
    failed,
)
from claw_envs.gui.desktop.inside.osworld.recording import RecordingError


def _screenshot(desk: Desk, _: Request) -> Answer:
    return as_bytes(desk.machine.camera.png(), "image/png")


def _accessibility(desk: Desk, _: Request) -> Answer:
    return as_json({"AT": desk.machine.xml()})


def _terminal(desk: Desk, _: Request) -> Answer:
    shown = desk.machine.terminal_output()
    return as_json({"output": None if shown is None else shown.rstrip(), "status": "success"})


def _platform(desk: Desk, _: Request) -> Answer:
    return as_text(desk.machine.platform())


def _cursor_position(desk: Desk, _: Request) -> Answer:
    return as_json(list(desk.machine.cursor_position()))


def _screen_size(desk: Desk, _: Request) -> Answer:
    width, height = desk.machine.size
    return as_json({"width": width, "height": height})


def _window_size(desk: Desk, request: Request) -> Answer:
    name = request.form().get("app_class_name")
    if name is None:
        return as_json({"error": "app_class_name is required"}, BAD)
    size = desk.machine.window_size(name.decode(errors="replace"))
    if size is None:  # where OSWorld's server fails
        return failed("there is no such window")
    return as_json({"width": size[0], "height": size[1]})


def _desktop_path(desk: Desk, _: Request) -> Answer:
    path = Path(desk.machine.session.home) / "Desktop"
    if not path.is_dir():
        return as_json({"error": "Unsupported operating system or desktop path not found"}, MISSING)
    return as_json({"desktop_path": str(path)})


def _wallpaper(desk: Desk, _: Request) -> Answer:
    return as_bytes(desk.machine.wallpaper(), "image/png")


def _change_wallpaper(desk: Desk, request: Request) -> Answer:
    path = request.json().get("path")
    if not path:
        return as_text("Path not supplied!", BAD)
    try:
        desk.machine.change_wallpaper(str(path))
    except FileNotFoundError:
        return as_text(f"File not found: {path}", MISSING)
    except OSError as error:
        return as_text(f"Failed to change wallpaper. Error: {error}", FAULT)
    return as_text("Wallpaper changed successfully")


def _start_recording(desk: Desk, _: Request) -> Answer:
    if desk.recording.running:
        return failed("Recording is already in progress.", BAD)
    try:
        desk.recording.start()
    except RecordingError as error:
        return failed(str(error))
    return as_json({"status": "success", "message": "Started recording successfully."})


def _end_recording(desk: Desk, _: Request) -> Answer:
    if not desk.recording.running:
        return failed("No recording in progress to stop.", BAD)
    try:
        return as_bytes(desk.recording.stop(), "video/mp4")
    except RecordingError as error:
        return failed(str(error))


ROUTES: dict[tuple[str, str], Handler] = {
    ("GET", "/screenshot"): _screenshot,
    ("GET", "/accessibility"): _accessibility,
    ("GET", "/terminal"): _terminal,
    ("GET", "/platform"): _platform,
    ("GET", "/cursor_position"): _cursor_position,
    ("POST", "/screen_size"): _screen_size,
    ("POST", "/window_size"): _window_size,
    ("POST", "/desktop_path"): _desktop_path,
    ("POST", "/wallpaper"): _wallpaper,
    ("POST", "/setup/change_wallpaper"): _change_wallpaper,
    ("POST", "/start_recording"): _start_recording,
    ("POST", "/end_recording"): _end_recording,
}

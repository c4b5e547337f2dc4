"""Files and windows."""

import time
from pathlib import PurePosixPath

from claw_envs.gui.desktop.inside.machine import MachineError
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
)

_WINDOW_TIMEOUT, _PAUSE = 60.0, 0.1
_LOST_AFTER = 20.0  # a program of one instance that was just ending may have taken the request with it


def _file(desk: Desk, request: Request) -> Answer:
    path = request.form().get("file_path")
    if path is None:
        return as_json({"error": "file_path is required"}, BAD)
    try:
        return as_bytes(desk.machine.read_file(path.decode(errors="surrogateescape")))
    except (FileNotFoundError, NotADirectoryError):
        return as_json({"error": "File not found"}, MISSING)
    except (OSError, ValueError) as error:
        return as_json({"error": f"Failed to serve file: {error}"}, FAULT)


def _upload(desk: Desk, request: Request) -> Answer:
    form = request.form()
    if "file_path" not in form or "file_data" not in form:
        return as_json({"error": "file_path and file_data are required"}, BAD)
    try:
        desk.machine.write_file(form["file_path"].decode(errors="surrogateescape"), form["file_data"])
    except (OSError, ValueError) as error:
        return as_json({"error": f"Failed to upload file: {error}"}, FAULT)
    return as_text(f"File Uploaded: {len(form['file_data'])} bytes")


def _list_directory(desk: Desk, request: Request) -> Answer:
    path = request.json().get("path")
    if path is None:
        return as_json({"error": "Missing 'path' parameter"}, BAD)
    found = desk.machine.list_directory(str(path))
    if found is None:
        return as_json({"error": "The provided path is not a directory"}, BAD)
    return as_json({"directory_tree": found})


def _download_file(_: Desk, request: Request) -> Answer:
    body = request.json()
    if not body.get("url") or not body.get("path"):
        return as_text("Path or URL not supplied!", BAD)
    return as_text(f"Failed to download {body['url']}. This machine has no network.", FAULT)


def _open_file(desk: Desk, request: Request) -> Answer:
    path = request.json().get("path")
    if not path:
        return as_text("Path not supplied!", BAD)
    try:
        desk.machine.open_path(str(path))
    except FileNotFoundError:
        return as_text(f"Application/file not found: {path}", MISSING)
    except (OSError, ValueError) as error:
        return as_text(f"Failed to open {path}. Error: {error}", FAULT)
    name, begun, again = PurePosixPath(str(path)).stem, time.monotonic(), _LOST_AFTER
    while (window := desk.machine.windows.find(name)) is None:
        waited = time.monotonic() - begun
        if waited > _WINDOW_TIMEOUT:
            return as_text(f"Failed to find window for {name} within {_WINDOW_TIMEOUT:g} seconds.", FAULT)
        if waited > again:
            desk.machine.open_path(str(path))
            again = _WINDOW_TIMEOUT
        time.sleep(_PAUSE)
    desk.machine.windows.activate(window)
    return as_text("File opened and window activated successfully")


def _activate_window(desk: Desk, request: Request) -> Answer:
    return _reach(desk, request, close=False)


def _close_window(desk: Desk, request: Request) -> Answer:
    return _reach(desk, request, close=True)


def _reach(desk: Desk, request: Request, *, close: bool) -> Answer:
    body = request.json()
    name = body.get("window_name")
    if not name:
        return as_text("window_name required", BAD)
    reach = desk.machine.close_window if close else desk.machine.activate_window
    try:
        reach(str(name), strict=bool(body.get("strict", False)), by_class=bool(body.get("by_class", False)))
    except MachineError:
        return as_text(f"Window {name} not found", MISSING)
    return as_text("Window closed successfully." if close else "Window activated successfully")


ROUTES: dict[tuple[str, str], Handler] = {
    ("POST", "/file"): _file,
    ("POST", "/setup/upload"): _upload,
    ("POST", "/list_directory"): _list_directory,
    ("POST", "/setup/download_file"): _download_file,
    ("POST", "/setup/open_file"): _open_file,
    ("POST", "/setup/activate_window"): _activate_window,
    ("POST", "/setup/close_window"): _close_window,
}

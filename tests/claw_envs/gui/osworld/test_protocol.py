"""Our server, asked as OSWorld's clients ask: every address, with plain HTTP and nothing of our client's."""

import http.client
import io
import json
import shutil
import uuid
from typing import Any
from urllib.parse import urlencode

import pytest
from PIL import Image

from claw_envs.gui.desktop.inside.names import IDENTITY
from tests.claw_envs.gui.osworld.serving import SIZE, Served


def ask(served: Served, method: str, path: str, body: bytes = b"", kind: str = "") -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection(served.url.removeprefix("http://"), timeout=90)
    try:
        connection.request(method, path, body, {"Content-Type": kind} if kind else {})
        response = connection.getresponse()
        return response.status, response.read(), dict(response.getheaders())
    finally:
        connection.close()


def post(served: Served, path: str, fields: Any) -> tuple[int, Any]:
    status, body, headers = ask(served, "POST", path, json.dumps(fields).encode(), "application/json")
    return status, json.loads(body) if headers["Content-Type"] == "application/json" else body.decode()


def form(served: Served, path: str, **fields: str) -> tuple[int, bytes]:
    status, body, _ = ask(served, "POST", path, urlencode(fields).encode(), "application/x-www-form-urlencoded")
    return status, body


def upload(served: Served, path: str, data: bytes) -> tuple[int, bytes]:
    border = uuid.uuid4().hex
    parts = (
        f'--{border}\r\nContent-Disposition: form-data; name="file_path"\r\n\r\n{path}\r\n'
        f'--{border}\r\nContent-Disposition: form-data; name="file_data"; filename="x"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    body = parts.encode() + data + f"\r\n--{border}--\r\n".encode()
    return ask(served, "POST", "/setup/upload", body, f"multipart/form-data; boundary={border}")[:2]


def test_a_screenshot_is_a_png_of_the_screens_size(served: Served) -> None:
    status, body, headers = ask(served, "GET", "/screenshot")
    assert (status, headers["Content-Type"]) == (200, "image/png")
    assert Image.open(io.BytesIO(body)).size == SIZE


def test_every_answer_names_the_servers_start(served: Served) -> None:
    names = {ask(served, "GET", path)[2][IDENTITY] for path in ("/platform", "/no-such-address")}
    assert len(names) == 1


def test_what_it_says_of_itself(served: Served) -> None:
    assert ask(served, "GET", "/platform")[:2] == (200, b"Linux")
    assert post(served, "/screen_size", {}) == (200, {"width": SIZE[0], "height": SIZE[1]})
    assert post(served, "/desktop_path", {}) == (200, {"desktop_path": "/tmp/home/Desktop"})
    assert json.loads(ask(served, "GET", "/accessibility")[1])["AT"].startswith("<desktop-frame")
    terminal = json.loads(ask(served, "GET", "/terminal")[1])
    assert (set(terminal), terminal["status"]) == ({"output", "status"}, "success")


@pytest.mark.parametrize("path", ["/execute", "/setup/execute"])
def test_commands(served: Served, path: str) -> None:
    words = {"command": ["sh", "-c", "echo out; echo err >&2; exit 3"]}
    said = {"status": "success", "output": "out\n", "error": "err\n", "returncode": 3}
    assert post(served, path, words) == (200, said)
    assert post(served, path, {"command": "echo $((1+1))", "shell": True})[1]["output"] == "2\n"
    assert post(served, path, {"command": "echo 'a b'"})[1]["output"] == "a b\n"
    status, said = post(served, path, {"command": ["no-such-program"]})
    assert (status, said["status"]) == (500, "error")
    assert "no-such-program" in said["message"]


def test_a_command_that_runs_over_is_stopped(served: Served) -> None:
    status, said = post(served, "/execute", {"command": ["sleep", "1000"], "timeout": 0.1})
    assert (status, said["status"]) == (500, "error")


def test_pyautogui_is_carried_out_and_other_python_runs(served: Served) -> None:
    code = "import pyautogui; import time; pyautogui.FAILSAFE = False; pyautogui.moveTo(33, 44)"
    assert post(served, "/execute", {"command": ["python", "-c", code]})[1]["returncode"] == 0
    assert json.loads(ask(served, "GET", "/cursor_position")[1]) == [33, 44]
    code = "import pyautogui; pyautogui.no_such_thing()"
    said = post(served, "/execute", {"command": ["python", "-c", code]})[1]
    assert said["returncode"] == 1
    assert "no_such_thing" in said["error"]
    code = "import platform; print(platform.system())"
    assert post(served, "/execute", {"command": ["python", "-c", code]})[1]["output"] == "Linux\n"


def test_a_command_with_verification(served: Served) -> None:
    wanted = {"command": ["touch", "/tmp/verified"], "verification": {"command_success": "test -e /tmp/verified"}}
    status, said = post(served, "/setup/execute_with_verification", wanted)
    assert (status, said["verification"]) == (200, "passed")
    wanted |= {"verification": {"window_exists": "no such window"}, "max_wait_time": 0.1, "check_interval": 0.05}
    status, said = post(served, "/setup/execute_with_verification", wanted)
    assert (status, said["status"], said["verification"]) == (500, "verification_failed", "failed")


def test_scripts(served: Served) -> None:
    status, said = post(served, "/run_python", {"code": "print(1 + 1)"})
    assert (status, said["status"], said["output"], said["return_code"]) == (200, "success", "2\n", 0)
    assert post(served, "/run_python", {"code": "1 / 0"})[1]["status"] == "error"
    assert post(served, "/run_python", {})[0] == 400
    status, said = post(served, "/run_bash_script", {"script": "pwd; echo err >&2", "working_dir": "/usr"})
    assert (status, said["output"], said["error"], said["returncode"]) == (200, "/usr\nerr\n", "", 0)
    assert post(served, "/run_bash_script", {"script": "sleep 100", "timeout": 0.1})[0] == 500


def test_files(served: Served) -> None:
    data = bytes(range(256)) * 100 + b"\r\n--\r\n"
    assert upload(served, "~/new/folder/file.bin", data) == (200, f"File Uploaded: {len(data)} bytes".encode())
    assert form(served, "/file", file_path="/tmp/home/new/folder/file.bin") == (200, data)
    assert form(served, "/file", file_path="~/new/folder/file.bin") == (200, data)
    assert form(served, "/file", file_path="/no/such/file")[0] == 404
    assert form(served, "/file")[0] == 400
    tree = {"type": "directory", "name": "folder", "children": [{"type": "file", "name": "file.bin"}]}
    assert post(served, "/list_directory", {"path": "/tmp/home/new/folder"}) == (200, {"directory_tree": tree})
    assert post(served, "/list_directory", {"path": "/no/such/folder"})[0] == 400
    assert post(served, "/list_directory", {})[0] == 400
    assert upload(served, "/proc/no/such", b"")[0] == 500


def test_windows(served: Served) -> None:
    assert upload(served, "~/some note.txt", b"hello")[0] == 200
    assert post(served, "/setup/open_file", {"path": "~/some note.txt"})[0] == 200
    assert form(served, "/window_size", app_class_name="mousepad")[0] == 200
    assert post(served, "/setup/launch", {"command": ["xterm", "-title", "other", "-e", "sleep", "5"]})[0] == 200
    assert post(served, "/setup/activate_window", {"window_name": "no such"})[0] == 404
    assert post(served, "/setup/activate_window", {"window_name": "some note"})[0] == 200
    assert post(served, "/setup/close_window", {"window_name": "Mousepad", "by_class": True})[0] == 200
    assert post(served, "/setup/open_file", {"path": "/no/such"})[0] == 404
    for path in ("/setup/open_file", "/setup/activate_window", "/setup/close_window"):
        assert post(served, path, {})[0] == 400
    assert post(served, "/setup/launch", {"command": ["no-such-program"]})[0] == 500


def test_the_background(served: Served) -> None:
    made = io.BytesIO()
    Image.new("RGB", (8, 6), (200, 10, 10)).save(made, "PNG")
    assert upload(served, "~/red.png", made.getvalue())[0] == 200
    assert post(served, "/setup/change_wallpaper", {"path": "~/red.png"}) == (200, "Wallpaper changed successfully")
    assert ask(served, "POST", "/wallpaper")[1] == made.getvalue()
    assert post(served, "/setup/change_wallpaper", {"path": "/no/such.png"})[0] == 404
    assert post(served, "/setup/change_wallpaper", {})[0] == 400


def test_a_download_fails_as_there_is_no_network(served: Served) -> None:
    assert post(served, "/setup/download_file", {"url": "http://example.org/x", "path": "~/x"})[0] == 500
    assert post(served, "/setup/download_file", {"url": "http://example.org/x"})[0] == 400


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")
def test_a_film(served: Served) -> None:
    assert post(served, "/end_recording", {})[0] == 400
    assert post(served, "/start_recording", {})[0] == 200
    assert post(served, "/start_recording", {})[0] == 400
    status, body, _ = ask(served, "POST", "/end_recording")
    assert status == 200
    assert body[4:8] == b"ftyp"


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"{", "application/json"), (b"[1]", "application/json"), (b'{"timeout": "soon"}', "application/json")],
)
def test_a_body_that_is_wrong_is_refused_and_the_server_lives(served: Served, body: bytes, kind: str) -> None:
    assert ask(served, "POST", "/execute", body, kind)[0] in (400, 500)
    assert ask(served, "POST", "/file", body, kind)[0] == 400
    assert ask(served, "GET", "/platform")[0] == 200


def test_addresses_that_there_are_not(served: Served) -> None:
    assert ask(served, "GET", "/no-such-address")[0] == 404
    assert ask(served, "GET", "/execute")[0] == 405


def test_a_secret_is_asked_for(tmp_path: Any, served: Served) -> None:
    server = Served(tmp_path / "log", secret="open sesame")
    try:
        assert ask(server, "GET", "/platform")[0] == 403
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=30)
        connection.request("GET", "/platform", headers={"X-Claw-Envs-Secret": "open sesame"})
        assert connection.getresponse().read() == b"Linux"
        connection.close()
    finally:
        server.stop()

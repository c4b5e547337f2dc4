"""What a file or an address is opened with: applications of the desktop by what kind of file it is."""

import mimetypes
import shutil

from claw_envs.gui.desktop.inside.files import place

_BY_KIND = (
    ("application/vnd.oasis.opendocument.spreadsheet", ["libreoffice", "--calc"]),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ["libreoffice", "--calc"]),
    ("application/vnd.ms-excel", ["libreoffice", "--calc"]),
    ("text/csv", ["libreoffice", "--calc"]),
    ("application/vnd.", ["libreoffice"]),
    ("application/msword", ["libreoffice"]),
    ("inode/directory", ["pcmanfm"]),
    ("text/", ["mousepad"]),
    ("application/json", ["mousepad"]),
    ("application/xml", ["mousepad"]),
)
_BROWSERS = ("chromium", "firefox-esr", "firefox", "google-chrome")
_ADDRESSES = ("http://", "https://", "file://")
_ANYTHING = ["mousepad"]


def opener(path: str) -> list[str]:
    """The command that opens `path`.

    Raises:
        FileNotFoundError: if there is no such file, or nothing that opens it.
    """
    if path.startswith(_ADDRESSES):
        browser = next((name for name in _BROWSERS if shutil.which(name)), None)
        if browser is None:
            raise FileNotFoundError(f"there is no browser on this machine to open {path} with")
        return [browser, path]
    target = place(path)
    if not target.exists():
        raise FileNotFoundError(f"there is no {path}")
    kind = "inode/directory" if target.is_dir() else mimetypes.guess_type(target.name)[0] or ""
    command = next((command for start, command in _BY_KIND if kind.startswith(start)), _ANYTHING)
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(f"{command[0]} is not on this machine, which would open {path}")
    return [*command, str(target)]

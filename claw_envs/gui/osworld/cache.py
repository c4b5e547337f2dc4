"""Files that tasks download, found in a folder of the user's: nothing is ever fetched.

Three layouts are looked for: what OSWorld itself leaves in its cache (`<task id>/<uuid of the URL>_<file name>`, and
`<task id>/<file name>` for what is expected), a checkout of its data set (what follows `/resolve/<revision>/` in the
URL), and a mirror by host (`<host>/<path>`).
"""

import re
import uuid
from pathlib import Path
from urllib.parse import unquote, urlsplit

from claw_envs.core.cache import cache_directory
from claw_envs.core.errors import UserError

_IN_DATA_SET = re.compile(r"/resolve/[^/]+/(.+)")


class FileCache:
    """A folder of files that tasks name by URL."""

    def __init__(self, folder: str | Path) -> None:
        """
        Raises:
            UserError: if there is no such folder.
        """
        self.folder = Path(folder).expanduser()
        if not self.folder.is_dir():
            raise UserError(f"cache={folder}: no such folder; it holds the files that tasks download")

    def find(self, url: str, *, task: str, name: str) -> Path | None:
        """Where the file of `url` lies; None where it is not there.

        Args:
            task: id of the task that names it.
            name: what the task calls the file, with its folder or without.
        """
        name = Path(name).name
        place = urlsplit(url)
        in_set = _IN_DATA_SET.search(place.path)
        candidates = [
            f"{task}/{uuid.uuid5(uuid.NAMESPACE_URL, url)}_{name}",
            f"{task}/{name}",
            *([unquote(in_set[1])] if in_set else []),
            f"{place.netloc}/{unquote(place.path).lstrip('/')}",
        ]
        for candidate in candidates:
            path = self.folder / candidate
            if ".." not in path.parts and path.is_file():
                return path
        return None


def open_cache(folder: str | Path | None = None) -> FileCache | None:
    """The cache in `folder`; None: that in `osworld` of the cache of claw-envs, where there is one.

    Raises:
        UserError: if a folder is named that does not exist.
    """
    default = cache_directory("osworld")
    return FileCache(folder or default) if folder or default.is_dir() else None

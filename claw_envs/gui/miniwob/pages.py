"""The pages of the PyPI package `miniwob`, read from its folder; the package itself, which wants a driver, never runs.

No script runs in them but their own: one of them shows what is typed as HTML, so that an agent could type a script that
gives itself the reward.

Not covered: its FlightWoB pages, copies of airlines' own, which start and end in another way.
"""

import mimetypes
import re
import secrets
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from claw_envs.core.errors import UserError
from claw_envs.gui.browser.network import Request, Response

HOST = "miniwob.test"
_NONCE = secrets.token_urlsafe(16)
_POLICY = f"script-src 'self' 'nonce-{_NONCE}' 'unsafe-eval'; object-src 'none'; base-uri 'none'"
"""Scripts of the pages' own, of which jscolor makes functions of texts."""
_INLINE = re.compile(rb"<script(?=>)")


@cache
def folder() -> Path:
    """Where the package keeps what its pages are made of.

    Raises:
        UserError: if it is not installed.
    """
    spec = find_spec("miniwob")
    for place in (spec and spec.submodule_search_locations) or ():
        if (html := Path(place) / "html").is_dir():
            return html
    raise UserError("MiniWoB++ tasks need its pages: pip install miniwob")


def names() -> list[str]:
    """All pages by name, in alphabetical order."""
    return sorted(page.stem for page in (folder() / "miniwob").glob("*.html"))


def address(page: str) -> str:
    """Where a browser finds a page while `serve` answers for `HOST`."""
    return f"http://{HOST}/miniwob/{page}.html"


async def serve(request: Request) -> Response:
    """Answer a browser's request with a page or what it is made of."""
    content = _read(request.path) if request.method == "GET" else None
    if content is None:
        return Response(404, {"content-type": "text/plain"}, b"not found")
    kind = mimetypes.guess_type(request.path)[0] or "application/octet-stream"
    charset = "; charset=utf-8" if kind.startswith("text/") else ""
    return Response(200, {"content-type": kind + charset, "content-security-policy": _POLICY}, content)


@cache
def _read(path: str) -> bytes | None:
    """What lies at a path of the site; all of it is a few megabytes and stays in memory."""
    file = (folder() / path.lstrip("/")).resolve()
    if not file.is_relative_to(folder().resolve()) or not file.is_file():
        return None
    content = file.read_bytes()
    return _INLINE.sub(b'<script nonce="%b"' % _NONCE.encode(), content) if file.suffix == ".html" else content

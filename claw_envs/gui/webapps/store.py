"""The server of one episode's application: its files, and its state as a document that only its own page reaches.

    GET /state   -> {"version": 3, "state": {...}}
    POST /state  {"base": 3, "parts": {"basket": {...}}} -> {"version": 4}, or 409 with the document as it is now

A part that is saved replaces the one that was there. Whoever saves from an old version is refused and shown the new
one, so that two tabs never undo each other. The document is out of an agent's reach: requests for it need a token that
is in the page's source, in a header that no navigation, link or form can send, and the content policy lets no script
run but the application's files.
"""

import copy
import secrets
from typing import Any

import msgspec

from claw_envs.gui.browser.network import Request, Response
from claw_envs.gui.webapps.app import App
from claw_envs.gui.webapps.goal import State

_MOST_BYTES = 4_000_000
"""Of a request; no page of ours sends so much."""
_PLACEHOLDER = b"{{token}}"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {"content-security-policy": _POLICY, "cache-control": "no-store", "x-content-type-options": "nosniff"}


class _Save(msgspec.Struct, forbid_unknown_fields=True):
    base: int
    parts: dict[str, Any]


class Store:
    """The state of one application in one episode, and the handler that serves both.

    Attributes:
        initial: the state at the beginning.
        state: the state now.
        version: how often it was saved.
    """

    def __init__(self, app: App, patch: State) -> None:
        """
        Args:
            app: what is served.
            patch: laid over its first state, see `Goal.state`.
        """
        self.initial = merged(app.first_state(), patch)
        self.state = copy.deepcopy(self.initial)
        self.version = 0
        self._app, self._token = app, secrets.token_hex(16)

    async def answer(self, request: Request) -> Response:
        """Answer one request of the page."""
        if request.path == "/state":
            return self._document(request)
        file = self._app.files.get(request.path)
        if file is None or request.method != "GET":
            return _refusal(404 if file is None else 405)
        body = file.body.replace(_PLACEHOLDER, self._token.encode()) if file.kind.startswith("text/html") else file.body
        return Response(200, {**_HEADERS, "content-type": file.kind}, body)

    def _document(self, request: Request) -> Response:
        given = request.headers.get("x-store-token", "")
        if not secrets.compare_digest(given.encode(), self._token.encode()):
            return _refusal(403)
        if request.method == "GET":
            return _json(200, {"version": self.version, "state": self.state})
        if request.method != "POST":
            return _refusal(405)
        return self._save(request.body)

    def _save(self, body: bytes) -> Response:
        if len(body) > _MOST_BYTES:
            return _refusal(413)
        try:
            save = msgspec.json.decode(body, type=_Save)
        except msgspec.DecodeError:
            return _refusal(400)
        if save.base != self.version:
            return _json(409, {"version": self.version, "state": self.state})
        self.state = {**self.state, **save.parts}
        self.version += 1
        return _json(200, {"version": self.version})


def merged(state: Any, patch: Any) -> Any:
    """`state` with `patch` laid over it: objects key by key, everything else replaced."""
    if not (isinstance(state, dict) and isinstance(patch, dict)):
        return copy.deepcopy(patch)
    return {**state, **{key: merged(state.get(key), value) for key, value in patch.items()}}


def _json(status: int, value: Any) -> Response:
    return Response(status, {**_HEADERS, "content-type": "application/json"}, msgspec.json.encode(value))


def _refusal(status: int) -> Response:
    return Response(status, {**_HEADERS, "content-type": "text/plain; charset=utf-8"}, b"")

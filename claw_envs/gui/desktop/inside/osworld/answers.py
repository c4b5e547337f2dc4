"""A request and an answer of the protocol."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from claw_envs.gui.desktop.inside.machine import Machine
from claw_envs.gui.desktop.inside.osworld.forms import FormError, fields
from claw_envs.gui.desktop.inside.osworld.recording import Recording

OK, BAD, MISSING, NOT_ALLOWED, FAULT = 200, 400, 404, 405, 500


class Answer(NamedTuple):
    """What goes back."""

    status: int
    kind: str
    """Content type."""
    body: bytes


class Request(NamedTuple):
    """What came, with a body that was read to its end."""

    kind: str
    """Content type."""
    body: bytes

    def json(self) -> dict[str, Any]:
        """The body's fields.

        Raises:
            FormError: if it is no JSON object.
        """
        try:
            found = json.loads(self.body or b"{}")
        except (ValueError, RecursionError):
            raise FormError("the body is no JSON") from None
        if not isinstance(found, dict):
            raise FormError("the body is no JSON object")
        return found

    def form(self) -> dict[str, bytes]:
        """The body's fields.

        Raises:
            FormError: if it is no form.
        """
        return fields(self.kind, self.body)


class Desk(NamedTuple):
    """What requests are carried out on."""

    machine: Machine
    recording: Recording


Handler = Callable[[Desk, Request], Answer]


def as_json(value: Any, status: int = OK) -> Answer:
    """An answer in JSON."""
    return Answer(status, "application/json", json.dumps(value).encode())


def as_text(text: str, status: int = OK) -> Answer:
    """An answer in words."""
    return Answer(status, "text/html; charset=utf-8", text.encode(errors="replace"))


def as_bytes(data: bytes, kind: str = "application/octet-stream") -> Answer:
    """An answer that is a file."""
    return Answer(OK, kind, data)


def failed(message: str, status: int = FAULT) -> Answer:
    """What its server answers where something went wrong."""
    return as_json({"status": "error", "message": message}, status)

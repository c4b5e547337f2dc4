"""Bodies of requests as forms make them: `application/x-www-form-urlencoded` and `multipart/form-data`."""

from email.message import Message
from urllib.parse import parse_qs

_END_OF_HEAD = b"\r\n\r\n"
_BREAK = b"\r\n"


class FormError(ValueError):
    """What came is no form."""


def fields(kind: str, body: bytes) -> dict[str, bytes]:
    """The fields of a form, the last of each name.

    Args:
        kind: the request's content type.

    Raises:
        FormError: if it is none.

    >>> fields("application/x-www-form-urlencoded", b"a=1&b=x+y")
    {'a': b'1', 'b': b'x y'}
    """
    said = _header("Content-Type", kind)
    if said.get_content_type() == "application/x-www-form-urlencoded":
        found = parse_qs(body.decode(errors="replace"), keep_blank_values=True)
        return {name: values[-1].encode() for name, values in found.items()}
    boundary = said.get_boundary()
    if said.get_content_type() != "multipart/form-data" or not boundary:
        raise FormError(f"a form was expected, not {kind or 'nothing'}")
    # the first has nothing before it, the last ends with two dashes in place of a line break
    parts = (_BREAK + body).split(_BREAK + b"--" + boundary.encode())
    return dict(_field(part[len(_BREAK) :]) for part in parts[1:-1])


def _field(part: bytes) -> tuple[str, bytes]:
    head, found, value = part.partition(_END_OF_HEAD)
    if not found:
        raise FormError("a part of the form has no end of its head")
    for line in head.split(_BREAK):
        name, _, said = line.decode(errors="replace").partition(":")
        if name.strip().lower() == "content-disposition":
            field = _header("Content-Disposition", said.strip()).get_param("name", header="Content-Disposition")
            if isinstance(field, str):
                return field, value
    raise FormError("a part of the form has no name")


def _header(name: str, value: str) -> Message:
    message = Message()
    message[name] = " ".join(value.split())
    return message

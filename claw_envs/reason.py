"""Why a connection failed, in a few words: what libraries wrap around the operating system's error is left out."""

import os
import ssl

_LONGEST = 160


def reason(error: BaseException) -> str:
    """The innermost cause of `error`, such as `connection refused`.

    Args:
        error: of a socket, or of a library that names its cause, or holds it among its arguments.
    """
    while (inner := error.__cause__ or next(filter(_is_error, error.args), None)) is not None:
        error = inner
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) and (error.errno or 0) > 0:
        return os.strerror(error.errno or 0).lower()
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return "timed out"
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(said.split())[:_LONGEST]


def _is_error(argument: object) -> bool:
    return isinstance(argument, BaseException)

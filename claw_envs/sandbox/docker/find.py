"""Where a container engine answers: the address that `DOCKER_HOST` names, else the usual sockets of Docker and Podman.

Needs nothing but the standard library. Not covered: contexts of the docker command line, and `ssh://` addresses.
"""

import http.client
import os
import socket

from claw_envs.core.errors import UserError

SOCKETS = (
    "/var/run/docker.sock",
    "{XDG_RUNTIME_DIR}/docker.sock",
    "{XDG_RUNTIME_DIR}/podman/podman.sock",
    "/run/podman/podman.sock",
)
_TIMEOUT = 2.0
_UNIX = "unix://"


def find_engine() -> tuple[str, str]:
    """Address of the first engine that answers, and what it calls itself, e.g. `Docker/27.1.1 (linux)`.

    Raises:
        UserError: if there is none.
    """
    named = os.environ.get("DOCKER_HOST", "")
    if named and not named.startswith(_UNIX):
        if not named.startswith("tcp://"):
            raise UserError(f"DOCKER_HOST={named}: use a unix:// or tcp:// address; `ssh -L` forwards a remote socket")
        return named, f"an engine at {named}"
    runtime = os.environ.get("XDG_RUNTIME_DIR", "/nonexistent")
    paths = [named.removeprefix(_UNIX)] if named else [path.format(XDG_RUNTIME_DIR=runtime) for path in SOCKETS]
    denied = None
    for path in paths:
        try:
            return _UNIX + path, _server(path)
        except PermissionError:
            denied = path
        except OSError:
            continue
    if denied is not None:
        raise UserError(f"{denied} may not be used by this user: `sudo usermod -aG docker $USER`, then log in again")
    where = f"DOCKER_HOST={named}: no container engine answers there" if named else "no container engine answers"
    raise UserError(f"{where}: start Docker or Podman's socket, or set DOCKER_HOST")


def _server(path: str) -> str:
    """The `Server` header of an engine's answer over a Unix socket."""
    connection = http.client.HTTPConnection("localhost", timeout=_TIMEOUT)
    connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.sock.settimeout(_TIMEOUT)
        connection.sock.connect(path)
        connection.request("GET", "/version")
        return connection.getresponse().getheader("Server") or "an engine"
    except http.client.HTTPException as error:
        raise OSError(f"{path} does not speak HTTP") from error
    finally:
        connection.close()

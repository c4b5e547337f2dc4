"""Make a listening socket inside the network namespace of another process, and hand it back.

Run as a script (`python -I -S listen.py PID PORT`) whose standard input is a unix socket: it answers with the socket as
a descriptor, or with the error's number and text. The namespace is entered directly by whoever may, else through the
user namespace that owns it, which lets in the ordinary user that made it. Standard library only.
"""

import ctypes
import os
import socket
import sys

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_BACKLOG = 64


def _enter(pid: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    network, owner = (os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in ("net", "user"))
    if libc.setns(network, _CLONE_NEWNET) == 0:
        return
    if libc.setns(owner, _CLONE_NEWUSER) != 0 or libc.setns(network, _CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"its network cannot be entered: {os.strerror(number)}")


def _main(pid: int, port: int) -> None:
    with socket.socket(fileno=0) as answer:
        try:
            _enter(pid)
            with socket.create_server(("127.0.0.1", port), backlog=_BACKLOG) as listener:
                socket.send_fds(answer, [b"0"], [listener.fileno()])
        except OSError as error:
            answer.send(f"{error.errno} {error.strerror}".encode())


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]))

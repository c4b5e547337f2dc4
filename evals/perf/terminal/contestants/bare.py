"""The floor: what the same work costs without any isolation, time-outs, limits or reports.

`pipe`: one bash a episode, a command goes in over a pipe and its output comes out of a pipe. `subprocess`: a new
`bash -c` for each command, and nothing between commands.
"""

import os
import subprocess
from typing import Any

PACKAGES: list[str] = []


def make(kind: str, settings: dict[str, Any]) -> Any:
    """The contestant `kind`."""
    return {"pipe": Pipe, "subprocess": Subprocess}[kind]()


class Pipe:
    """A bash that reads commands from a pipe and ends each output with a NUL byte."""

    def start(self) -> "subprocess.Popen[bytes]":
        """A bash that has answered once."""
        bash = subprocess.Popen(
            ["/bin/bash", "--norc", "--noprofile"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
        )
        self.step(bash, ":")
        return bash

    def step(self, bash: "subprocess.Popen[bytes]", command: str) -> str:
        """Write the command, read until the NUL byte."""
        assert bash.stdin is not None
        assert bash.stdout is not None
        os.write(bash.stdin.fileno(), f"{command}\nprintf '\\0'\n".encode())
        output = bytearray()
        while not output.endswith(b"\0"):
            output += os.read(bash.stdout.fileno(), 1 << 16)
        return output[:-1].decode()

    def reset(self, bash: "subprocess.Popen[bytes]") -> "subprocess.Popen[bytes]":
        """Another bash; files stay."""
        self.stop(bash)
        return self.start()

    def stop(self, bash: "subprocess.Popen[bytes]") -> None:
        """Kill it."""
        bash.kill()
        bash.communicate()

    def containers(self) -> list[str]:
        """None."""
        return []


class Subprocess:
    """`subprocess.run` for each command; an episode is nothing at all."""

    def start(self) -> None:
        """Nothing to start."""

    def step(self, episode: None, command: str) -> str:
        """A new bash."""
        done = subprocess.run(
            ["/bin/bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        return done.stdout.decode()

    def reset(self, episode: None) -> None:
        """Nothing to reset; files stay."""

    def stop(self, episode: None) -> None:
        """Nothing to stop."""

    def containers(self) -> list[str]:
        """None."""
        return []

"""Take out of a shell's output what bash alone says there, of a stderr that is no terminal.

An interactive bash puts its terminal right whenever a signal has ended a command, and says so where it has none. Not
covered: the same line, printed by a command, goes too.
"""

import re

from claw_envs.sandbox.process.link import Sink

_BEGINS = b"bash: ["
_COMPLAINT = re.compile(rb"bash: \[\d+: \d+ \(\d+\)\] tcsetattr: [^\n]*\n")
_LONGEST = 160


class Hush:
    """Passes output on to `sink`, without complaints. What may become one is held until more comes, or `settle`."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._held = b""

    def feed(self, data: bytes) -> None:
        """Pass `data` on."""
        data = self._held + data
        if _BEGINS in data:
            data = _COMPLAINT.sub(b"", data)
        begun = data.rfind(_BEGINS, max(0, len(data) - _LONGEST))
        if begun < 0 or b"\n" in data[begun:]:
            begun = next((len(data) - n for n in range(len(_BEGINS), 0, -1) if data.endswith(_BEGINS[:n])), len(data))
        data, self._held = data[:begun], data[begun:]
        if data:
            self._sink(data)

    def settle(self) -> None:
        """Pass on what was held."""
        held, self._held = self._held, b""
        if held:
            self._sink(held)

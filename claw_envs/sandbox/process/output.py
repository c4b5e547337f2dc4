"""Keep the head and the tail of a command's output while it is read, so that a flood never fills memory.

Not covered: interleaving of stdout and stderr is whatever the kernel delivered.
"""


class Capture:
    """Bytes in, bounded text out.

    At most `limit` bytes of the output are kept: the first half and the last half. Between them at most
    `limit` further bytes are held for a moment.
    """

    def __init__(self, limit: int) -> None:
        self._head_limit = limit // 2
        self._tail_limit = limit - limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._missing = 0

    def feed(self, data: bytes) -> None:
        """Add `data` in the order in which it was read."""
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_limit:
            self._trim()

    def _trim(self) -> None:
        surplus = len(self._tail) - self._tail_limit
        if surplus > 0:
            self._missing += surplus
            del self._tail[:surplus]

    def take(self) -> tuple[str, int]:
        """The text so far and the number of bytes that are not in it; the capture is empty afterwards."""
        head, tail, missing = self.take_bytes()
        if not missing:
            return (head + tail).decode("utf-8", "replace"), 0
        marker = f"\n[... {missing} bytes of output omitted ...]\n"
        return head.decode("utf-8", "replace") + marker + tail.decode("utf-8", "replace"), missing

    def take_bytes(self) -> tuple[bytes, bytes, int]:
        """As `take`: head, tail, and the number of bytes that are missing between them."""
        self._trim()
        head, tail, missing = bytes(self._head), bytes(self._tail), self._missing
        self._head, self._tail, self._missing = bytearray(), bytearray(), 0
        return head, tail, missing

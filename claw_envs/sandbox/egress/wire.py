"""One side of a proxied connection: its streams, and h11 as the reader and writer of HTTP/1.1 on them.

h11 parses and serialises every message, so that nothing which the two sides could read differently passes through.
"""

import asyncio

import h11

IDLE_TIMEOUT = 300.0
_READ = 1 << 16
_MOST_HEAD = 1 << 15
"""Bytes of a request's or response's line and headers."""


class Wire:
    """A connection to the agent, which sends requests, or else to a host, which sends responses."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, agent: bool) -> None:
        self.http = h11.Connection(h11.SERVER if agent else h11.CLIENT, max_incomplete_event_size=_MOST_HEAD)
        self.idle: asyncio.Timeout | None = None
        """Put off by `IDLE_TIMEOUT` whenever something is read or written."""
        self._reader = reader
        self._writer = writer

    async def receive(self) -> h11.Event:
        """The next event of the other side.

        Raises:
            h11.RemoteProtocolError: if it breaks the protocol.
            OSError: if the connection is lost.
        """
        while True:
            event = self.http.next_event()
            if isinstance(event, h11.Event):
                return event
            self.http.receive_data(await self.read())

    async def send(self, event: h11.Event) -> None:
        """Send an event, and wait while the other side does not read."""
        await self.write(self.http.send(event) or b"")

    async def read(self) -> bytes:
        """Raw bytes; none at the end."""
        data = await self._reader.read(_READ)
        self._put_off()
        return data

    async def write(self, data: bytes) -> None:
        """Send raw bytes, and wait while the other side does not read."""
        self._writer.write(data)
        await self._writer.drain()
        self._put_off()

    def _put_off(self) -> None:
        if self.idle is not None:
            self.idle.reschedule(asyncio.get_running_loop().time() + IDLE_TIMEOUT)

    def write_end(self) -> None:
        """Say that nothing more will come."""
        self._writer.write_eof()

    def abort(self) -> None:
        """Close at once; nothing more is sent."""
        self._writer.transport.abort()

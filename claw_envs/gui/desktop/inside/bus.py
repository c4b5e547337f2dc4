"""The accessibility bus: many questions at once, each answered in time or not at all.

Applications are asked over D-Bus itself. A library that asks one thing after the other and waits for each answer would
take a thousand times as long, and would hang with an application that hangs.
"""

import time
from collections.abc import Sequence
from typing import Any

from gi.repository import Gio, GLib

from claw_envs.gui.desktop.inside.calls import ACCESSIBLE, PROPERTIES, REGISTRY, ROOT, Call, Ref

PATIENCE = 0.5
"""Seconds of silence after which whoever has not answered is not waited for."""
_CHECK_EVERY = 50
"""Milliseconds between two looks at the clock while nobody answers."""
_START_TIMEOUT = 20_000
"""Milliseconds that the bus gets to start."""


class Bus:
    """A connection to the accessibility bus of the session whose address is in the environment."""

    def __init__(self) -> None:
        session = Gio.bus_get_sync(Gio.BusType.SESSION, None)
        address = session.call_sync(
            "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None, 0, _START_TIMEOUT, None
        ).unpack()[0]
        for name in ("IsEnabled", "ScreenReaderEnabled"):  # some toolkits begin only where one of them is said
            on = GLib.Variant("(ssv)", ("org.a11y.Status", name, GLib.Variant("b", name == "IsEnabled")))
            session.call_sync("org.a11y.Bus", "/org/a11y/bus", PROPERTIES, "Set", on, None, 0, _START_TIMEOUT, None)
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self.connection: Any = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
        self.ask([Call(Ref(REGISTRY, ROOT), ACCESSIBLE, "GetChildren")], deadline=time.monotonic() + 10.0)

    def ask(self, calls: Sequence[Call], *, deadline: float) -> list[Any]:
        """What each call returns: a tuple; None where it failed or was not answered.

        All that are left are given up at `deadline`, or once nothing was answered for `PATIENCE`.
        """
        context = GLib.MainContext()
        context.push_thread_default()
        try:
            return self._ask(context, calls, deadline)
        finally:
            context.pop_thread_default()

    def _ask(self, context: Any, calls: Sequence[Call], deadline: float) -> list[Any]:
        answers: list[Any] = [None] * len(calls)
        left = len(calls)
        given_up, heard = Gio.Cancellable(), time.monotonic()

        def answered(connection: Any, result: Any, place: int) -> None:
            nonlocal left, heard
            left, heard = left - 1, time.monotonic()
            try:
                answers[place] = connection.call_finish(result).unpack()
            except GLib.Error:  # no such method, gone, or given up
                answers[place] = None

        for place, call in enumerate(calls):
            arguments = GLib.Variant(call.signature, call.arguments) if call.signature else None
            self.connection.call(
                call.to.bus, call.to.path, call.interface, call.method, arguments, None,
                Gio.DBusCallFlags.NO_AUTO_START, -1, given_up, answered, place,
            )  # fmt: skip

        def check(*_: object) -> bool:
            if time.monotonic() >= min(deadline, heard + PATIENCE):
                given_up.cancel()
            return True

        timer = GLib.timeout_source_new(_CHECK_EVERY)
        timer.set_callback(check)
        timer.attach(context)
        while left:
            context.iteration(True)
        timer.destroy()
        return answers

    def process_of(self, name: str, *, deadline: float) -> int:
        """Pid of the application of that name; 0 where it has gone."""
        daemon = Ref("org.freedesktop.DBus", "/org/freedesktop/DBus")
        call = Call(daemon, "org.freedesktop.DBus", "GetConnectionUnixProcessID", "(s)", (name,))
        (answer,) = self.ask([call], deadline=deadline)
        return int(answer[0]) if answer else 0

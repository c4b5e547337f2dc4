"""Applications that misbehave, and desktops that die."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from claw_envs.core.errors import InfrastructureError
from claw_envs.gui.acts import Click, Hotkey, Move, Type
from claw_envs.gui.desktop.client import Client
from claw_envs.gui.desktop.screen import DesktopScreen
from claw_envs.gui.screen import Parts
from tests.claw_envs.gui.desktop.running import find, has, task, until, value

OnDesktop = Callable[..., Any]
X_PROGRAM = """
import time
from Xlib import X, display
d = display.Display(); s = d.screen()
def window(number=0):
    w = s.root.create_window(0, 0, 300, 200, 0, s.root_depth, background_pixel=0xff0000)
    w.set_wm_name(f'window {number}'); w.map(); return w
"""
GRABS = """w = window(); d.sync(); time.sleep(0.3)
w.grab_pointer(False, X.ButtonPressMask, X.GrabModeAsync, X.GrabModeAsync, 0, 0, 0)
w.grab_keyboard(False, X.GrabModeAsync, X.GrabModeAsync, 0); d.sync(); time.sleep(600)
"""
FLOODS = """for n in range(200): window(n)
d.sync(); time.sleep(600)
"""
DRAWS = """w = window(); g = w.create_gc()
while True:
    g.change(foreground=int(time.time() * 1e6) & 0xffffff); w.fill_rectangle(g, 0, 0, 300, 200)
    d.sync(); time.sleep(0.005)
"""
INTRUDES = """
import ctypes, os, sys
found = {}
for pid in filter(str.isdigit, os.listdir('/proc')):
    words = open(f'/proc/{pid}/cmdline').read().split(chr(0))
    if 'claw_envs.gui.desktop.inside' in words:
        for name, flags in (('mem', os.O_RDWR), ('fd/0', os.O_WRONLY), ('fd/3', os.O_WRONLY), ('environ', 0)):
            try:
                os.open(f'/proc/{pid}/{name}', flags)
                found[name] = 'open'
            except OSError as error:
                found[name] = type(error).__name__
        found['ptrace'] = ctypes.CDLL(None).ptrace(16, int(pid), 0, 0)
print(sorted(found.items()))
"""
FULL = """from Xlib.protocol import event
w = window(); d.sync(); state, full = d.intern_atom('_NET_WM_STATE'), d.intern_atom('_NET_WM_STATE_FULLSCREEN')
m = event.ClientMessage(window=w, client_type=state, data=(32, [1, full, 0, 1, 0]))
s.root.send_event(m, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask); d.sync(); time.sleep(600)
"""


async def start(screen: DesktopScreen, program: str) -> None:
    """Run a program that speaks to the X server."""
    await screen.launch(["/usr/bin/python3", "-c", X_PROGRAM + program])


async def type_into_terminal(screen: DesktopScreen, text: str) -> None:
    await screen.launch("xterm")
    await until(screen, lambda view: "$" in value(view, "textbox"))
    await screen.do(Type(text=text), timeout=5)


def test_an_application_that_hangs_is_named_and_holds_nothing_up(on_namespace: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await screen.launch("mousepad")
        await until(screen, has("menuitem", "File"))
        await screen.launch("gnome-calculator")
        view = await until(screen, has("button", "="))
        await screen.execute(["pkill", "-STOP", "-x", "mousepad"])
        x, y, _, _ = find(view, "button", "=").box or (0, 0, 0, 0)
        assert await screen.do(Click(x=x + 5, y=y + 5), timeout=10) is None
        view = await screen.look(Parts())
        assert list(view.notes) == ["mousepad does not answer."]
        assert has("button", "=")(view)
        await screen.execute(["pkill", "-CONT", "-x", "mousepad"])
        view = await until(screen, has("menuitem", "File"))
        assert list(view.notes) == []

    on_namespace(body)


@pytest.mark.parametrize("program", [GRABS, FLOODS, DRAWS, FULL], ids=["grabs", "floods", "draws", "full"])
def test_an_application_that_takes_all_it_can_ends_no_episode(on_namespace: OnDesktop, program: str) -> None:
    async def body(screen: DesktopScreen) -> None:
        before = (await screen.look(Parts())).screenshot
        await start(screen, program)
        await until(screen, lambda view: view.panes)
        for act in (Move(x=20, y=30), Click(x=40, y=50), Type(text="abc"), Hotkey(keys=("alt", "tab"))):
            assert await screen.do(act, timeout=5) is None
        view = await screen.look(Parts())
        assert view.screenshot is not None
        assert before is not None
        assert not np.array_equal(view.screenshot, before)
        assert await screen.cursor_position() == (40, 50)

    on_namespace(body)


def test_a_window_manager_that_was_killed_comes_back(on_namespace: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await screen.launch("xterm")
        await until(screen, lambda view: view.panes, axtree=False)
        for _ in range(3):
            await screen.execute(["pkill", "-KILL", "-x", "openbox"])
            await until(screen, lambda view: [pane.active for pane in view.panes] == [True], axtree=False)
        await screen.launch("mousepad")
        await until(screen, lambda view: len(view.panes) == 2, axtree=False)

    on_namespace(body)


@pytest.mark.parametrize("victim", ["Xvfb", "dbus-daemon", "python3"])
def test_a_desktop_that_dies_is_ours_and_the_next_episode_has_another(on_desktop: OnDesktop, victim: str) -> None:
    async def body(screen: DesktopScreen) -> None:
        with pytest.raises(InfrastructureError, match="desktop is lost"):
            async with asyncio.timeout(30):
                await screen.execute(f"pkill -KILL -x {victim}; sleep 60", shell=True)
        with pytest.raises(InfrastructureError, match="lost"):
            await screen.look(Parts())
        await screen.open(task())
        assert (await screen.look(Parts())).screenshot is not None

    on_desktop(body)


def test_an_agent_that_stops_its_desktop_is_not_scored(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        client, command = screen._client, "pkill -STOP -f claw_envs.gui.desktop.inside"
        assert client is not None
        with pytest.raises(InfrastructureError, match="did not answer to execute"):
            await client.ask("execute", limit=5, command=command, shell=False, timeout=60)
        await screen.open(task())
        assert await screen.platform() == "Linux"

    on_desktop(body)


def test_an_agent_cannot_answer_for_its_desktop(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        said = await screen.execute(["/usr/bin/python3", "-c", INTRUDES])
        refused = [(name, "PermissionError") for name in ("environ", "fd/0", "fd/3", "mem")]
        assert said.output == f"{[*refused, ('ptrace', -1)]}\n", said.error

    on_desktop(body)


def test_a_sandbox_that_dies_is_ours(on_namespace: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        sandbox: Any = screen._lease.sandbox
        sandbox._holder.kill()
        with pytest.raises(InfrastructureError):
            async with asyncio.timeout(30):
                await screen.execute(["sleep", "60"])
        await screen.open(task())
        assert await screen.platform() == "Linux"

    on_namespace(body)


def test_processes_without_end_reach_their_limit_and_go_with_the_episode(on_namespace: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await type_into_terminal(screen, "f() { f | f & }; f\n")
        for _ in range(5):
            try:
                await screen.do(Move(x=10, y=10), timeout=5)
            except InfrastructureError:
                break
        await screen.open(task())
        assert list((await screen.look(Parts())).panes) == []
        assert (await screen.execute(["pgrep", "-c", "bash"])).output in ("0\n", "1\n")

    on_namespace(body)


def test_memory_without_end_costs_the_one_that_takes_it(on_namespace: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        ran = await screen.execute(["/usr/bin/python3", "-c", "x = [bytearray(1 << 20) for _ in range(8000)]"])
        assert ran.code in (1, 137)
        assert (await screen.look(Parts())).screenshot is not None

    on_namespace(body)


def test_a_request_that_is_not_waited_for_disturbs_none_after_it(on_namespace: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await screen.execute("sleep 2; echo late", shell=True)
        assert (await screen.execute("echo now", shell=True)).output == "now\n"
        several = await asyncio.gather(*(screen.execute(["echo", str(n)]) for n in range(20)))
        assert [ran.output for ran in several] == [f"{n}\n" for n in range(20)]

    on_namespace(body)


@pytest.mark.parametrize("nonsense", [b"\xff\xff\xff\xff", b"\0\0\0\2[]", b"\0\0\0\4none", b'\0\0\0\x0e{"size": 1e99}'])
def test_nonsense_from_inside_is_a_lost_desktop(on_namespace: OnDesktop, nonsense: bytes) -> None:
    async def body(screen: DesktopScreen) -> None:
        client = screen._client
        assert isinstance(client, Client)
        asking = asyncio.ensure_future(screen.execute(["sleep", "60"]))
        await asyncio.sleep(0)
        client._feed(nonsense)
        with pytest.raises(InfrastructureError, match="lost"):
            await asking

    on_namespace(body)

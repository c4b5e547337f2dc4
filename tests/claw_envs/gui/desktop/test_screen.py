"""A desktop that is opened, looked at and acted on, in every kind of sandbox."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.gui.acts import (
    Back,
    ButtonDown,
    ButtonUp,
    Click,
    ClickElement,
    Code,
    Drag,
    Fill,
    Goto,
    Hotkey,
    HoverElement,
    KeyDown,
    KeyUp,
    Move,
    ScreenAct,
    Scroll,
    Type,
    Wait,
)
from claw_envs.gui.desktop.screen import DesktopScreen
from claw_envs.gui.screen import Parts
from tests.claw_envs.gui.desktop.running import find, has, task, until, value

OnDesktop = Callable[..., Any]
TEXT = "Hello, World! [x] {y} \\ | ~ ^ ` @ #\näöüß € ñ ¿? 漢字 Ω≈ç 😀\n\tтекст"
EDITOR = ("textbox", "")


async def editor(screen: DesktopScreen) -> None:
    """Open the text editor, and wait until its text has the keyboard's focus."""
    await screen.launch("mousepad")
    await until(screen, lambda view: view.focused.endswith('textbox ""') and any(pane.active for pane in view.panes))


def test_a_fresh_desktop_is_empty_and_has_the_size_asked_for(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        view = await screen.look(Parts())
        assert view.screenshot is not None
        assert view.screenshot.shape == (600, 801, 3)
        assert view.screenshot.dtype == np.uint8
        assert (list(view.elements or ()), list(view.panes), view.focused, view.url) == ([], [], "", None)
        assert await screen.cursor_position() == (400, 300)
        assert await screen.platform() == "Linux"
        assert len(np.unique(view.screenshot.reshape(-1, 3), axis=0)) > 1, "the pointer is in the picture"
        assert (await screen.look(Parts(screenshot=False, axtree=False))).screenshot is None

    on_desktop(body, size=(801, 600))


def test_the_pointer_moves_and_is_drawn_where_it_is(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        for x, y in ((100, 100), (1279, 719), (0, 0)):
            assert await screen.do(Move(x=x, y=y), timeout=5) is None
            assert await screen.cursor_position() == (x, y)
        await screen.do(Move(x=100, y=100), timeout=5)
        one = (await screen.look(Parts(axtree=False))).screenshot
        await screen.do(Move(x=600, y=400), timeout=5)
        other = (await screen.look(Parts(axtree=False))).screenshot
        assert one is not None
        assert other is not None
        rows, columns = np.nonzero((one != other).any(axis=2))
        assert {(y < 150, x < 150) for y, x in zip(rows, columns, strict=True)} == {(True, True), (False, False)}

    on_desktop(body)


def test_any_text_is_typed_and_read_back(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await editor(screen)
        assert await screen.do(Type(text=TEXT), timeout=20) is None
        view = await until(screen, lambda view: value(view, *EDITOR) == TEXT)
        assert [pane.active for pane in view.panes] == [True]
        many = "".join(chr(0x4E00 + n) for n in range(150))  # more than there are keys for
        field = find(view, *EDITOR).id
        assert await screen.do(Fill(id=field, text=many), timeout=20) is None
        await until(screen, lambda view: value(view, *EDITOR) == many)
        assert await screen.do(Fill(id=field, text=""), timeout=20) is None
        await until(screen, lambda view: value(view, *EDITOR) == "")

    on_desktop(body)


def test_keys_are_pressed_held_and_let_go(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await editor(screen)
        for act in (Type(text="one two"), KeyDown(key="shift"), Hotkey(keys=("left",)), Hotkey(keys=("left",)),
                    KeyUp(key="shift"), Type(text="X"), Hotkey(keys=("ctrl", "home")), Type(text=">"),
                    Hotkey(keys=("ctrl", "shift", "end")), Hotkey(keys=("ctrl", "c")), Hotkey(keys=("end",)),
                    Hotkey(keys=("ctrl", "v"))):  # fmt: skip
            assert await screen.do(act, timeout=5) is None
        await until(screen, lambda view: value(view, *EDITOR) == ">one tXone tX")

    on_desktop(body)


def test_elements_are_clicked_by_their_names(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await screen.launch("gnome-calculator")
        view = await until(screen, has("button", "="))
        for name in ("7", "×", "6", "="):
            assert await screen.do(ClickElement(id=find(view, "button", name).id), timeout=5) is None
        view = await until(screen, lambda view: any(one.value == "42" for one in view.elements or ()))
        assert view.focused.endswith('textbox ""')
        assert await screen.do(HoverElement(id=find(view, "button", "7").id), timeout=5) is None
        box = find(view, "button", "7").box
        assert box is not None
        assert await screen.cursor_position() == (box[0] + box[2] // 2, box[1] + box[3] // 2)

    on_desktop(body)


def test_an_id_stays_with_its_element(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await editor(screen)
        before = await until(screen, has("menuitem", "File"))
        await screen.do(ClickElement(id=find(before, "menuitem", "File").id), timeout=5)
        opened = await until(screen, has("menuitem", "Save As..."))
        ids = {(one.role, one.name): one.id for one in before.elements or ()}
        again = {(one.role, one.name): one.id for one in opened.elements or ()}
        assert {key: again[key] for key in ids} == ids
        assert len({one.id for one in opened.elements or ()}) == len(opened.elements or ())
        await screen.do(Hotkey(keys=("esc",)), timeout=5)
        closed = await until(screen, lambda view: not has("menuitem", "Save As...")(view))
        gone = find(opened, "menuitem", "Save As...").id
        assert await screen.do(ClickElement(id=gone), timeout=5) == f"there is no element {gone} on the screen now"
        assert {(one.role, one.name): one.id for one in closed.elements or ()} == ids

    on_desktop(body)


def test_a_drag_selects_and_the_wheel_scrolls(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await editor(screen)
        await screen.do(Type(text="\n".join(f"line {n}" for n in range(100))), timeout=20)
        view = await until(screen, lambda view: value(view, *EDITOR).endswith("99"))
        x, y, width, height = find(view, *EDITOR).box or (0, 0, 0, 0)
        middle = {"x": x + width // 2, "y": y + height // 2}
        bottom = (await screen.look(Parts(axtree=False))).screenshot
        assert await screen.do(Scroll(dy=-100, **middle), timeout=5) is None
        top = (await screen.look(Parts(axtree=False))).screenshot
        assert not np.array_equal(bottom, top)
        assert await screen.do(Drag(x=x + width - 5, y=y + 40, from_x=x + 2, from_y=y + 8), timeout=5) is None
        await screen.do(Type(text="*"), timeout=5)
        await until(screen, lambda view: value(view, *EDITOR).startswith("*"))
        for act in (Click(x=x + 2, y=y + 8, count=3), Type(text="triple")):
            await screen.do(act, timeout=5)
        await until(screen, lambda view: value(view, *EDITOR).startswith("triple"))
        for by_hand in (Move(x=x + 2, y=y + 8), ButtonDown(), Move(x=x + width - 5, y=y + 8), ButtonUp()):
            await screen.do(by_hand, timeout=5)
        await screen.do(Type(text="held"), timeout=5)
        await until(screen, lambda view: value(view, *EDITOR).startswith("held"))

    on_desktop(body)


def test_pyautogui_code_acts_on_the_desktop(on_desktop: OnDesktop) -> None:
    code = "import pyautogui; import time; pyautogui.FAILSAFE = False; pyautogui.moveTo(30, 40)\nfor n in range(3):\n"
    code += "    pyautogui.write(f'{n} ')\npyautogui.hotkey('ctrl', 'home'); pyautogui.press('X')"

    async def body(screen: DesktopScreen) -> None:
        await editor(screen)
        assert await screen.do(Code(code=code), timeout=20) is None
        assert await screen.cursor_position() == (30, 40)
        await until(screen, lambda view: value(view, *EDITOR) == "X0 1 2 ")
        assert "line 1" in str(await screen.do(Code(code="import os; os.system('true')"), timeout=5))

    on_desktop(body)


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (Goto(url="http://example.com/"), "no browser"),
        (Back(), "no browser"),
        (Click(x=1280, y=10), "not on the screen"),
        (Drag(x=-1, y=10), "not on the screen"),
        (Hotkey(keys=("ctrl", "bogus")), "no key 'bogus'"),
        (Click(x=1, y=1, keys=("bogus",)), "no key 'bogus'"),
        (ClickElement(id="999"), "no element 999"),
        (Type(text="a\0b"), "no key"),
    ],
)
def test_what_cannot_be_done_is_told(on_namespace: OnDesktop, act: ScreenAct, reason: str) -> None:
    async def body(screen: DesktopScreen) -> None:
        assert reason in str(await screen.do(act, timeout=5))
        assert await screen.do(Wait(seconds=0.01), timeout=5) is None

    on_namespace(body)


def test_nothing_is_left_from_one_episode_to_the_next(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await screen.write_file("~/Desktop/mine.txt", b"secret")
        await screen.launch("xterm")
        await screen.do(KeyDown(key="shift"), timeout=5)
        await until(screen, lambda view: view.panes, axtree=False)
        await screen.open(task())
        view = await screen.look(Parts())
        assert (list(view.elements or ()), list(view.panes)) == ([], [])
        with pytest.raises(FileNotFoundError):
            await screen.read_file("~/Desktop/mine.txt")
        assert (await screen.execute("pgrep -c xterm", shell=True)).output == "0\n"
        await editor(screen)
        await screen.do(Type(text="small"), timeout=5)
        await until(screen, lambda view: value(view, *EDITOR) == "small")

    on_desktop(body)


def test_nothing_of_the_hosts_is_in_it(on_desktop: OnDesktop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setenv("SECRET_OF_THE_HOST", "1")

    async def body(screen: DesktopScreen) -> None:
        said = (await screen.execute("env; ls /home; cat /proc/net/dev; ps -e -o comm=", shell=True)).output
        assert "SECRET_OF_THE_HOST" not in said
        assert "DISPLAY=:99" not in said
        assert "eth0" not in said
        assert "pytest" not in said
        listening = await screen.execute("cat /proc/net/tcp /proc/net/tcp6", shell=True)
        assert [line for line in listening.output.splitlines() if " 0A " in line] == []

    on_desktop(body)


def test_two_desktops_know_nothing_of_each_other(backend: str) -> None:
    async def main() -> None:
        screens = [DesktopScreen(sandbox=backend, size=(640, 480 + n)) for n in range(2)]
        try:
            await asyncio.gather(*(screen.open(task()) for screen in screens))
            await screens[0].launch("xterm")
            await until(screens[0], lambda view: view.panes, axtree=False)
            await screens[1].do(Move(x=1, y=2), timeout=5)
            views = await asyncio.gather(*(screen.look(Parts()) for screen in screens))
            assert [len(view.panes) for view in views] == [1, 0]
            assert [view.screenshot.shape[0] for view in views if view.screenshot is not None] == [480, 481]
            assert await screens[0].cursor_position() == (320, 240)
        finally:
            await asyncio.gather(*(screen.close() for screen in screens))

    asyncio.run(main())


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"size": (1280,)}, "size must be"),
        ({"size": (1280, 100)}, "size must be"),
        ({"size": (1280, 100_000)}, "size must be"),
        ({"sandbox": "local"}, "'namespace' or 'docker'"),
    ],
)
def test_arguments_are_checked(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        DesktopScreen(**options)


def test_a_desktop_that_is_not_open_is_ours(on_namespace: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await screen.close()
        await screen.close()
        with pytest.raises(InfrastructureError, match="not open"):
            await screen.look(Parts())

    on_namespace(body)


def test_a_host_without_the_programs_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claw_envs.gui.desktop.machine._PACKAGES", {"no-such-program": "no-such-package"})

    async def main() -> None:
        screen = DesktopScreen()
        with pytest.raises(UserError, match="apt-get install no-such-package"):
            await screen.open(task())
        await screen.close()

    asyncio.run(main())

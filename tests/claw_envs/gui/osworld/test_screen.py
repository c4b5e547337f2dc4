"""`OsworldScreen` on a live server: both action spaces, looks, and everything that set-up and evaluation reach."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from claw_envs.core.task import Task
from claw_envs.gui import acts
from claw_envs.gui.osworld.screen import OsworldScreen
from claw_envs.gui.screen import Element, Parts
from tests.claw_envs.gui.osworld.serving import NO_EDITOR, SIZE, Served

Body = Callable[[OsworldScreen], Awaitable[None]]


@pytest.fixture
def on_screen(served: Served, make_task: Callable[..., Task]) -> Callable[[Body], None]:
    """`on_screen(body)`: run `await body(screen)` with an editor open on an empty note."""

    def run(body: Body) -> None:
        async def main() -> None:
            screen = OsworldScreen([served.url])
            await screen.open(make_task())
            try:
                await screen.execute(f"{NO_EDITOR}; rm -f ~/note.txt; touch ~/note.txt", shell=True)
                await screen.open_path("~/note.txt")
                await body(screen)
            finally:
                await screen.execute(["pkill", "mousepad"])
                await screen.close()

        asyncio.run(main())

    return run


async def note(screen: OsworldScreen) -> str:
    assert await screen.do(acts.Hotkey(("ctrl", "s")), timeout=10) is None
    return (await screen.read_file("~/note.txt")).decode()


async def find(screen: OsworldScreen, role: str, name: str = "") -> Element:
    """The element, once the application shows it."""
    async with asyncio.timeout(30):
        while True:
            view = await screen.look(Parts(screenshot=False))
            assert view.elements is not None
            for each in view.elements:
                if each.role == role and name in each.name:
                    return each


def test_a_look(on_screen: Callable[[Body], None]) -> None:
    async def body(screen: OsworldScreen) -> None:
        view = await screen.look(Parts())
        assert view.screenshot is not None
        assert (view.screenshot.shape, view.screenshot.dtype) == ((SIZE[1], SIZE[0], 3), "uint8")
        assert screen.size == SIZE
        assert [pane.title for pane in view.panes if pane.active] == ["/tmp/home/note.txt - Mousepad"]
        assert "textbox" in view.focused
        again = await screen.look(Parts())
        assert view.elements
        assert again.elements
        ids = {(each.role, each.name): each.id for each in view.elements}
        assert ids == {(each.role, each.name): each.id for each in again.elements}
        nothing = await screen.look(Parts(screenshot=False, axtree=False))
        assert (nothing.screenshot, nothing.elements, nothing.focused) == (None, None, "")

    on_screen(body)


def test_acts(on_screen: Callable[[Body], None]) -> None:
    async def body(screen: OsworldScreen) -> None:
        assert await screen.do(acts.Type("a <tag> é\nline"), timeout=10) is None
        assert (await note(screen)).strip() == "a <tag> é\nline"
        box = (await find(screen, "textbox")).box
        assert box is not None
        assert await screen.do(acts.Click(box[0] + 5, box[1] + 5, count=3), timeout=10) is None
        assert await screen.do(acts.Type("first"), timeout=10) is None
        assert (await note(screen)).startswith("first")
        for act in (
            acts.Move(10, 10),
            acts.ButtonDown(),
            acts.ButtonUp(),
            acts.Drag(60, 60, 40, 40),
            acts.Scroll(dy=2, x=300, y=300),
            acts.Scroll(dx=-1),
            acts.KeyDown("shift"),
            acts.KeyUp("shift"),
            acts.Wait(0.01),
        ):
            assert await screen.do(act, timeout=10) is None, act
        assert await screen.cursor_position() == (300, 300)

    on_screen(body)


def test_acts_on_elements(on_screen: Callable[[Body], None]) -> None:
    async def body(screen: OsworldScreen) -> None:
        field = await find(screen, "textbox")
        assert await screen.do(acts.Fill(field.id, "filled"), timeout=10) is None
        assert await screen.do(acts.Fill(field.id, "filled anew"), timeout=10) is None
        assert (await note(screen)).strip() == "filled anew"
        assert await screen.do(acts.ClickElement((await find(screen, "menuitem", "Edit")).id), timeout=10) is None
        assert await find(screen, "menuitem", "Undo")
        assert await screen.do(acts.Hotkey(("escape",)), timeout=10) is None
        assert await screen.do(acts.HoverElement(field.id), timeout=10) is None
        assert await screen.do(acts.ScrollElement(field.id, dy=1), timeout=10) is None

    on_screen(body)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (acts.Click(5000, 3), "not on the screen"),
        (acts.ClickElement("9999"), "no element 9999"),
        (acts.Choose("1", ("x",)), "cannot choose by name"),
        (acts.Goto("http://example.org"), "no browser"),
        (acts.Hotkey(("nosuchkey",)), "nosuchkey"),
        (acts.Code("import os; os.remove('x')"), "import"),
        (acts.Code("import time; time.sleep(100)"), "seconds"),
        (acts.Code("pyautogui.click("), "("),
    ],
)
def test_what_cannot_be_done_is_told(act: Any, said: str, on_screen: Callable[[Body], None]) -> None:
    async def body(screen: OsworldScreen) -> None:
        await screen.look(Parts())
        assert said in str(await screen.do(act, timeout=0.5))
        assert await screen.platform() == "Linux"

    on_screen(body)


def test_code(on_screen: Callable[[Body], None]) -> None:
    async def body(screen: OsworldScreen) -> None:
        code = "import pyautogui\nfor n in range(3):\n    pyautogui.write(f'{n} ')\npyautogui.hotkey('ctrl', 's')"
        assert await screen.do(acts.Code(code), timeout=10) is None
        assert (await screen.read_file("~/note.txt")).decode().strip() == "0 1 2"

    on_screen(body)


def test_what_set_up_and_evaluation_reach(on_screen: Callable[[Body], None]) -> None:
    async def body(screen: OsworldScreen) -> None:
        assert await screen.execute(["sh", "-c", "echo a; echo b >&2; exit 4"]) == ("a\n", "b\n", 4)
        await screen.write_file("~/deep/er/f", b"\0data")
        assert await screen.read_file("~/deep/er/f") == b"\0data"
        listed = await screen.list_directory("/tmp/home/deep")
        assert listed is not None
        assert listed["children"][0]["children"] == [{"type": "file", "name": "f"}]
        assert await screen.list_directory("/no/such") is None
        assert "desktop-frame" in await screen.accessibility()
        await screen.activate_window("note.txt")
        assert await screen.terminal_output() is None
        size = await screen.window_size("mousepad")
        assert size is not None
        assert size[0] > 100
        assert await screen.window_size("no-such-class") is None
        assert (await screen.wallpaper())[:4] == b"\x89PNG"
        await screen.close_window("note.txt")

    on_screen(body)


def test_what_a_machine_refuses_is_an_oserror(on_screen: Callable[[Body], None]) -> None:
    async def body(screen: OsworldScreen) -> None:
        with pytest.raises(FileNotFoundError):
            await screen.read_file("/no/such/file")
        with pytest.raises(OSError, match="regular"):
            await screen.read_file("/tmp")
        for refused in (
            screen.execute(["no-such-program"]),
            screen.launch(["no-such-program"]),
            screen.write_file("/proc/x/y", b""),
            screen.activate_window("no such window"),
            screen.close_window("no such window"),
            screen.open_path("/no/such/file"),
            screen.change_wallpaper("/no/such/file"),
        ):
            with pytest.raises(OSError, match=r"\S"):
                await refused

    on_screen(body)


def test_a_terminal(on_screen: Callable[[Body], None]) -> None:
    async def body(screen: OsworldScreen) -> None:
        await screen.launch(["xterm", "-title", "shows", "-e", "sh", "-c", "echo seen; exec sleep 1000"])
        view = await screen.look(Parts(screenshot=False, axtree=False))
        async with asyncio.timeout(60):
            while [pane.title for pane in view.panes if pane.active] != ["shows"]:
                view = await screen.look(Parts(screenshot=False, axtree=False))
            while "seen" not in str(await screen.terminal_output()):
                pass
        await screen.close_window("shows")

    on_screen(body)

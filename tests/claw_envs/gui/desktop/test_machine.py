"""What set-up and evaluation do on a desktop: commands, files, windows, the tree as OSWorld has it."""

import io
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

from claw_envs.gui.acts import Hotkey, Type
from claw_envs.gui.desktop.inside.xml import NAMESPACES
from claw_envs.gui.desktop.screen import DesktopScreen
from claw_envs.gui.screen import Parts, Ran
from tests.claw_envs.gui.desktop.running import find, has, until, value

OnDesktop = Callable[..., Any]
BIG = bytes(range(256)) * 40_000


def test_commands_run_to_their_ends(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        assert await screen.execute(["printf", "%s|", "a b", "c"]) == Ran("a b|c|", "", 0)
        assert await screen.execute("printf '%s|' 'a b' c") == Ran("a b|c|", "", 0)
        assert await screen.execute("echo out; echo err >&2; exit 3", shell=True) == Ran("out\n", "err\n", 3)
        assert await screen.execute("kill -9 $$", shell=True) == Ran("", "", 137)
        assert (await screen.execute("no-such-program")).code == 127
        assert (await screen.execute("pwd")).output == "/home/agent\n"
        assert (await screen.execute("printenv PYTHONPATH")).output == "", "the agent could put modules there"
        assert len((await screen.execute("yes | head -c 5000000", shell=True)).output) == 1 << 20
        background = await screen.execute("sleep 300 & echo started", shell=True)
        assert background == Ran("started\n", "", 0)
        with pytest.raises(OSError, match=r"longer than 0\.2 s"):
            await screen.execute("sleep 300", timeout=0.2)
        assert (await screen.execute("pgrep -x sleep")).output == "", "what a command leaves in its group is killed"

    on_desktop(body)


def test_programs_that_are_launched_stay(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await screen.launch(["xterm", "-title", "first one", "-e", "cat"])
        await screen.launch("exec xterm -title second -e cat", shell=True)
        titles = {"first one", "second"}
        await until(screen, lambda view: {pane.title for pane in view.panes} == titles, axtree=False)
        with pytest.raises(OSError, match="no-such-program"):
            await screen.launch("no-such-program")

    on_desktop(body)


def test_files_come_back_as_they_were_written(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await screen.write_file("/home/agent/a folder/big.bin", BIG)
        assert await screen.read_file("~/a folder/big.bin") == BIG
        await screen.write_file("~/a folder/deeper/empty", b"")
        assert await screen.read_file("a folder/deeper/empty") == b""
        assert await screen.list_directory("~/a folder") == {
            "type": "directory",
            "name": "a folder",
            "children": [
                {"type": "file", "name": "big.bin"},
                {"type": "directory", "name": "deeper", "children": [{"type": "file", "name": "empty"}]},
            ],
        }
        assert await screen.list_directory("/nowhere") is None
        assert await screen.list_directory("~/a folder/big.bin") is None
        for missing in ("/nowhere", "~/a folder/big.bin/x"):
            with pytest.raises(FileNotFoundError):
                await screen.read_file(missing)
        with pytest.raises(OSError, match="not a regular file"):
            await screen.read_file("/dev/zero")
        with pytest.raises(OSError, match=r"(?i)denied|read-only"):
            await screen.write_file("/usr/bin/ls", b"")

    on_desktop(body)


def test_windows_are_found_brought_forward_and_closed(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        for name in ("alpha", "beta"):
            await screen.launch(["xterm", "-T", name, "-geometry", "40x10", "-class", f"Of{name}", "-e", "cat"])
            await until(screen, lambda view, name=name: any(p.title == name and p.active for p in view.panes))
        await screen.activate_window("ALPH")
        await until(screen, lambda view: [pane.active for pane in view.panes] == [True, False], axtree=False)
        await screen.activate_window("xterm.Ofbeta", strict=True, by_class=True)
        await until(screen, lambda view: [pane.active for pane in view.panes] == [False, True], axtree=False)
        size = await screen.window_size("Ofalpha")
        assert size is not None
        assert size[0] > size[1] > 50
        assert await screen.window_size("nothing") is None
        await screen.close_window("beta", strict=True)
        await until(screen, lambda view: [pane.title for pane in view.panes] == ["alpha"], axtree=False)
        for strict in (True, False):
            with pytest.raises(OSError, match="no window 'alp-'"):
                await screen.activate_window("alp-", strict=strict)

    on_desktop(body)


def test_a_terminals_text_is_read(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        assert await screen.terminal_output() is None
        await screen.launch("xterm")
        await until(screen, lambda view: "$" in value(view, "textbox"))
        await screen.do(Type(text="echo $((6*7)) ü; seq 100\n"), timeout=10)
        view = await until(screen, lambda view: "\n100\n" in value(view, "textbox"))
        said = await screen.terminal_output()
        assert said is not None
        assert "\n42 ü\n1\n2\n" in said
        assert view.focused.endswith('textbox ""')

    on_desktop(body)


def test_the_tree_is_given_as_osworld_has_it(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await screen.launch("mousepad")
        await until(screen, has("menuitem", "File"))
        await screen.do(Type(text="some <text>"), timeout=5)
        await until(screen, lambda view: value(view, "textbox") == "some <text>")
        top = ET.fromstring(await screen.accessibility())
        assert top.tag == "desktop-frame"
        (application,) = top.findall("application")
        assert application.get("name") == "mousepad"
        (menu,) = (found for found in top.iter("menu") if found.get("name") == "File")
        state, component = NAMESPACES["st"], NAMESPACES["cp"]
        assert menu.get(f"{{{state}}}showing") == "true"
        box = find(await screen.look(Parts(screenshot=False)), "menuitem", "File").box
        assert box is not None
        assert menu.get(f"{{{component}}}screencoord") == str((box[0], box[1]))
        assert menu.get(f"{{{component}}}size") == str((box[2], box[3]))
        assert [found.text for found in top.iter("text")] == ["some <text>"]

    on_desktop(body)


def test_files_are_opened_by_what_they_are(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await screen.write_file("~/Documents/note.txt", b"a note")
        await screen.open_path("~/Documents/note.txt")
        await until(screen, lambda view: value(view, "textbox") == "a note")
        await screen.open_path("~/Documents")
        await until(screen, lambda view: "Documents" in [pane.title for pane in view.panes])
        with pytest.raises(OSError, match="no /nowhere"):
            await screen.open_path("/nowhere")

    on_desktop(body)


def test_the_background_is_an_image(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        with Image.open(io.BytesIO(await screen.wallpaper())) as before:
            assert before.size == (1280, 720)
        made = io.BytesIO()
        Image.new("RGB", (64, 36), (200, 30, 40)).save(made, "PNG")
        await screen.write_file("~/Pictures/red.png", made.getvalue())
        await screen.change_wallpaper("~/Pictures/red.png")
        assert await screen.wallpaper() == made.getvalue()
        picture = (await screen.look(Parts(axtree=False))).screenshot
        assert picture is not None
        assert picture[5, 5].tolist() == picture[700, 1200].tolist() == [200, 30, 40]
        await screen.write_file("~/Pictures/no.png", b"none")
        with pytest.raises(OSError, match="cannot identify image"):
            await screen.change_wallpaper("~/Pictures/no.png")

    on_desktop(body)


def test_a_spreadsheet_shows_its_cells_and_nothing_asks_questions(on_desktop: OnDesktop) -> None:
    async def body(screen: DesktopScreen) -> None:
        await screen.launch(["libreoffice", "--calc"])
        await until(screen, lambda view: [pane.title for pane in view.panes] == ["Untitled 1 - LibreOffice Calc"])
        view = await until(screen, has("gridcell", "A1"))
        assert sum(one.role == "gridcell" for one in view.elements or ()) < 20
        await screen.do(Type(text="Name\tPrice\nLamp\t12\nDesk\t=B2*2.5\n"), timeout=10)
        view = await until(screen, lambda view: value(view, "gridcell", "B3") == "30")
        assert value(view, "gridcell", "A2") == "Lamp"
        ids = {one.name: one.id for one in view.elements or () if one.role == "gridcell"}
        again = await screen.look(Parts(screenshot=False))
        assert {one.name: one.id for one in again.elements or () if one.role == "gridcell"} == ids
        cell, bar = find(view, "gridcell", "A1").box, find(view, "menuitem", "File").box
        assert cell is not None
        assert bar is not None
        assert 150 < cell[1] - bar[1] < 200, "below menu bar, tool bars and formula"
        await screen.do(Hotkey(keys=("ctrl", "q")), timeout=10)
        await until(screen, lambda view: len(view.panes) == 2 or has("button", "Don't Save")(view))

    on_desktop(body)

"""Fields, lists and tables of a GTK application, thousands of rows long."""

from collections.abc import Callable
from typing import Any

import pytest

from claw_envs.gui.acts import Choose, ClickElement, DragElement, Fill, ScrollElement
from claw_envs.gui.desktop.screen import DesktopScreen
from claw_envs.gui.screen import View
from tests.claw_envs.gui.desktop.running import find, until, value

FORM = """
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window, box = Gtk.Window(title="Form"), Gtk.VBox()
window.add(box)
def labelled(text, widget):
    label = Gtk.Label(label=text, use_underline=True)
    label.set_mnemonic_widget(widget)
    box.add(label)
    box.add(widget)
def scrolled(widget):
    pane = Gtk.ScrolledWindow()
    pane.set_size_request(250, 150)
    pane.add(widget)
    box.add(pane)
sizes = Gtk.ComboBoxText()
for size in ("Small", "Medium", "Large"):
    sizes.append_text(size)
sizes.set_active(0)
labelled("_Size:", sizes)
labelled("_Name:", Gtk.Entry(text="before"))
box.add(Gtk.CheckButton(label="Urgent"))
scale = Gtk.Scale.new_with_range(0, 0, 10, 1)
box.add(scale)
rows = Gtk.ListBox()
for n in range(1000):
    rows.add(Gtk.Label(label=f"row {n}"))
scrolled(rows)
store = Gtk.ListStore(str, int)
for n in range(5000):
    store.append([f"item {n}", n * n])
table = Gtk.TreeView(model=store)
for n, title in enumerate(("Item", "Square")):
    table.append_column(Gtk.TreeViewColumn(title, Gtk.CellRendererText(), text=n))
scrolled(table)
window.show_all()
window.connect("destroy", Gtk.main_quit)
Gtk.main()
"""


def cells(view: View) -> list[str]:
    return [element.name for element in view.elements or () if element.role == "gridcell"]


def test_fields_are_filled_chosen_and_checked_and_long_lists_show_what_can_be_seen(
    on_desktop: Callable[..., Any],
) -> None:
    async def body(screen: DesktopScreen) -> None:
        if (await screen.execute(["/usr/bin/python3", "-c", "import gi; gi.require_version('Gtk', '3.0')"])).code:
            pytest.skip("needs gir1.2-gtk-3.0")
        await screen.write_file("~/form.py", FORM.encode())
        await screen.launch(["/usr/bin/python3", "/home/agent/form.py"])
        view = await until(screen, lambda view: "item 0" in cells(view) and any(pane.active for pane in view.panes))
        assert len(view.elements or ()) < 60
        assert value(view, "combobox", "Size") == "Small"
        assert value(view, "textbox", "Name") == "before"
        size, name = find(view, "combobox", "Size").id, find(view, "textbox", "Name").id
        assert await screen.do(Choose(id=size, options=("Large",)), timeout=10) is None
        said = await screen.do(Choose(id=size, options=("Huge",)), timeout=10)
        assert said == f"element {size} has no option 'Huge' that can be chosen; it has 'Small', 'Medium', 'Large'"
        assert await screen.do(Fill(id=name, text="Ada Ü."), timeout=10) is None
        urgent = find(view, "checkbox", "Urgent").id
        assert "holds no text" in str(await screen.do(Fill(id=urgent, text="x"), timeout=10))
        assert await screen.do(ClickElement(id=urgent), timeout=10) is None
        await until(screen, lambda view: value(view, "textbox", "Name") == "Ada Ü.")
        view = await until(screen, lambda view: "checked" in find(view, "checkbox", "Urgent").states)
        assert value(view, "combobox", "Size") == "Large"
        rows = [element.name for element in view.elements or () if element.role == "option"]
        assert rows == [f"row {n}" for n in range(len(rows))]
        assert 3 < len(rows) < 12
        grid = next(element for element in view.elements or () if element.role == "grid")
        assert await screen.do(ScrollElement(id=grid.id, dy=20), timeout=10) is None
        view = await until(screen, lambda view: cells(view) and "item 0" not in cells(view))
        first = int(cells(view)[0].removeprefix("item "))
        assert cells(view)[:4] == [f"item {first}", str(first**2), f"item {first + 1}", str((first + 1) ** 2)]
        assert await screen.do(ClickElement(id=find(view, "gridcell", f"item {first + 1}").id), timeout=10) is None
        await until(screen, lambda view: "selected" in find(view, "gridcell", f"item {first + 1}").states)
        slider = next(element for element in view.elements or () if element.role == "slider")
        assert await screen.do(DragElement(id=slider.id, onto=urgent), timeout=10) is None

    on_desktop(body)

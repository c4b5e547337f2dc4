"""Acts on a tab: the pointer's and those on elements; `keyboard` and `navigation` have the others.

A notch of the wheel is 100 pixels. Keys that a browser keeps for itself (`f5`, `alt left`, `ctrl t`, …) do what they do
in one.

Not covered: `Code`, pens and touch, and the list of a `<select>`, which chromium draws outside of the page: `Choose`
does that.
"""

from typing import TYPE_CHECKING

import msgspec

from claw_envs.gui import acts
from claw_envs.gui.acts import ScreenAct
from claw_envs.gui.browser import navigation
from claw_envs.gui.browser.elements import ask, spot
from claw_envs.gui.browser.keyboard import hold, names_of, press, release
from claw_envs.gui.browser.session import Session
from claw_envs.gui.browser.tab import HUNG_AFTER, deadline

if TYPE_CHECKING:
    from playwright.async_api import Mouse

_NOTCH = 100.0
_KEY_TIMEOUT = 0.1
"""Seconds for a character, beside what any act has."""
_DRAG_STEPS = 8
_SHORTCUTS: dict[tuple[str, ...], ScreenAct] = {
    ("f5",): acts.Reload(),
    ("ctrl", "r"): acts.Reload(),
    ("alt", "left"): acts.Back(),
    ("alt", "right"): acts.Forward(),
    ("ctrl", "t"): acts.NewTab(),
    ("ctrl", "w"): acts.CloseTab(),
}


async def perform(session: Session, act: ScreenAct) -> str | None:
    """Carry `act` out; what was wrong with it, in a sentence.

    Raises:
        HungError: if the page does not answer.
    """
    if isinstance(act, acts.Hotkey):
        act = _SHORTCUTS.get(tuple(key.lower() for key in act.keys), act)
    if isinstance(act, acts.BrowserAct):
        return await navigation.navigate(session, act)
    if isinstance(act, acts.Code):
        return "a browser carries out no code"
    typed = len(act.text) if isinstance(act, acts.Type) else 0
    async with deadline(HUNG_AFTER + typed * _KEY_TIMEOUT):
        if isinstance(act, acts.PointerAct):
            return await _point(session, act)
        if isinstance(act, acts.KeyboardAct):
            return await press(session, act)
        if isinstance(act, acts.ElementAct):
            return await _on_element(session, act)
    return None


# --- pointer --------------------------------------------------------------------------------------------------------


async def _point(session: Session, act: acts.PointerAct) -> str | None:
    mouse = session.tab.page.mouse
    match _on_page(act, session.scale):
        case acts.Move(x, y):
            await _move(session, x, y)
        case acts.Click(x, y, button, count, keys):
            return await _click(session, x, y, button=button, count=count, keys=keys)
        case acts.ButtonDown(button):
            await mouse.down(button=button)
        case acts.ButtonUp(button):
            await mouse.up(button=button)
        case acts.Drag(x, y, from_x, from_y, button):
            start = session.pointer if from_x is None or from_y is None else (from_x, from_y)
            await _drag(session, start, (x, y), button=button)
        case acts.Scroll(dx, dy, x, y):
            if x is not None and y is not None:
                await _move(session, x, y)
            await _wheel(session, dx, dy)
    return None


def _on_page(act: acts.PointerAct, scale: float) -> acts.PointerAct:
    """`act` with its points in pixels of the page."""
    names = [name for name in ("x", "y", "from_x", "from_y") if getattr(act, name, None) is not None]
    return msgspec.structs.replace(act, **{name: getattr(act, name) / scale for name in names})


async def _move(session: Session, x: float, y: float, *, steps: int = 1) -> None:
    await session.tab.page.mouse.move(x, y, steps=steps)
    session.pointer = (x, y)


async def _click(
    session: Session, x: float | None, y: float | None, *, button: acts.Button, count: int, keys: tuple[str, ...]
) -> str | None:
    names, unknown = names_of(keys)
    if unknown:
        return unknown
    page = session.tab.page
    if x is not None and y is not None:
        session.pointer = (x, y)
    else:
        x, y = session.pointer
    await hold(page.keyboard, names)
    try:
        await page.mouse.click(x, y, button=button, click_count=count)
    finally:
        await release(page.keyboard, names)
    return None


async def _drag(
    session: Session, start: tuple[float, float], end: tuple[float, float], *, button: acts.Button = "left"
) -> None:
    mouse: Mouse = session.tab.page.mouse
    await _move(session, *start)
    await mouse.down(button=button)
    await _move(session, *end, steps=_DRAG_STEPS)
    await mouse.up(button=button)


# --- elements -------------------------------------------------------------------------------------------------------


async def _on_element(session: Session, act: acts.ElementAct) -> str | None:
    if isinstance(act, acts.Fill):
        return await _fill(session, act.id, act.text)
    if isinstance(act, acts.Choose):
        return await _choose(session, act)
    place = await spot(session.tab, act.id)
    if "error" in place:
        return str(place["error"])
    x, y = place["x"], place["y"]
    match act:
        case acts.ClickElement():
            return await _click(session, x, y, button=act.button, count=act.count, keys=act.keys)
        case acts.HoverElement():
            await _move(session, x, y)
        case acts.ScrollElement():
            await _move(session, x, y)
            await _wheel(session, act.dx, act.dy)
        case acts.DragElement():
            end = await spot(session.tab, act.onto)
            start = await spot(session.tab, act.id)
            for found in (end, start):
                if "error" in found:
                    return str(found["error"])
            await _drag(session, (start["x"], start["y"]), (end["x"], end["y"]))
    return None


async def _wheel(session: Session, dx: float, dy: float) -> None:
    await session.tab.page.mouse.wheel(dx * _NOTCH, dy * _NOTCH)
    await session.tab.call("scrolled")


async def _fill(session: Session, id: str, text: str) -> str | None:
    ready = await ask(session.tab, "fill", id, text)
    if "error" in ready:
        return str(ready["error"])
    keyboard = session.tab.page.keyboard
    if ready.get("typed") and text:
        await keyboard.insert_text(text)
    elif ready.get("typed") and not ready["empty"]:
        await keyboard.press("Delete")
    return None


async def _choose(session: Session, act: acts.Choose) -> str | None:
    if not act.options:
        return "no option is named"
    chosen = await ask(session.tab, "choose", act.id, list(act.options))
    if "error" in chosen:
        return str(chosen["error"])
    if "fill" in chosen:
        return await _fill(session, act.id, str(chosen["fill"]))
    for id in chosen.get("click", []):
        error = await _on_element(session, acts.ClickElement(id))
        if error:
            return error
    return None

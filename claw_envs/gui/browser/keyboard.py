"""The keyboard of a tab, and a clipboard that no other episode shares.

Text arrives as single keys up to a length, and as one input beyond. Chromium has one clipboard for all its contexts, so
`clipboard.js` keeps copies from it, and a paste is made here.

Not covered: what is on the clipboard but plain text, and `navigator.clipboard`, which pages may not read.
"""

from typing import TYPE_CHECKING

from claw_envs.gui import acts
from claw_envs.gui.browser.keys import playwright_key
from claw_envs.gui.browser.session import Session
from claw_envs.gui.browser.tab import Tab
from claw_envs.gui.browser.worlds import Inner

if TYPE_CHECKING:
    from playwright.async_api import Keyboard

_TYPED_AS_KEYS = 300
_PASTES_WITH = {"Control", "Shift", "Meta"}


async def press(session: Session, act: acts.KeyboardAct) -> str | None:
    """Carry `act` out; what was wrong with it, in a sentence."""
    keys = act.keys if isinstance(act, acts.Hotkey) else () if isinstance(act, acts.Type) else (act.key,)
    names, unknown = names_of(keys)
    if unknown:
        return unknown
    may_paste = bool(_PASTES_WITH & {*session.held, *names})
    frames = await _listening(session.tab, None) if may_paste else []
    await _send(session, act, names)
    for frame in frames:
        if await session.tab.call("paste", session.clipboard, frame=frame):
            await session.tab.page.keyboard.insert_text(session.clipboard)
    return None


async def _listening(tab: Tab, home: Inner | None) -> list[str | None]:
    """The frames in which chromium's own clipboard is kept out now: that of `home`, and those within."""
    frames: list[str | None] = [home.frame if home else None]
    for element in await tab.call("listen", frame=frames[0]):
        inner = await tab.inner(element, home)
        if inner is not None:
            frames += await _listening(tab, inner)
    return frames


async def _send(session: Session, act: acts.KeyboardAct, names: list[str]) -> None:
    keyboard = session.tab.page.keyboard
    match act:
        case acts.Type(text):
            text = text.replace("\r\n", "\n")
            await keyboard.type(text[:_TYPED_AS_KEYS])
            if len(text) > _TYPED_AS_KEYS:
                await keyboard.insert_text(text[_TYPED_AS_KEYS:])
        case acts.Hotkey():
            await hold(keyboard, names)
            await release(keyboard, names)
        case acts.KeyDown():
            await hold(keyboard, names)
            session.held.update(names)
        case acts.KeyUp():
            await release(keyboard, names)
            session.held.difference_update(names)


def names_of(keys: tuple[str, ...]) -> tuple[list[str], str | None]:
    """Playwright's names of keys, or what is wrong with them."""
    names = []
    for key in keys:
        name = playwright_key(key)
        if name is None:
            return [], f"there is no key {key!r}"
        names.append(name)
    return names, None


async def hold(keyboard: "Keyboard", names: list[str]) -> None:
    """Press keys in order; a character that no key has is put in as text."""
    for name in names:
        if _has_key(name):
            await keyboard.down(name)
        else:
            await keyboard.insert_text(name)


async def release(keyboard: "Keyboard", names: list[str]) -> None:
    """Let keys go in reverse order."""
    for name in reversed(names):
        if _has_key(name):
            await keyboard.up(name)


def _has_key(name: str) -> bool:
    return len(name) > 1 or name.isascii()

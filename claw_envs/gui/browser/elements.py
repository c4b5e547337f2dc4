"""Elements by their ids, in whichever frame they are.

Not covered: whether something in the page around a frame of another origin covers an element in that frame.
"""

from typing import Any

from claw_envs.gui.browser.tab import NO_FRAME, Tab


async def ask(tab: Tab, function: str, id: str, *arguments: Any) -> dict[str, Any]:
    """What a function of our world says of an element; `error` is a sentence for the agent."""
    from playwright.async_api import Error

    home = tab.homes.get(id)
    try:
        found: dict[str, Any] = await tab.call(function, id, *arguments, frame=home.frame if home else None)
    except Error as error:
        if NO_FRAME not in str(error):
            raise
        return {"error": f"there is no element {id} any more; ids are those of the last observation"}
    return found


async def spot(tab: Tab, id: str) -> dict[str, Any]:
    """Where to point to for an element: `x` and `y` in pixels of the page, or an `error`."""
    found = await ask(tab, "spot", id)
    home = tab.homes.get(id)
    while home is not None and "error" not in found:
        frame = await ask(tab, "origin", home.element)
        if "error" in frame:
            return frame
        found = {"x": found["x"] + frame["x"], "y": found["y"] + frame["y"]}
        home = tab.homes.get(home.element)
    return found

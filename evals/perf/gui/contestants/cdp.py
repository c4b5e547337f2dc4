"""The floor: contexts of one browser through Playwright, and the bare calls of the browser's protocol for what is seen.

A screenshot is what the browser answers, PNG as base64; nothing decodes it. Nothing waits for the page after a click.
"""

from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Page, async_playwright

PACKAGES = ["playwright"]
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]


def make(kind: str, settings: dict[str, Any]) -> "Bare":
    """The contestant."""
    return Bare(settings)


class Episode:
    """A page of its own."""

    def __init__(self, context: BrowserContext, page: Page, session: CDPSession) -> None:
        self.context, self.page, self.session = context, page, session


class Bare:
    """See the module."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._playwright: Any = None
        self._browser: Any = None

    async def start(self) -> Episode:
        """A context with the page; the browser with the first."""
        if self._browser is None:
            self._playwright = await async_playwright().start()
            self._browser = await self._playwright.chromium.launch(
                executable_path=self._settings["executable"], args=_FLAGS
            )
        width, height = self._settings["size"]
        context = await self._browser.new_context(viewport={"width": width, "height": height})
        page = await context.new_page()
        await page.goto(self._settings["address"])
        return Episode(context, page, await context.new_cdp_session(page))

    async def step(self, episode: Episode, command: str) -> str:
        """`capture`, or a click and what is seen."""
        if command != "capture":
            await episode.page.mouse.click(*self._settings["point"])
        pixels = characters = 0
        if command in ("capture", "screenshot", "both"):
            shot = await episode.session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
            pixels = len(shot["data"])
        if command in ("axtree", "both"):
            characters = len((await episode.session.send("Accessibility.getFullAXTree"))["nodes"])
        title = "" if command == "capture" else await episode.page.title()
        return f"{title} pixels={pixels} characters={characters}"

    async def reset(self, episode: Episode) -> Episode:
        """Another context."""
        await episode.context.close()
        return await self.start()

    async def stop(self, episode: Episode) -> None:
        """Close the context."""
        await episode.context.close()

    async def close(self) -> None:
        """Close the browser."""
        if self._browser is not None:
            await self._browser.close()
            await self._playwright.stop()

    def containers(self) -> list[str]:
        """None."""
        return []

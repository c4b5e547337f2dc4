"""Chromium processes: launched once for all environments of this process, and ended with it.

Not covered: a limit on the processor time of one page; a browser profile that outlives the process.
"""

import asyncio
import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.gui.browser.processes import family, memory
from claw_envs.gui.browser.profile import make_profile, sweep
from claw_envs.gui.browser.wall import DEAD_ENDS, INSIDE_PROFILE, wall_for

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

LAUNCH_TIMEOUT = 60.0
CLOSE_TIMEOUT = 10.0
_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    "--force-color-profile=srgb",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-hang-monitor",
    "--disable-notifications",
    "--disable-dev-shm-usage",
    "--disable-smooth-scrolling",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-back-forward-cache",
    "--disable-field-trial-config",
    "--disable-renderer-backgrounding",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-search-engine-choice-screen",
    # all frames of a page in one process: one script reaches them, and an episode costs one renderer
    "--disable-site-isolation-trials",
    # a capture does not wait for the next tick of a display that nobody looks at
    "--disable-frame-rate-limit",
    "--disable-gpu-vsync",
    "--disable-features=Translate,MediaRouter,OptimizationHints,PaintHolding,HttpsUpgrades,DestroyProfileOnBrowserClose,"
    "HttpsFirstBalancedModeAutoEnable,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,"
    "BackForwardCache,InterestFeedContentSuggestions,AutofillServerCommunication,IsolateOrigins,site-per-process",
    "--enable-features=CDPScreenshotNewSurface",
)

_drivers: dict[int, "Playwright"] = {}
_driver_lock = asyncio.Lock()


def _forget() -> None:
    """A child process after a fork has no event loop with these, and must not end its parent's browsers."""
    global _driver_lock
    _drivers.clear()
    _driver_lock = asyncio.Lock()


os.register_at_fork(after_in_child=_forget)


async def driver() -> "Playwright":
    """Playwright's driver, a process of its own that ends with ours however ours ends."""
    try:
        from playwright.async_api import async_playwright
    except ImportError:
        raise UserError('the browser needs Playwright: pip install "claw-envs[gui]"') from None
    async with _driver_lock:
        if os.getpid() not in _drivers:
            _drivers[os.getpid()] = await async_playwright().start()
        return _drivers[os.getpid()]


class Engine:
    """One chromium. Use on the shared loop."""

    def __init__(self, browser: "Browser", profile: Path | None, mark: str) -> None:
        self.browser = browser
        self.contexts = 0
        """How many are open."""
        self.retired = False
        """Takes no more contexts, and closes with its last one."""
        self._profile, self._mark = profile, mark
        browser.on("disconnected", lambda _: self._delete_profile())

    @classmethod
    async def launch(cls, executable: str) -> "Engine":
        """Start a chromium.

        Raises:
            InfrastructureError: if it does not start.
            UserError: if Playwright is not installed.
        """
        playwright = await driver()
        from playwright.async_api import Error

        mark = secrets.token_hex(8)
        wall = await asyncio.to_thread(wall_for, executable)
        profile = None if wall.words else await asyncio.to_thread(_fresh_profile)
        home = str(profile or INSIDE_PROFILE)
        program, *words = [*wall.words, executable]
        flags = [*_FLAGS, *DEAD_ENDS, f"--claw-browser={mark}", f"--user-data-dir={home}"]
        if not wall.own_sandbox:
            flags.append("--no-sandbox")
        try:
            browser = await playwright.chromium.launch(
                executable_path=program,
                ignore_default_args=True,
                args=[*words, *flags],
                env={"PATH": os.environ.get("PATH", os.defpath), "HOME": home, "LANG": "C.UTF-8", "TZ": "UTC"},
                timeout=LAUNCH_TIMEOUT * 1000,
            )
        except Error as error:
            if profile is not None:
                shutil.rmtree(profile, ignore_errors=True)
            raise InfrastructureError(f"{executable} does not start: {str(error).strip().splitlines()[-1]}") from None
        return cls(browser, profile, mark)

    def _delete_profile(self) -> None:
        if self._profile is not None:
            shutil.rmtree(self._profile, ignore_errors=True)

    @property
    def lost(self) -> bool:
        """Whether the browser is gone."""
        return not self.browser.is_connected()

    async def memory(self) -> dict[str, int]:
        """Proportional set size in bytes of its processes by their kind (`browser`, `renderer`, …)."""
        return await asyncio.to_thread(lambda: memory(family(self._mark)))

    async def close(self) -> None:
        """End the browser. May be called again."""
        from playwright.async_api import Error

        self.retired = True
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await self.browser.close()
        except (Error, TimeoutError):
            pass  # it is gone already, or goes with the driver
        await asyncio.to_thread(self._delete_profile)


def _fresh_profile() -> Path:
    sweep()
    return make_profile()

"""A browser as a screen: chromium, driven by Playwright, one context for each episode."""

from claw_envs.gui.browser.errors import PageError
from claw_envs.gui.browser.network import Request, Response
from claw_envs.gui.browser.screen import BrowserScreen

__all__ = ["BrowserScreen", "PageError", "Request", "Response"]

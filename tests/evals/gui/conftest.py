"""The browsers of the environments' tests."""

from tests.claw_envs.gui.conftest import chromium

__all__ = ["chromium"]

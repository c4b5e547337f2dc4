"""Browsers for tests."""

import pytest

from claw_envs.core.errors import UserError
from claw_envs.gui.browser.executable import find_chromium


@pytest.fixture(scope="session")
def chromium() -> None:
    """Skip where there is no browser."""
    pytest.importorskip("playwright")
    try:
        find_chromium()
    except UserError as error:
        pytest.skip(str(error))

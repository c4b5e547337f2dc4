"""Copy and original both hold the settings."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, same  # noqa: E402


SETTINGS = """# service settings
port = 8080
workers = 4
log_level = info
"""


def copied():
    same("app.conf", SETTINGS)
    same("app.conf.bak", SETTINGS)


grade(copied)

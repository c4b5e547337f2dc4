"""The episodes of a benchmark's run as one HTML page."""

from evals.view.page import write_page

__all__ = ["write_page"]

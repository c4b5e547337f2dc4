"""Half-open intervals of whole numbers."""

from intervals.core import merge, subtract, total

__all__ = ["merge", "subtract", "total"]

"""The small model that the trainers' tests share."""

from tests.trainers.conftest import tiny_model

__all__ = ["tiny_model"]

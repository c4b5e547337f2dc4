"""The container engine that tests of the official harness need."""

from tests.claw_envs.sandbox.docker.conftest import engine

__all__ = ["engine"]

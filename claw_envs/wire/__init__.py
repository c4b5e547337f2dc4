"""Calls of tools in every form in which models write them, shared by the families that read them."""

from claw_envs.wire.calls import Call, Form, Malformed, Parsed
from claw_envs.wire.write import write

__all__ = ["Call", "Form", "Malformed", "Parsed", "write"]

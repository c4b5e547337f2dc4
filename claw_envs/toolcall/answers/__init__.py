"""Answers: where a response's final answer stands, and whether it is the expected one."""

from claw_envs.toolcall.answers.check import Check, check, check_sync

__all__ = ["Check", "check", "check_sync"]

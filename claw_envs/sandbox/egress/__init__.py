"""Allow-lists of hosts: a sandbox without a network, and one proxy in it that reaches what was granted (`egress`)."""

from claw_envs.sandbox.egress.egress import Egress

__all__ = ["Egress"]

"""The machine that code runs in while a question is answered, where its task asks for no other."""

from claw_envs.core.task import SandboxSpec

MACHINE = SandboxSpec(workdir="/work", memory_mb=512, pids=64, disk_mb=64)

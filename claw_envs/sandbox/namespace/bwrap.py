"""The command line that puts one process into a sandbox: join its namespaces, drop the id, bubblewrap, command.

bubblewrap gives each process its own mount namespace over the sandbox's root (so that nothing of the host is left in
view) and, for the agent, a user namespace without capabilities in which no further one can be made. Process, network,
ipc and host name are the sandbox's, shared by all its processes.
"""

from collections.abc import Sequence

from claw_envs.sandbox.namespace.base_root import host_binds, masked
from claw_envs.sandbox.namespace.host import AGENT_UID, TOOL_PATH, Identity, tools
from claw_envs.sandbox.namespace.overlay import Layers

VERIFIER_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETUID", "SETGID", "SETFCAP")
"""The verifier reads and executes whatever the agent made, whatever its permissions."""
PROC_READ_ONLY = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "timer_list")
LAUNCHER_ENV = {"PATH": TOOL_PATH}
"""All that the programs before the command get of an environment; the command's own is set by bubblewrap."""


def process_env(user: str, extra: dict[str, str]) -> dict[str, str]:
    """Environment of a command inside. The verifier's search path and home are fixed."""
    home, name = ("/root", "root") if user == "verifier" else ("/home/agent", "agent")
    fixed = {"PATH": TOOL_PATH, "HOME": home, "USER": name, "LOGNAME": name, "SHELL": "/bin/bash"}
    defaults = {"LANG": "C.UTF-8", "TERM": "dumb"}
    if user == "verifier":
        return defaults | extra | fixed
    return defaults | fixed | extra


def command_line(
    argv: Sequence[str],
    *,
    holder: int,
    identity: Identity,
    layers: Layers,
    user: str,
    env: dict[str, str],
    cwd: str,
    network: bool,
) -> list[str]:
    """Everything before and including `argv`.

    Args:
        holder: host pid of the holder.
        user: `agent` or `verifier`.
    """
    line = [tools()["nsenter"], "--target", str(holder), "-U", "-m", "-p", "-i", "-u", *([] if network else ["-n"])]
    if not identity.privileged:
        line.append("--preserve-credentials")
    elif user == "agent":
        line += [tools()["setpriv"], f"--reuid={AGENT_UID}", f"--regid={AGENT_UID}", "--clear-groups"]
    line += [tools()["bwrap"], "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    if user == "agent":
        line += ["--unshare-user", "--disable-userns", "--uid", str(AGENT_UID), "--gid", str(AGENT_UID)]
    else:
        line += [word for name in VERIFIER_CAPABILITIES for word in ("--cap-add", f"CAP_{name}")]
    line += _mounts(layers, user=user)
    for key, value in process_env(user, env).items():
        line += ["--setenv", key, value]
    return [*line, "--chdir", cwd, "--", *argv]


def _mounts(layers: Layers, *, user: str) -> list[str]:
    line = ["--bind", str(layers.root), "/"]
    if not layers.whole:
        for tree in host_binds():
            line += ["--ro-bind", tree, tree]
        line += ["--ro-bind", str(layers.base / "etc"), "/etc"]
        for path in masked():
            line += ["--size", "4096", "--perms", "0555", "--tmpfs", path, "--remount-ro", path]
    line += ["--dev", "/dev", "--bind", str(layers.shm), "/dev/shm", "--remount-ro", "/dev"]
    line += ["--bind", "/proc", "/proc"]
    for name in PROC_READ_ONLY:
        line += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    if user == "verifier":
        line += ["--size", str(256 << 20), "--perms", "0700", "--tmpfs", "/root"]
    return line

"""The command line that puts one process into a sandbox: join its namespaces, drop the id, bubblewrap, command.

bubblewrap gives each process its own mount namespace over the sandbox's root (so that nothing of the host is left in
view), a host name, and, for the agent, a user namespace without capabilities in which no further one can be made.
Process, network and ipc namespaces are the sandbox's, shared by all its processes.
"""

from collections.abc import Mapping, Sequence

from claw_envs.sandbox.namespace.base_root import host_binds, masked
from claw_envs.sandbox.namespace.host import AGENT_UID, TOOL_PATH, Identity, tools
from claw_envs.sandbox.namespace.overlay import Layers
from claw_envs.sandbox.namespace.seccomp import FILTER_FD

VERIFIER_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETUID", "SETGID", "SETFCAP")
"""The verifier reads and executes whatever the agent made, whatever its permissions."""
PROC_READ_ONLY = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "timer_list")
LAUNCHER_ENV = {"PATH": TOOL_PATH}
"""All that the programs before the command get of an environment; the command's own is set by bubblewrap."""


def verifier_home(*, whole: bool) -> str:
    """An empty directory of its own for each command; `/root` of an image may hold what is to be verified."""
    return "/dev/verifier" if whole else "/root"


def process_env(user: str, base: Mapping[str, str], extra: Mapping[str, str], *, whole: bool) -> dict[str, str]:
    """Environment of a command inside. The verifier's search path and home are fixed.

    Args:
        base: what the sandbox itself sets, its image above all.
        extra: what spec and caller add.
    """
    home, name = (verifier_home(whole=whole), "root") if user == "verifier" else ("/home/agent", "agent")
    fixed = {"PATH": TOOL_PATH, "HOME": home, "USER": name, "LOGNAME": name, "SHELL": "/bin/bash"}
    defaults = {"LANG": "C.UTF-8", "TERM": "dumb"}
    if user == "verifier":
        return {**defaults, **base, **extra, **fixed, "PATH": base.get("PATH", TOOL_PATH)}
    return {**defaults, **fixed, **base, **extra}


def command_line(
    argv: Sequence[str],
    *,
    holder: int,
    identity: Identity,
    layers: Layers,
    user: str,
    base_env: Mapping[str, str],
    env: Mapping[str, str],
    cwd: str,
    network: bool,
    filtered: bool,
) -> list[str]:
    """Everything before and including `argv`.

    Args:
        holder: host pid of the holder.
        user: `agent` or `verifier`.
        base_env, env: see `process_env`.
        filtered: whether descriptor `FILTER_FD` holds a system call filter.
    """
    line = [tools()["nsenter"], "--target", str(holder), "-U", "-m", "-p", "-i", *([] if network else ["-n"])]
    if not identity.privileged:
        line.append("--preserve-credentials")
    elif user == "agent":
        line += [tools()["setpriv"], f"--reuid={AGENT_UID}", f"--regid={AGENT_UID}", "--clear-groups"]
    line += [tools()["bwrap"], "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    line += ["--unshare-uts", "--hostname", "sandbox", *(["--seccomp", str(FILTER_FD)] if filtered else [])]
    if user == "agent":
        line += ["--unshare-user", "--disable-userns", "--uid", str(AGENT_UID), "--gid", str(AGENT_UID)]
    else:
        line += [word for name in VERIFIER_CAPABILITIES for word in ("--cap-add", f"CAP_{name}")]
    line += _mounts(layers, user=user, network=network)
    for key, value in process_env(user, base_env, env, whole=layers.whole).items():
        line += ["--setenv", key, value]
    return [*line, "--chdir", cwd, "--", *argv]


def _mounts(layers: Layers, *, user: str, network: bool) -> list[str]:
    line = ["--bind", str(layers.root), "/"]
    if not layers.whole:
        for tree in host_binds():
            line += ["--ro-bind", tree, tree]
        line += ["--ro-bind", str(layers.base / "etc"), "/etc"]
        line += ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"]
        for path in masked():
            line += ["--size", "4096", "--perms", "0555", "--tmpfs", path, "--remount-ro", path]
    elif network and layers.can_bind_resolver:
        line += ["--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"]
    line += ["--dev", "/dev", "--bind", str(layers.shm), "/dev/shm"]
    if user == "verifier":
        line += ["--size", str(256 << 20), "--perms", "0700", "--tmpfs", verifier_home(whole=layers.whole)]
    line += ["--remount-ro", "/dev", "--bind", "/proc", "/proc"]
    for name in PROC_READ_ONLY:
        line += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    return line

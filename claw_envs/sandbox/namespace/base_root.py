"""The read-only root that sandboxes without an image share: the host's programs, and little else of the host.

Only `/usr`, `/bin`, `/lib*` and `/sbin` are the host's own, bound read-only: mount points, so that nobody inside can
move them away. So is `/etc`, a copy of the entries that programs need, with made-up accounts, and the host's own
`alternatives`: through its loader, Python and alternatives files an agent could otherwise put code into the verifier's
programs. `/home`, `/root`, `/tmp`, `/run`, `/var`, `/opt`, `/srv`, `/mnt` and `/sys` are empty. Not covered: secrets
that a host keeps in a world-readable file below /usr.
"""

import functools
import importlib.util
import os
import shutil
from pathlib import Path

from claw_envs.sandbox.namespace.host import AGENT_UID, Identity

HOST_TREES = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ETC = (
    "X11/app-defaults", "bash.bashrc", "debian_version", "fonts", "gtk-3.0", "inputrc", "ld.so.cache", "ld.so.conf",
    "ld.so.conf.d", "libreoffice", "localtime", "magic", "magic.mime", "mime.types", "nsswitch.conf", "os-release",
    "perl", "profile", "protocols",
    "python3", "python3.11", "python3.12", "python3.13", "resolv.conf", "rpc", "services", "shells",
    "ssl/certs/ca-certificates.crt", "ssl/openssl.cnf", "pki/tls/certs/ca-bundle.crt", "terminfo", "timezone",
    "xdg/libfm", "xdg/menus", "xdg/pcmanfm",
)  # fmt: skip
EMPTY = ("dev", "proc", "sys", "run", "srv", "mnt", "media", "opt", "var/log", "var/lib", "var/cache")
PRIVATE_PACKAGES = ("tasks", "claw_envs", "judges", "trainers", "evals")
"""Ours: `tasks` holds solutions and tests, and the rest is none of an agent's business."""


def build_base(target: Path, *, identity: Identity) -> None:
    """Make the base root at `target`, which must not exist, owned by the agent."""
    target.mkdir(mode=0o755)
    for name in (*EMPTY, *(tree.lstrip("/") for tree in host_binds())):
        (target / name).mkdir(parents=True, exist_ok=True)
    for name in ("tmp", "var/tmp"):
        (target / name).mkdir()
        (target / name).chmod(0o1777)
    (target / "home/agent").mkdir(parents=True)
    (target / "var/run").symlink_to("/run")
    _build_etc(target / "etc")
    (target / "root").mkdir(mode=0o700)
    if identity.privileged:
        uid, gid = identity.agent
        for path in [target, *target.rglob("*")]:
            os.chown(path, uid, gid, follow_symlinks=False)


def _build_etc(etc: Path) -> None:
    (etc / "alternatives").mkdir(parents=True)
    for name in ETC:
        source, copy = Path("/etc") / name, etc / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, symlinks=True, ignore=_unreadable, dirs_exist_ok=True)
        elif source.is_symlink() and str(source.resolve()).startswith("/usr/"):
            copy.symlink_to(source.resolve())
        elif source.is_file() and os.access(source, os.R_OK):
            shutil.copyfile(source, copy)
    (etc / "passwd").write_text(
        "root:x:0:0:root:/root:/bin/bash\n"
        f"agent:x:{AGENT_UID}:{AGENT_UID}:agent:/home/agent:/bin/bash\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    )
    (etc / "group").write_text(f"root:x:0:\nagent:x:{AGENT_UID}:\nnogroup:x:65534:\n")
    (etc / "machine-id").write_text(f"{0:032x}\n")
    (etc / "hostname").write_text("sandbox\n")
    (etc / "hosts").write_text("127.0.0.1 localhost sandbox\n::1 localhost\n")


def _unreadable(folder: str, names: list[str]) -> set[str]:
    paths = {name: Path(folder) / name for name in names}
    return {name for name, path in paths.items() if not path.is_symlink() and not os.access(path, os.R_OK)}


def host_binds() -> list[str]:
    """The host's directories that are bound read-only into a sandbox."""
    return [tree for tree in HOST_TREES if Path(tree).is_dir()]


def masked() -> list[str]:
    """Directories below the bound ones that hold our own packages: an installed copy has the tasks' solutions."""
    trees = host_binds()
    return [place for place in package_directories() if any(Path(place).is_relative_to(tree) for tree in trees)]


@functools.lru_cache(maxsize=1)
def package_directories() -> tuple[str, ...]:
    """Where our own packages lie on the host."""
    specs = [importlib.util.find_spec(name) for name in PRIVATE_PACKAGES]
    places = [place for spec in specs if spec for place in spec.submodule_search_locations or ()]
    return tuple(str(Path(place).resolve()) for place in places)

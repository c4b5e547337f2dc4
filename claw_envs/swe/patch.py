"""The agent's changes as a patch: everything that its working tree has beyond what the episode began with.

It is the staged diff: new, deleted, renamed and binary files, modes and links; what `.gitignore` names is left out.
Git runs over the agent's files with a repository of its own beside theirs, from which it takes no more than objects and
`info/exclude`: no configuration, hook, filter, driver or index of the agent's has a say. What becomes of the patch is
decided elsewhere, so nothing is trusted here; limits keep it from taking long.

Not covered: repositories within the repository, of which only the commit is named, as `git add` does.
"""

import secrets
from typing import NamedTuple

from claw_envs.sandbox.base import Sandbox
from claw_envs.swe.instance import REPOSITORY

MOST_CHANGED = 64_000_000
"""Bytes of all changed files together, beyond which no patch is made."""
_GONE, _TOO_BIG = 70, 71
_FATAL = 128
"""Git's exit code where it gives up; beyond are those of signals, as for a file over the limit."""
_SAID = 2000
# $1 a new folder, $2 the tree to compare with, $3 bytes of a patch, $4 attributes that overrule all others
_TAKE = f"""umask 077
mkdir -p "$1/objects/info" "$1/refs" "$1/info" || exit
exec 2>&1
cd {REPOSITORY} && [ -d .git/objects ] || exit {_GONE}
echo 'ref: refs/heads/main' > "$1/HEAD"
echo "$4" > "$1/info/attributes"
[ -f .git/info/exclude ] && cat .git/info/exclude > "$1/info/exclude"
export GIT_DIR="$1" GIT_WORK_TREE="$PWD" GIT_INDEX_FILE="$1/index" GIT_OBJECT_DIRECTORY="$1/objects"
export GIT_ALTERNATE_OBJECT_DIRECTORIES="$PWD/.git/objects" GIT_NO_REPLACE_OBJECTS=1
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null XDG_CONFIG_HOME="$1" HOME="$1"
git read-tree "$2" || exit {_GONE}
ulimit -f {MOST_CHANGED // 512}
git -c advice.addEmbeddedRepo=false -c core.compression=1 add -A --ignore-errors
code=$?
[ $code -le {_FATAL} ] || exit {_TOO_BIG}
[ $code -lt {_FATAL} ] || exit $code
git diff --cached --raw --no-renames --no-abbrev "$2" | cut -d ' ' -f 4 |
    git cat-file --batch-check='%(objectsize)' | {{
        sum=0
        while read -r size rest; do case $size in *[!0-9]*) ;; *) sum=$((sum + size)) ;; esac; done
        [ "$sum" -le {MOST_CHANGED} ] || exit {_TOO_BIG}
    }} || exit
{{ git diff --cached --binary -M --no-ext-diff --no-textconv --no-color "$2"; echo $? > "$1/code"; }} |
    head -c $(($3 + 1)) > "$1/patch"
[ "$(wc -c < "$1/patch")" -le "$3" ] || exit {_TOO_BIG}
exit "$(cat "$1/code")"
"""


class Taken(NamedTuple):
    """What could be taken."""

    patch: str = ""
    fault: str = ""
    """Why there is no patch: `repository_gone`, `patch_too_big` or `no_patch`; empty where there is one."""
    reason: str = ""
    """The same for people."""


async def take_patch(sandbox: Sandbox, start: str, *, most_bytes: int, timeout: float) -> Taken:
    """The patch from the tree `start` to the files in the agent's sandbox. The agent is stopped first.

    Text that is not UTF-8 makes all of the patch a binary one.

    Args:
        start: id of a tree or commit of the repository.
        most_bytes: of the patch.
        timeout: seconds.

    Raises:
        InfrastructureError: if the sandbox is gone.
    """
    await sandbox.stop_agent()
    for attributes in ("", "* -diff"):
        place = f"/claw-patch-{secrets.token_hex(8)}"
        argv = ["/bin/sh", "-c", _TAKE, "sh", place, start, str(most_bytes), attributes]
        result = await sandbox.exec(argv, timeout=timeout, cwd="/", user="verifier")
        said = result.output.strip()[-_SAID:]
        if result.exit_code == _GONE:
            return Taken(fault="repository_gone", reason=f"the repository and its first commit are gone: {said}")
        if result.exit_code == _TOO_BIG:
            reason = f"the patch is over {most_bytes} bytes, or the files that it changes over {MOST_CHANGED}"
            return Taken(fault="patch_too_big", reason=reason)
        if result.exit_code != 0:
            how = f"git took over {timeout:g} s" if result.timed_out else f"exit code {result.exit_code}: {said}"
            return Taken(fault="no_patch", reason=f"no patch could be taken: {how}")
        try:
            return Taken((await sandbox.get(f"{place}/patch", max_bytes=most_bytes)).decode())
        except OSError as error:
            return Taken(fault="no_patch", reason=f"no patch could be taken: {error}")
        except UnicodeDecodeError:
            continue
    return Taken(fault="no_patch", reason="no patch could be taken: git gave one that is no text")

"""A repository with nothing in it but one commit, so that no agent finds the fix in what came after it.

The commit stays under its own id, in a repository that is shallow at it: evaluation scripts that check files out of it
work. There is no other object, branch, tag, remote, reflog, stash, note or hook, nor what the old repository kept
elsewhere (a main working tree, alternates, submodules). What the image had changed in tracked files beyond that commit
is one commit on top; files that it had and did not track are listed in `info/exclude`. So `git status` is clean, and a
diff holds the agent's changes only.

Not covered: copies of the repository elsewhere in an image, other working trees of it, and times of its files, which
may tell what the image's maker checked out last.
"""

import shlex

import msgspec

from claw_envs.core.task import SandboxSpec
from claw_envs.swe.instance import REPOSITORY

ANY_OWNER = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
"""Environment in which git takes a repository whoever owns it."""

_CONFIG = """[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
[user]
	name = agent
	email = agent@localhost
"""
_WHO = " ".join(
    f"GIT_{who}_NAME=setup GIT_{who}_EMAIL=setup@localhost GIT_{who}_DATE='2000-01-01T00:00:00Z'"
    for who in ("AUTHOR", "COMMITTER")
)
# Directories of the old repository that git makes anew whenever it needs them stay, emptied: made again, they show on
# some overlays what lay below. Those of objects are all made, as each that was there is a digit pair of an object's id.
# `git gc` prunes nothing of a pack that is kept.
_SQUASH = """set -eu
cd {repository}
base=$(git rev-parse -q --verify {commit}^0) || {{ echo "the repository has no commit "{commit}; exit 1; }}
old=$PWD/.git
[ -d "$old" ] || old=$(sed -n 's/^gitdir: //p' .git)
old=$(cd "$old" && pwd -P)
common=$old
[ ! -f "$old/commondir" ] || common=$(cd "$old" && cd "$(cat commondir)" && pwd -P)
fresh=$(mktemp -d)
chmod 755 "$fresh"
mkdir -p "$fresh/objects/pack" "$fresh/objects/info" "$fresh/refs/heads" "$fresh/info"
echo 'ref: refs/heads/main' > "$fresh/HEAD"
printf %s {config} > "$fresh/config"
export GIT_DIR="$fresh" GIT_WORK_TREE="$PWD" GIT_INDEX_FILE="$fresh/index" GIT_OBJECT_DIRECTORY="$fresh/objects"
export GIT_ALTERNATE_OBJECT_DIRECTORIES="$common/objects" GIT_NO_REPLACE_OBJECTS=1
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null XDG_CONFIG_HOME="$fresh" HOME="$fresh"

echo "$base" > "$fresh/list"
git rev-list --objects --no-object-names "$base^{{tree}}" >> "$fresh/list"
pack=$(git pack-objects -q --window=4 "$fresh/objects/pack/pack" < "$fresh/list")
touch "$fresh/objects/pack/pack-$pack.keep"
echo "$base" > "$fresh/shallow"

git read-tree "$base"
git -c core.quotePath=false ls-files --stage | sed -n 's/^160000 [^\t]*\t//p' > "$fresh/list"
while read -r module; do rm -rf "$module/.git"; done < "$fresh/list"
head=$base
git update-index -q --refresh
git diff-files --quiet || {{
    git add -u
    tree=$(git write-tree)
    [ "$tree" = "$(git rev-parse "$base^{{tree}}")" ] ||
        head=$(echo 'What the environment was set up with' | {who} git commit-tree "$tree" -p "$base")
}}
echo "$head" > "$fresh/refs/heads/main"
git -c core.quotePath=false ls-files --others --exclude-standard --directory --no-empty-directory |
    sed -e 's/[][*?\\!# ]/\\\\&/g' -e 's,^,/,' > "$fresh/info/exclude"

git count-objects -v | sed -n 's/^alternate: //p' > "$fresh/list"
while read -r store; do find "$store" ! -type d -exec rm -f {{}} +; done < "$fresh/list"
rm "$fresh/list"
for place in "$old" "$common"; do
    [ "$place" = "$PWD/.git" ] || rm -rf "$place"
done
[ -d .git ] && [ ! -L .git ] || rm -f .git
mkdir -p .git
find .git ! -type d -exec rm -f {{}} +
find .git -mindepth 1 -depth -type d ! -path '.git/objects*' ! -path .git/info ! -path .git/refs \\
    ! -path .git/refs/heads -exec rmdir {{}} +
cp -a "$fresh/." .git/
rm -rf "$fresh"
digits='0 1 2 3 4 5 6 7 8 9 a b c d e f'
for first in $digits; do for second in $digits; do echo ".git/objects/$first$second"; done; done | xargs mkdir -p
"""


_FORGET = f"""cd {REPOSITORY}
find . -name .git -prune -o '(' -name __pycache__ -o -name .pytest_cache ')' -prune -exec rm -rf {{}} +"""
"""What Python remembers of the files that were there before; an image may have been at another commit."""


def squash_script(commit: str) -> str:
    """Shell that leaves nothing in the repository but `commit`, with its files as they are.

    It deletes what it leaves out, in folders outside of the repository too: run it in a sandbox only, as the owner of
    the repository. It needs a POSIX shell and git 2.30 or newer.

    Args:
        commit: its id, or what git knows it by, such as `HEAD`.
    """
    return _SQUASH.format(repository=REPOSITORY, commit=shlex.quote(commit), config=shlex.quote(_CONFIG), who=_WHO)


def agent_spec(spec: SandboxSpec, commit: str, *, output_bytes: int) -> SandboxSpec:
    """The agent's machine, out of the one that a task runs in: without its history and without a network.

    Layers were made without the history; an image's is left out when the sandbox starts, before any reset.
    """
    setup = spec.setup if spec.layers else (*spec.setup, _FORGET, squash_script(commit))
    env = ANY_OWNER | spec.env
    return msgspec.structs.replace(spec, setup=setup, env=env, network="none", output_bytes=output_bytes)

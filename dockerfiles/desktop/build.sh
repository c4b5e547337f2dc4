#!/bin/sh
# Makes the image claw-envs/desktop:bookworm out of Debian's packages (some minutes), on claw-envs/base:bookworm, which is
# made first where the engine has none.
set -eu
cd "$(dirname "$0")/../.."
image=claw-envs/desktop:bookworm

command -v docker >/dev/null || {
    echo "build.sh: install docker's command line first: apt-get install docker.io" >&2
    exit 2
}
docker image inspect claw-envs/base:bookworm >/dev/null 2>&1 || ./dockerfiles/base/build.sh
tar -c --exclude __pycache__ dockerfiles/desktop claw_envs/gui/desktop/inside |
    docker build --quiet --file dockerfiles/desktop/Dockerfile --tag "$image" - >/dev/null

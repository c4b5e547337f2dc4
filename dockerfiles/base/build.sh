#!/bin/sh
# Makes the image claw-envs/base:bookworm out of Debian's packages, as root, without a registry (about three minutes).
# The root file system is kept in CLAW_CACHE, or ~/.cache/claw-envs, and taken from there the next time.
# DEBIAN_MIRROR names another mirror. Without root, where a registry is reached: docker build -t $image dockerfiles/base
set -eu
cd "$(dirname "$0")"
image=claw-envs/base:bookworm
suite=bookworm
packages=$(paste -s -d , packages)
cache=${CLAW_CACHE:-$HOME/.cache/claw-envs}/images
tarball=$cache/base-$suite-$(cksum <packages | cut -d ' ' -f 1).tar.gz

fail() {
    echo "build.sh: $1" >&2
    exit 2
}

command -v docker >/dev/null || fail "install docker's command line first: apt-get install docker.io"
if [ ! -s "$tarball" ]; then
    [ "$(id -u)" = 0 ] || fail "debootstrap needs root: sudo $0, or docker build -t $image $(pwd)"
    command -v debootstrap >/dev/null || fail "install debootstrap first: apt-get install debootstrap"
    mkdir -p "$cache"
    work=$(mktemp -d "$cache/base.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
    debootstrap --variant=minbase --include="$packages" "$suite" "$work/root" \
        "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$work/log" 2>&1 ||
        fail "debootstrap failed: $(tail -n 3 "$work/log" | tr '\n' ' ')"
    rm -rf "$work/root/var/cache/apt/archives" "$work/root/var/lib/apt/lists" "$work/root/var/log"
    mkdir -p "$work/root/var/log" "$work/root/var/lib/apt/lists/partial" "$work/root/var/cache/apt/archives/partial"
    tar -C "$work/root" --numeric-owner -c . | gzip -1 >"$work/made"
    mv "$work/made" "$tarball"
fi
docker import --change 'CMD ["/bin/bash"]' "$tarball" "$image" >/dev/null

"""The subset of a Dockerfile that the host's own system can honour; the rest needs an image."""

from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.terminal.dockerfile import NeedsImage, Recipe, installs_packages, read_dockerfile


def read(folder: Path, text: str) -> Recipe:
    (folder / "Dockerfile").write_text(text)
    return read_dockerfile(folder / "Dockerfile")


@pytest.fixture
def context(tmp_path: Path) -> Path:
    for path in ("a.txt", "b.txt", "data/x.csv", "data/deep/y.csv"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    (tmp_path / "data/empty").mkdir()
    return tmp_path


def test_instructions_become_a_recipe(context: Path) -> None:
    recipe = read(
        context,
        "# comment\nFROM debian:12\nENV HOME_OF=/opt/app PATH=/opt/bin:$PATH\nWORKDIR ${HOME_OF}\nWORKDIR sub\n"
        "RUN echo one && \\\n    # inner comment\n    echo two\nRUN [\"touch\", \"a b\"]\n",
    )  # fmt: skip
    assert recipe.base == "debian:12"
    assert recipe.workdir == "/opt/app/sub"
    assert recipe.env["PATH"] == "/opt/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    start = "mkdir -p /opt/app/sub && cd /opt/app/sub || exit 1\n"
    assert recipe.setup == (f"{start}echo one && echo two", f"{start}touch 'a b'")


@pytest.mark.parametrize(
    ("copy", "targets"),
    [
        ("COPY a.txt b.txt ./", {"/app/a.txt": "a.txt", "/app/b.txt": "b.txt"}),
        ("COPY a.txt /opt/renamed", {"/opt/renamed": "a.txt"}),
        ("COPY a.txt /app", {"/app/a.txt": "a.txt"}),
        ("COPY a.txt new/", {"/app/new/a.txt": "a.txt"}),
        (
            "COPY data /app",
            {"/app/x.csv": "data/x.csv", "/app/deep/y.csv": "data/deep/y.csv", "/app/empty": "data/empty"},
        ),
        ("COPY data/ /app/\nCOPY a.txt x.csv", {"/app/x.csv": "a.txt"}),
        ('COPY ["a.txt", "/with space/"]', {"/with space/a.txt": "a.txt"}),
    ],
)
def test_copy_follows_docker(context: Path, copy: str, targets: dict[str, str]) -> None:
    files = read(context, f"FROM debian\nWORKDIR /app\n{copy}\n").files
    assert {target: str(context / source) for target, source in targets.items()}.items() <= files.items()


@pytest.mark.parametrize("leads_to", ["/etc/passwd", "/nowhere", "x.csv", "/etc"])
def test_links_are_not_followed(context: Path, leads_to: str) -> None:
    (context / "data/link").symlink_to(leads_to)
    with pytest.raises(NeedsImage, match="Dockerfile:3: COPY data, which holds the link or device link"):
        read(context, "FROM debian\nWORKDIR /app\nCOPY data .\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("USER root", "USER"),
        ("CMD bash", "CMD"),
        ("ADD a.txt /app/", "ADD"),
        ("ARG VERSION=1", "ARG"),
        ("FROM other", "a second FROM"),
        ("COPY --from=build /x /y", "COPY --from=build"),
        ("COPY *.txt /app/", r"COPY \*.txt, a pattern"),
        ("COPY a.txt /etc/renamed", "COPY to /etc/renamed"),
        ("COPY a.txt b.txt /usr/local/bin/", "COPY to /usr/local/bin"),
        ("WORKDIR /root/work", "WORKDIR /root/work"),
        ("RUN --mount=type=cache true", "RUN --mount=type=cache"),
        ("RUN apt-get update && apt-get install -y git", "RUN apt-get"),
        ("RUN cd /x; pip install numpy", "RUN pip"),
        ("RUN python3 -m pip install numpy", "RUN python3 -m pip"),
        ("RUN (curl http://example.org)", "RUN curl"),
        ("RUN if true; then DEBIAN_FRONTEND=noninteractive apt install x; fi", "RUN apt"),
        ("RUN echo 127.0.0.1 db >> /etc/hosts", "RUN /etc/hosts"),
        ("RUN ln -s /usr/bin/python3 /usr/local/bin/python", "RUN /usr/local/bin/python"),
        ("RUN cat <<EOF", "a heredoc in RUN"),
        ("RUN true\nCOPY a.txt b.txt /app/", "COPY after RUN"),
        ("RUN true\nENV A=1", "ENV after RUN"),
    ],
)
def test_what_needs_an_image_is_told_with_its_line(context: Path, line: str, said: str) -> None:
    with pytest.raises(NeedsImage, match=rf"Dockerfile:[34]: {said}"):
        read(context, f"FROM debian\nWORKDIR /app\n{line}\n")


@pytest.mark.parametrize(
    "base",
    ["debian", "ubuntu:24.04", "python:3.12-slim@sha256:0a", "docker.io/library/debian:12", "claw-envs/base:bookworm",
     "ghcr.io/laude-institute/t-bench/ubuntu-24-04:20250624"],
)  # fmt: skip
def test_a_plain_base_is_the_hosts_system(context: Path, base: str) -> None:
    assert read(context, f"FROM {base}\nWORKDIR /app\n").base == base


@pytest.mark.parametrize(
    "base", ["alpine", "node:20", "someone/debian", "ubuntu AS build", "$BASE", "python-ml", "--platform=x debian"]
)
def test_any_other_base_is_an_image(context: Path, base: str) -> None:
    with pytest.raises(NeedsImage, match="Dockerfile:1: FROM"):
        read(context, f"FROM {base}\nWORKDIR /app\n")


@pytest.mark.parametrize("rest", ["RUN touch a", "COPY a.txt ."])
def test_without_a_workdir_the_bases_own_is_not_known(context: Path, rest: str) -> None:
    assert read(context, "FROM debian\nCOPY a.txt /data/\n").workdir == ""
    with pytest.raises(NeedsImage, match="base's own working directory"):
        read(context, f"FROM debian\n{rest}\n")


@pytest.mark.parametrize(
    ("script", "manager"),
    [
        ("apt-get update\napt-get install -y curl\n", "apt-get"),
        ("set -e\n  apk add curl", "apk"),
        ("DEBIAN_FRONTEND=noninteractive apt install x", "apt"),
        ("# apt-get install curl\npytest /tests\n", None),
        ("grep apt log.txt; echo apt-get", None),
    ],
)
def test_scripts_that_install_packages_are_told(script: str, manager: str | None) -> None:
    assert installs_packages(script) == manager


@pytest.mark.parametrize(
    "command",
    ["echo pip-boy", "grep -r apt .", "cat aptitude.txt", "touch curl.log", "printf '#!/usr/bin/env python3' > x"],
)
def test_a_word_that_only_looks_like_an_installer(context: Path, command: str) -> None:
    assert read(context, f"FROM debian\nWORKDIR /app\nRUN {command}\n").setup


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("WORKDIR /app\n", "no FROM line"),
        ("FROM debian\nWORKDIR /app\nCOPY none.txt /app/\n", "COPY none.txt: no such file"),
        ("FROM debian\nWORKDIR /app\nCOPY ../outside /app/\n", "COPY ../outside: no such file"),
        ("FROM debian\nWORKDIR /app\nENV A=1 B\n", "ENV takes NAME=value"),
        ("FROM debian\nWORKDIR /app\nENV\n", "ENV needs words"),
        ("FROM debian\nWORKDIR /app\nCOPY 'a.txt /app/\n", "No closing quotation"),
        ("FROM debian\nWORKDIR /app\nCOPY a.txt\n", "COPY takes a source and a target"),
    ],
)
def test_mistakes_are_named(context: Path, text: str, said: str) -> None:
    (context.parent / "outside").write_text("")
    with pytest.raises(UserError, match=said):
        read(context, text)


def test_a_dockerignore_is_not_overlooked(context: Path) -> None:
    (context / ".dockerignore").write_text("a.txt\n")
    with pytest.raises(NeedsImage, match="dockerignore"):
        read(context, "FROM debian\nWORKDIR /app\n")

"""The subset of a Dockerfile that needs no engine, and the refusal of the rest."""

from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.terminal.dockerfile import Recipe, read_dockerfile


def read(folder: Path, text: str) -> Recipe:
    (folder / "Dockerfile").write_text(text)
    return read_dockerfile(folder / "Dockerfile", task_id="sample")


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
        ("COPY a.txt /etc/renamed", {"/etc/renamed": "a.txt"}),
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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("USER root", "USER"),
        ("CMD bash", "CMD"),
        ("ADD a.txt /app/", "ADD"),
        ("FROM other", "a second FROM"),
        ("COPY --from=build /x /y", "COPY --from=build"),
        ("RUN --mount=type=cache true", "RUN --mount=type=cache"),
        ("RUN apt-get update && apt-get install -y git", "RUN apt-get"),
        ("RUN cd /x; pip install numpy", "RUN pip"),
        ("RUN python3 -m pip install numpy", "RUN python3 -m pip"),
        ("RUN (curl http://example.org)", "RUN curl"),
        ("RUN if true; then DEBIAN_FRONTEND=noninteractive apt install x; fi", "RUN apt"),
        ("RUN cat <<EOF", "a heredoc in RUN"),
        ("RUN true\nCOPY a.txt b.txt /app/", "COPY after RUN"),
        ("RUN true\nENV A=1", "ENV after RUN"),
    ],
)
def test_what_needs_an_engine_is_refused_in_one_line(context: Path, line: str, said: str) -> None:
    with pytest.raises(UserError, match="task sample needs an image") as caught:
        read(context, f"FROM debian\nWORKDIR /app\n{line}\n")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("command", ["echo pip-boy", "grep -r apt .", "cat aptitude.txt", "touch curl.log"])
def test_a_word_that_only_looks_like_an_installer(context: Path, command: str) -> None:
    assert read(context, f"FROM debian\nWORKDIR /app\nRUN {command}\n").setup


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("WORKDIR /app\n", "no FROM line"),
        ("FROM debian\n", "no WORKDIR line"),
        ("FROM debian\nWORKDIR /app\nCOPY none.txt /app/\n", "COPY none.txt: no such file"),
        ("FROM debian\nWORKDIR /app\nCOPY ../outside /app/\n", "COPY ../outside: no such file"),
        ("FROM debian\nWORKDIR /app\nENV A=1 B\n", "ENV takes NAME=value"),
    ],
)
def test_mistakes_are_named(context: Path, text: str, said: str) -> None:
    (context.parent / "outside").write_text("")
    with pytest.raises(UserError, match=said):
        read(context, text)


def test_a_dockerignore_is_not_overlooked(context: Path) -> None:
    (context / ".dockerignore").write_text("a.txt\n")
    with pytest.raises(UserError, match="dockerignore"):
        read(context, "FROM debian\nWORKDIR /app\n")

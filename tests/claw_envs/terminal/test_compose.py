"""Compose files: one machine is read, whatever would be more is refused in one line."""

from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.terminal.formats.compose import Service, read_compose

KNOWN = {
    "T_BENCH_TEST_DIR": "/tests",
    "T_BENCH_TASK_LOGS_PATH": "/host/logs",
    "T_BENCH_CONTAINER_LOGS_PATH": "/logs",
}


def read(folder: Path, service: str, rest: str = "") -> Service:
    path = folder / "docker-compose.yaml"
    lines = "".join(f"    {line}\n" for line in service.splitlines())
    path.write_text(f"services:\n  client:\n{lines}{rest}")
    return read_compose(path, known=KNOWN)


@pytest.mark.parametrize(
    ("service", "build"),
    [
        ("build: .", "."),
        ("build: ./sub", "sub"),
        ("build: {context: sub}", "sub"),
        ("build: {dockerfile: ./Dockerfile}\nimage: named", "."),
        ("tty: true", "."),
    ],
)
def test_what_is_built_is_a_folder(tmp_path: Path, service: str, build: str) -> None:
    assert read(tmp_path, service) == Service((tmp_path / build).resolve(), None, None, {})


def test_the_rest_of_a_machine(tmp_path: Path) -> None:
    service = "image: ${NAME:-org/task}:1\nworking_dir: /srv\nenvironment:\n  A: ${T_BENCH_TEST_DIR}\n  B: 2\n  C: true"
    assert read(tmp_path, service) == Service(None, "org/task:1", "/srv", {"A": "/tests", "B": "2", "C": "true"})


def test_an_environment_may_be_a_list(tmp_path: Path) -> None:
    service = "image: a\nenvironment:\n  - A=$T_BENCH_TEST_DIR/x\n  - B=a=b\n  - C=$$5"
    assert read(tmp_path, service).env == {"A": "/tests/x", "B": "a=b", "C": "$5"}


@pytest.mark.parametrize("key", ["image", "environment", "working_dir", "volumes", "build"])
@pytest.mark.parametrize("value", ["5", "true", "2020-01-01", "{dockerfile: 5}", "&a [*a]"])
def test_values_of_another_kind_are_named(tmp_path: Path, key: str, value: str) -> None:
    rest = f"{key}: {value}"
    if rest == "environment: {dockerfile: 5}":
        return  # a right one
    with pytest.raises(UserError, match=rf"docker-compose.yaml: .*({key}|nested)"):
        read(tmp_path, rest)


@pytest.mark.parametrize(
    "service",
    [
        "container_name: x\nports: ['80:80']\nhealthcheck: {test: x}\nx-note: 1\ndeploy: {resources: {}}\nuser: root",
        "command: sleep infinity",
        'command: ["sh", "-c", "sleep infinity"]',
        'command: ["tail", "-f", "/dev/null"]',
        "command: /bin/bash",
        "entrypoint: bash -lc 'exec sleep 3600'",
        "volumes: ['${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}']",
    ],
)
def test_what_says_nothing_about_the_machine_is_passed_over(tmp_path: Path, service: str) -> None:
    assert read(tmp_path, f"image: a\n{service}") == Service(None, "a", None, {})


@pytest.mark.parametrize(
    ("service", "said"),
    [
        ("image: a\nprivileged: true", "`privileged` cannot be honoured"),
        ("image: a\nenv_file: .env", "`env_file` cannot be honoured"),
        ("image: a\ncommand: service ssh start && sleep infinity", "would run beside the agent"),
        ("image: a\nentrypoint: /start.sh", "entrypoint '/start.sh' would run beside the agent"),
        ("image: a\nvolumes: ['./data:/data']", r"volume '\./data:/data' cannot be mounted"),
        ("image: a\nvolumes: [{type: bind, source: a, target: b}]", "cannot be mounted"),
        ("image: a\nenvironment: ['HOME']", "environment HOME has no value"),
        ("image: a\nenvironment: {HOME: }", "environment HOME has no value"),
        ("image: a\nenvironment: ['A=${HOME}']", r"\$\{HOME\} has no value"),
        ("image: a\nenvironment: ['A=$HOME']", r"\$\{HOME\} has no value"),
        ("build: {args: {A: 1}}", "build: `args` cannot be honoured"),
        ("build: {dockerfile: other.Dockerfile}", "must be named Dockerfile"),
        ("build: ../elsewhere", r"'\.\./elsewhere' is outside of the task's folder"),
        ("build: [a]", "build must be a folder or a mapping"),
    ],
)
def test_what_cannot_be_honoured_is_named(tmp_path: Path, service: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        read(tmp_path, service)
    assert "\n" not in str(caught.value)
    assert "docker-compose.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("services: {client: {image: a}, db: {image: b}}", r"several services \(client, db\)"),
        ("services: {client: {image: a}}\ninclude: [other.yaml]", "`include`"),
        ("services: {client: 3}", "a service must be a mapping"),
        ("services: {}", "no services"),
        ("- a", "no services"),
        ("", "no services"),
        ("services: {a: [", "not valid YAML"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "docker-compose.yaml").write_text(text)
    with pytest.raises(UserError, match=said) as caught:
        read_compose(tmp_path / "docker-compose.yaml")
    assert "\n" not in str(caught.value)

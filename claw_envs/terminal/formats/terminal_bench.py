"""Tasks in Terminal-Bench 0.2's folder format, read into `Task`.

A task is a folder: `task.yaml`, a `Dockerfile` and usually a `docker-compose.yaml` of one service (`client`),
`run-tests.sh`, `tests/` (optional), `solution.sh` or `solution.yaml` (optional). The whole of task.yaml is kept under
`Task.metadata["terminal_bench"]`. The format has no network policy, resources or step limits; where task.yaml states
them they are read by Harbor's names (`network_mode`, `allowed_hosts`, `cpus`, `memory_mb`, `storage_mb`) and ours
(`max_steps`, `step_timeout_sec`). Network is denied unless granted. Not covered: several services, and tests that run
in the agent's own shell, where it could have left anything.
"""

from pathlib import Path

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task, VerifierSpec
from claw_envs.terminal.formats.config import Config, read_yaml
from claw_envs.terminal.formats.parsers import PARSERS
from claw_envs.terminal.formats.spec import describe

TEST_DIR = "/tests"
_AGENT_TIMEOUT, _TEST_TIMEOUT = 360.0, 60.0
_ABOUT = ("author_name", "author_email", "difficulty", "category", "tags")


def recognises(folder: Path) -> bool:
    """Whether `folder` is, or was meant to be, a task of this format."""
    return (folder / "task.yaml").is_file()


def read(folder: Path) -> Task:
    """Read one task folder; the folder's name is the task's id.

    Raises:
        UserError: if it is incomplete, malformed, or asks for what is not covered.
    """
    folder = folder.resolve()
    if not (folder / "run-tests.sh").is_file():
        raise UserError(f"{folder / 'run-tests.sh'}: missing; task {folder.name} needs it")
    data = read_yaml(folder / "task.yaml")
    if not isinstance(data, dict):
        raise UserError(f"{folder / 'task.yaml'}: must hold a mapping with `instruction`")
    config = Config(f"{folder / 'task.yaml'}:", data)
    if config.flag("run_tests_in_same_shell"):
        raise UserError(f"{config.where} run_tests_in_same_shell is not supported; make the tests look at files")
    instruction = config.text("instruction")
    if instruction is None:
        raise UserError(f"{config.where} instruction is missing; write what the agent is to do")
    machine = describe(
        folder,
        config,
        network=config.network(),
        scripts=[folder / "run-tests.sh", *sorted((folder / "tests").rglob("*.sh"))],
        known=_variables(folder.name),
    )
    return Task(
        id=folder.name,
        family="terminal",
        instruction=instruction.strip(),
        sandbox=machine.spec,
        limits=config.limits(episode_timeout=config.number("max_agent_timeout_sec", _AGENT_TIMEOUT)),
        verifier=VerifierSpec(
            kind="terminal-bench",
            timeout=config.number("max_test_timeout_sec", _TEST_TIMEOUT),
            options={"parser": _parser(config)},
        ),
        path=str(folder),
        metadata={key: data[key] for key in _ABOUT if key in data}
        | machine.about
        | {"format": "terminal-bench", "terminal_bench": data},
    )


def _parser(config: Config) -> str:
    name = config.text("parser_name") or "pytest"
    if name not in PARSERS:
        raise UserError(f"{config.where} parser_name must be one of {', '.join(PARSERS)}, got {name!r}")
    return name


def _variables(name: str) -> dict[str, str]:
    """What the original harness sets for compose files; names and paths of its own are only placeholders here."""
    return {
        "T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME": f"claw-envs/{name}",
        "T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME": name,
        "T_BENCH_TASK_DOCKER_NAME_PREFIX": name,
        "T_BENCH_CONTAINER_LOGS_PATH": "/logs",
        "T_BENCH_CONTAINER_AGENT_LOGS_PATH": "/agent-logs",
        "T_BENCH_TASK_LOGS_PATH": "/dev/null/logs",
        "T_BENCH_TASK_AGENT_LOGS_PATH": "/dev/null/agent-logs",
        "T_BENCH_TEST_DIR": TEST_DIR,
    }

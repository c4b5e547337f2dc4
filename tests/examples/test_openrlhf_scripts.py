"""What the scripts of the examples for many machines would run, with stubs in place of the programs that they call."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.examples.files import FOLDER, JUDGED, NAMES, ROOT, settings

SCRIPTS = sorted(FOLDER.glob("*.sh"))
STUB = """#!/bin/sh
echo "$(basename "$0") $*" >>"$CALLS"
case "$(basename "$0") $*" in
    scontrol*) printf 'node1\\nnode2\\nnode3\\n' ;;
    nvidia-smi*) printf 'GPU 0\\nGPU 1\\nGPU 2\\n' ;;
    *hostname*) echo 10.0.0.1 10.0.0.2 ;;
    *"ray start"* | vllm*) echo up >"$CALLS.up"; exec sleep 600 ;;
    curl*) read -r up <"$CALLS.up" ;;
    *python3*) exec 3<>"$CALLS.up"; read -r up <&3; read -r up <&3 ;;
esac
"""
"""Notes that it was called. What waits for others waits until these were noted, and those go on until they are ended: a
script that leaves one behind is waited for in vain.
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where programs that the scripts run are noted, in place of being run."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("claw", "ray", "srun", "scontrol", "nvidia-smi", "vllm", "curl"):
        (programs / name).write_text(STUB)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for name in ("JUDGE_URL", "RUN", "IMAGE", "RAY_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    os.mkfifo(tmp_path / "calls.up")
    return tmp_path / "calls"


def script(name: str, *arguments: str, calls: Path, **environment: str) -> list[str]:
    command = ["bash", str(FOLDER / name), *arguments]
    env = os.environ | environment
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return calls.read_text().splitlines()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_the_scripts_are_sound(path: Path) -> None:
    subprocess.run(["bash", "-n", str(path)], check=True, timeout=60)
    assert os.access(path, os.X_OK) is (path.name != "common.sh")
    if shutil.which("shellcheck"):
        command = ["shellcheck", "-x", "-P", "SCRIPTDIR", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_one_machine_tries_an_example(name: str, calls: Path) -> None:
    (call,) = script("one_node.sh", name, "--dry-run", calls=calls)
    assert call == f"claw train {settings(name).family} --trainer openrlhf --config {FOLDER / name}.toml --dry-run"


@pytest.mark.parametrize("name", NAMES)
def test_one_machine_serves_the_judge_where_there_is_one(name: str, calls: Path) -> None:
    noted = script("one_node.sh", name, "--", "--vllm.num_engines", "1", calls=calls)
    assert sum(call.startswith("vllm serve") and " judge " in call for call in noted) == (name in JUDGED)
    assert noted[-1].startswith("claw train")
    assert noted[-1].endswith(".toml -- --vllm.num_engines 1")
    judge = settings(name).judge
    served = ("prm", "judge", "http://127.0.0.1:8001/v1")
    assert (judge.kind, judge.model, judge.base_url) == (served if name in JUDGED else ("rules", "", ""))


def test_slurm_starts_ray_on_every_node_and_then_the_run(calls: Path, tmp_path: Path) -> None:
    job = {"SLURM_SUBMIT_DIR": str(ROOT), "SLURM_JOB_NODELIST": "node[1-3]", "RUN": str(tmp_path / "run")}
    noted = script("slurm.sh", "swe", "--set", "env.tasks=verified", calls=calls, **job)
    assert any("--nodelist=node1 " in call and "ray start --head --node-ip-address=10.0.0.1" in call for call in noted)
    others = "--nodelist=node2,node3 --nodes=2 --ntasks=2"
    assert any(others in call and "ray start --address" in call for call in noted)
    assert f"claw train swe --trainer openrlhf --config {FOLDER}/swe.toml --run {tmp_path}/run --set" in noted[-1]
    assert "--resume" not in noted[-1]


def test_slurm_goes_on_with_a_run_that_was_begun(calls: Path, tmp_path: Path) -> None:
    (tmp_path / "config.toml").touch()
    job = {"SLURM_SUBMIT_DIR": str(ROOT), "SLURM_JOB_NODELIST": "node[1-3]", "RUN": str(tmp_path)}
    noted = script("slurm.sh", "personal", calls=calls, JUDGE_URL="http://judge:8001", **job)
    assert noted[-1].endswith(f"--run {tmp_path} --set judge.base_url=http://judge:8001/v1 --resume")


def test_a_job_carries_the_variables_that_it_is_told_to(calls: Path, tmp_path: Path) -> None:
    cluster = {"RAY_API_SERVER_ADDRESS": "http://head:8265"}
    variables = cluster | {"RUN": "/shared/run", "HF_TOKEN": "a 'secret'", "PASS": "HF_TOKEN NONE"}
    (call,) = script("ray_job.sh", "terminal", calls=calls, **variables)
    submit, _, run = call.partition(" -- ")
    start, _, environment = submit.partition(" --runtime-env-json ")
    assert start == f"ray job submit --working-dir {FOLDER}"
    assert json.loads(environment)["env_vars"] == {"RAY_OVERRIDE_JOB_RUNTIME_ENV": "1", "HF_TOKEN": "a 'secret'"}
    assert run == "claw train terminal --trainer openrlhf --config terminal.toml --run /shared/run"


@pytest.mark.parametrize("name", ["slurm.sh", "ray_job.sh"])
def test_a_judge_that_is_nowhere_is_said(name: str, calls: Path) -> None:
    cluster = {"SLURM_SUBMIT_DIR": str(ROOT), "RAY_API_SERVER_ADDRESS": "http://head:8265"}
    env = os.environ | cluster | {"RUN": "/shared/run"}
    command = ["bash", str(FOLDER / name), "gui"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "the example gui has a judge: serve it" in done.stderr
    assert not calls.exists()


@pytest.mark.parametrize("name", ["one_node.sh", "ray_job.sh"])
def test_a_name_that_is_no_example_is_said(name: str, calls: Path) -> None:
    done = subprocess.run(["bash", str(FOLDER / name), "chat"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "there are: terminal, gui, swe, toolcall, personal" in done.stderr

"""Attacks on the verdict: each leaves the score at 0, and none turns it into an infrastructure failure."""

from collections.abc import Callable
from pathlib import Path

import pytest

from claw_envs.terminal.env import TerminalEnv

SUBMIT = "```bash\nsubmit\n```"
REWARD = "/logs/verifier/reward.txt"
FORGE = f"mkdir -p /logs/verifier; echo 1 > {REWARD}; echo 1 > /logs/verifier/reward.json"

ATTACKS = {
    "reward written beforehand": FORGE,
    "reward folder is a link": "mkdir -p /app/mine /logs; echo 1 > mine/reward.txt; ln -s /app/mine /logs/verifier",
    "logs is a link": "mkdir -p /app/mine/verifier; echo 1 > mine/verifier/reward.txt; ln -s /app/mine /logs",
    "reward folder cannot be emptied": f"{FORGE}; chmod 000 /logs/verifier; chmod 555 /logs",
    "own tests": f"mkdir -p /tests; printf 'echo 1 > {REWARD}' > /tests/test.sh; chmod -R 555 /tests",
    "tests is a link": f"mkdir -p mine; printf 'echo 1 > {REWARD}' > mine/test.sh; ln -s /app/mine /tests",
    "programs in the search path": f"""
        mkdir -p /app/bin /home/agent/bin /home/agent/.local/bin
        for place in /app/bin /home/agent/bin /home/agent/.local/bin /usr/local/bin; do
          for name in python3 bash sh cat tar mkdir; do
            printf '#!/bin/sh\\n{FORGE}\\n' > $place/$name; chmod 755 $place/$name
          done
        done 2>/dev/null
        export PATH=/app/bin:$PATH""",
    "start-up files": f"""
        for file in .bashrc .profile .bash_profile .bash_login .bash_logout; do echo '{FORGE}' > /home/agent/$file; done
        for file in /etc/profile /etc/bash.bashrc /root/.bashrc; do echo '{FORGE}' >> $file; done 2>/dev/null
        export BASH_ENV=/home/agent/.bashrc ENV=/home/agent/.bashrc""",
    "python modules": f"""
        mkdir -p /home/agent/.local/lib/python3.{{11,12,13}}/site-packages
        for file in sitecustomize.py usercustomize.py json.py os.py answers.py pathlib.py; do
          for place in /app /tmp /home/agent/.local/lib/python3.*/site-packages; do
            echo 'import os; os.system("{FORGE}"); os._exit(0)' > $place/$file
          done
        done
        export PYTHONPATH=/app""",
    "background writer": f"""
        cat > loop.sh <<'END'
        trap '' HUP TERM INT
        while :; do {FORGE}; done 2>/dev/null
END
        for i in 1 2 3; do setsid nohup bash loop.sh > /dev/null 2>&1 & done
        (setsid bash -c 'setsid bash loop.sh &' > /dev/null 2>&1 &)""",
    "programs of the system replaced": f"""
        mkdir /tmp/new; for name in sh bash mkdir tar; do printf '#!/usr/bin/bash\\n{FORGE}\\n' > /tmp/new/$name; done
        chmod 755 /tmp/new/*; mv /bin /old; mv /tmp/new /bin""",
    "loader of the system removed": "mkdir /old; mv /lib* /old/ || /usr/bin/mv /lib64 /old64",
    "system configuration replaced": f"""
        printf '/app/evil.so\\n' > /etc/ld.so.preload; printf 'not a library' > /app/evil.so; : > /etc/ld.so.cache
        printf 'root:x:0:0::/app:/bin/false\\n' > /etc/passwd
        for file in /etc/profile /etc/bash.bashrc; do echo '{FORGE}' > $file; done
        rm -rf /etc/python3* /etc/alternatives""",
    "disk is full": "head -c 1G /dev/zero > fill; i=0; while : > empty$i; do i=$((i + 1)); done 2> /dev/null",
    "process slots are used up": "bomb() { bomb | bomb & }; bomb",
    "answer is a link to the tests": "ln -s /tests/check.py hello.txt",
    "answer is a pipe": "mkfifo hello.txt",
    "answer is a device": "ln -s /dev/zero hello.txt",
    "answer is a folder": "mkdir hello.txt",
    "answer is huge": "truncate -s 100M hello.txt",
    "answer by way of a folder link": "mkdir w; printf 'Hello, world!\\n' > w/hello.txt; ln -s w/hello.txt hello.txt",
}  # fmt: skip


@pytest.fixture(scope="module")
def env():  # type: ignore[no-untyped-def]
    env = TerminalEnv()
    yield env
    env.close()


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_the_score_stays_zero(env: TerminalEnv, attack: str) -> None:
    env.reset(options={"task": "hello-file"})
    env.step(f"```bash\n{attack}\n```")
    _, reward, _, _, info = env.step(SUBMIT)
    assert info["status"] == "COMPLETED", info.get("error")
    assert reward == 0.0


@pytest.mark.parametrize("attack", [*(name for name in ATTACKS if "system" in name), "background writer", "own tests"])
def test_an_honest_solution_still_scores(env: TerminalEnv, attack: str) -> None:
    env.reset(options={"task": "hello-file"})
    env.step(f"```bash\nprintf 'Hello, world!\\n' > /app/hello.txt\n{ATTACKS[attack]}\n```")
    _, reward, _, _, info = env.step(SUBMIT)
    assert reward == 1.0, info


def test_a_program_under_test_has_no_power_over_its_verdict(env: TerminalEnv) -> None:
    env.reset(options={"task": "word-frequency"})
    env.step(f"""```bash
cat > wordfreq.sh <<'END'
({FORGE}) 2>/dev/null
(setsid bash -c 'while :; do {FORGE}; done' > /dev/null 2>&1 &)
cp -r /tests /tmp/seen; ls /tests; cat /tests/check.py
for pid in $(ls /proc | grep -E '^[0-9]+$'); do cat /proc/$pid/environ; kill -9 $pid; done 2>/dev/null
END
```""")
    _, reward, _, _, info = env.step(SUBMIT)
    assert info["status"] == "COMPLETED", info.get("error")
    assert reward == 0.0
    assert "check.py'" not in info["report"]["log"], "the program read the tests"


PASSES = "echo '== short test summary info =='; echo PASSED check.py::test_done"
BENCH_ATTACKS = {
    "own tests": f"""
        mkdir /tests; echo "{PASSES}" | tee /tests/run-tests.sh > /tests/check.sh; chmod -R 555 /tests""",
    "tests is a link": f"mkdir mine; echo \"{PASSES}\" > mine/check.sh; ln -s /app/mine /tests",
    "programs in the search path": f"""
        for place in /app /home/agent /usr/local/bin; do
          mkdir -p $place/bin; for name in bash cat echo; do echo "#!/bin/sh\n{PASSES}" > $place/bin/$name; done
          chmod 755 $place/bin/*
        done 2> /dev/null
        export PATH=/app/bin:$PATH""",
    "start-up files": f"""
        for file in .bashrc .profile .bash_profile; do echo "{PASSES}; exit" > /home/agent/$file; done
        export BASH_ENV=/home/agent/.bashrc ENV=/home/agent/.bashrc TEST_DIR=/app""",
    "printed on every terminal": f"""
        (setsid bash -c "trap '' HUP TERM; while :; do {PASSES}; done > /proc/1/fd/1" > /dev/null 2>&1 &)""",
}  # fmt: skip


@pytest.mark.parametrize("attack", BENCH_ATTACKS.values(), ids=BENCH_ATTACKS)
def test_the_score_of_a_log_stays_zero(make_tb_task: Callable[..., Path], attack: str) -> None:
    env = TerminalEnv(str(make_tb_task()))
    try:
        env.reset(seed=0)
        env.step(f"```bash\n{attack}\n```")
        _, reward, _, _, info = env.step(SUBMIT)
    finally:
        env.close()
    assert info["status"] == "COMPLETED", info.get("error")
    assert (reward, info["report"]["tests"]) == (0.0, {"check.py::test_done": False})


def test_output_cannot_pass_for_the_header(env: TerminalEnv) -> None:
    env.reset(options={"task": "hello-file"})
    observation, *_ = env.step("```bash\nprintf '[exit 0 | /app]\\n[submitted]\\n'; cd /tmp; false\n```")
    assert observation["text"] == "[exit 1 | /tmp]\n[exit 0 | /app]\n[submitted]"
    assert observation["exit_code"] == 1

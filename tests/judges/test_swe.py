"""SWE episodes before a judge: what it is shown, and that every score lands on its own step."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.env import Action, ClawEnv, Outcome, Step, text_of
from claw_envs.core.episode import Observation, Turn
from claw_envs.core.llm import ChatClient
from claw_envs.core.task import Limits, Task, VerifierSpec
from claw_envs.swe.env import SweEnv
from claw_envs.swe.tools import toolset
from claw_envs.wire.calls import Malformed
from judges import JudgeReward, PRMJudge, RulesJudge
from judges.material import prompt
from trainers.collector import Collector
from trainers.config import load_config
from trainers.judging import JudgeLoop
from trainers.pacer import Pacer
from trainers.policies.base import Completion, Prompt, Sampling
from trainers.records import RecordWriter
from trainers.signals import process_reward
from trainers.store import Store

from ..claw_envs.swe.tiny import make_task
from .chat_server import Body, ChatServer
from .test_attacks import ATTACKS

TASK = Task(
    id="pallets__flask-5014",
    family="swe",
    instruction="Require a non-empty name for Blueprints",
    verifier=VerifierSpec(kind="swebench"),
    limits=Limits(max_steps=7),
)
MESSAGES = [
    "I look.\n```bash\nrun-0 good\n```",
    "There is no command in this one: run-1.",
    "```bash\nrun-2 bad\n```",
    "```bash\nrun-3 good\n```\n```bash\nrun-3 twice\n```",
    "",
    "```python\nrun-5 good\n```",
    "```bash\nrun-6 good\n```",
]
"""The second, fourth, fifth and sixth are malformed."""
SCORES = [1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0]


class Bench(ClawEnv):
    """Runs nothing: the result of `run-N WORD` is `ran-N`, with exit code 1 where the word is `bad`."""

    family = "swe"

    async def _start(self, task: Task) -> Observation:
        self.step_number = -1
        return Observation(role="user", text=task.instruction)

    async def _act(self, action: Action) -> Step:
        self.step_number += 1
        await asyncio.sleep(0)
        (call,) = toolset(True).parse(action)
        if isinstance(call.tool, Malformed):
            text = f"[not run]\nrefused-{self.step_number}: {call.tool.problem}"
            return Step(Observation(role="environment", text=text))
        code = int("bad" in text_of(action))
        text = f"[exit {code} | /testbed]\nran-{self.step_number}"
        return Step(Observation(role="tool", text=text, exit_code=code))

    async def _verify(self) -> Outcome:
        return Outcome(-1.0, {"resolved": False})


class Script:
    """A policy that says `MESSAGES` in order, whatever comes back."""

    version = 0

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Completion:
        said = sum(message["role"] == "assistant" for message in prompt if isinstance(message, dict))
        return Completion([1, 2], [3, 4], [-0.1, -0.2], [0, 0], "stop", MESSAGES[said])

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        raise NotImplementedError

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        """Nothing to release."""


def part(text: str, name: str) -> str:
    found = re.search(rf"--- begin {re.escape(name)}[^\n]* ---\n(.*?)\n--- end {re.escape(name)}", text, re.DOTALL)
    return found[1] if found else ""


async def read_and_vote(body: Body) -> str:
    """Checks that everything shown belongs together, and votes by what came back; early steps answer last."""
    text = body["messages"][1]["content"]
    step = int(re.findall(r"the agent's step (\d+) of at most 7", text)[0]) - 1
    for _ in range(2 * (len(MESSAGES) - step)):
        await asyncio.sleep(0.001)
    action, came = part(text, "action"), part(text, "next state")
    pairs = [(part(text, f"step {i + 1}, command"), part(text, f"step {i + 1}, result")) for i in range(step)]
    shown = [*pairs, (action, came)]
    aligned = all(f"ran-{i}" in result or f"refused-{i}" in result for i, (_, result) in enumerate(shown))
    said = all((f"run-{i}" in command) == (f"run-{i}" in MESSAGES[i]) for i, (command, _) in enumerate(shown))
    if not (aligned and said and len(re.findall(r"--- begin step \d+, command", text)) == step):
        return "I cannot tell."
    return f"\\boxed{{{1 if '[exit 0' in came else -1}}}"


def test_scores_stay_with_their_steps_after_malformed_messages() -> None:
    async def run() -> list[float | None]:
        scores = []
        async with ChatServer(read_and_vote) as server:
            client = ChatClient(server.url, "judge")
            env = JudgeReward(Bench([TASK]), PRMJudge(client, votes=1))
            for _ in range(2):
                await env.areset()
                for message in MESSAGES:
                    *_, info = await env.astep(message)
                    scores.append(info["verdict"].score)
            await client.aclose()
        return scores

    assert asyncio.run(run()) == SCORES * 2


def test_they_stay_so_in_training_where_verdicts_come_late_and_out_of_order(tmp_path: Path) -> None:
    async def run() -> list[Turn]:
        config = load_config("swe", None, {"signal": "step_index", "batch_size": "4", "rollout.parallel": "2"})
        async with ChatServer(read_and_vote) as server:
            client = ChatClient(server.url, "judge")
            judging = JudgeLoop(PRMJudge(client, votes=1), workers=8, capacity=4)
            store, pacer, records = Store(tmp_path / "store.sqlite"), Pacer(4), RecordWriter(tmp_path / "records")
            collector = Collector([Bench([TASK]), Bench([TASK])], Script(), judging, store, pacer, records, config)
            loops = [asyncio.create_task(judging.run()), asyncio.create_task(collector.run())]
            async with asyncio.timeout(60):
                await collector.accepted.wait()
            for loop in loops:
                loop.cancel()
            await asyncio.gather(*loops, return_exceptions=True)
            await client.aclose()
        records.close()
        return [turn for unit in store.claim(1, 4) for episode in unit.episodes for turn in episode.turns]

    turns = asyncio.run(run())
    assert len(turns) == 4 * len(MESSAGES)
    assert [turn.response for turn in turns] == MESSAGES * 4
    assert [process_reward(turn.verdict) for turn in turns] == SCORES * 4


def call(name: str, **arguments: Any) -> str:
    return f"I use a tool.\n<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def block(command: str) -> str:
    return f"THOUGHT: on it.\n\n```bash\n{command}\n```"


def as_native(message: str) -> Action:
    """The message with its `<tool_call>` as an OpenAI call."""
    text, found, rest = message.partition("<tool_call>")
    if not found:
        return message
    asked = json.loads(rest.removesuffix("</tool_call>"))
    function = {"name": asked["name"], "arguments": json.dumps(asked["arguments"])}
    return {"role": "assistant", "content": text, "tool_calls": [{"id": "1", "type": "function", "function": function}]}


WRONG, RIGHT = "def add(a, b):\n    return a - b", "def add(a, b):\n    return a + b"


@pytest.mark.parametrize("native", [False, True])
def test_the_rules_read_the_real_environment(native: bool, tmp_path: Path) -> None:
    steps: list[tuple[str, float | None]] = [
        (call("view_file", path="calc.py"), 1.0),
        (call("view_file", path="nothing.py"), -1.0),
        (block("grep -rn multiply ."), 1.0),
        (block("grep -rn multiply nothing"), -1.0),
        ("I would now edit calc.py.", -1.0),
        (call("edit_file", path="calc.py", old="return a * b", new="return a"), -1.0),
        (call("edit_file", path="calc.py", old=WRONG, new=RIGHT), 1.0),
        (call("edit_file", path="calc.py"), -1.0),
        (call("write_file", path="/tmp/check.py", content="import calc\n"), 1.0),
        (call("fly", path="calc.py"), -1.0),
        (call("bash", command="git diff --exit-code"), 1.0),
        (block("python3 -c 'import sys; sys.exit(3)'"), -1.0),
        (block("submit"), None),
    ]
    env = JudgeReward(SweEnv([make_task(tmp_path)], max_steps=len(steps)), RulesJudge())
    env.reset()
    scores = []
    for message, _ in steps:
        *_, info = env.step(as_native(message) if native else message)
        scores.append(info["verdict"].score)
    env.close()
    assert scores == [score for _, score in steps]
    assert info["report"]["status"] == "resolved"


def swe_turn(step: int, response: str, output: str, *, code: int | None = 0) -> Turn:
    observation = Observation(role="environment" if code is None else "tool", text=output, exit_code=code)
    return Turn(episode_id="e", step=step, messages=[], response=response, observation=observation)


def test_the_last_steps_are_shown_each_with_its_result_and_cut() -> None:
    history = [
        swe_turn(i, f"I think.\n```bash\ncommand-{i}{'y' * 2_000}\n```", f"output-{i}" + "z" * 9_000) for i in range(12)
    ]
    history[-1] = swe_turn(11, "I forgot the block.", "[not run]\nThere was no command in the message.", code=None)
    history[-2].tool_calls = [{"function": {"name": "edit_file", "arguments": '{"path": "a.py"}'}}]
    system, user = prompt("prm", swe_turn(12, "a" * 9_000, "b" * 9_000, code=3), TASK, history=history)
    text = user["content"]
    assert "shell and an editor" in system["content"]
    assert TASK.instruction in text
    assert "command-3" not in text
    places = [text.index(f"{what}-{i}") for i in range(4, 10) for what in ("command", "output")]
    assert places == sorted(places)
    assert "I think." not in text
    assert '"edit_file"' in part(text, "step 11, command")
    assert part(text, "step 12, command") == "I forgot the block."
    assert "begin step 12, result (environment)" in text
    assert "begin next state (tool, exit code 3)" in text
    cut = [int(count) for count in re.findall(r"\[(\d+) characters left out\]", text)]
    assert set(cut) == {1_009, 7_008, 7_009, 5_000, 3_000}
    assert len(text) < 40_000


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_what_earlier_steps_printed_is_fenced(attack: str) -> None:
    history = [swe_turn(0, f"```bash\necho '{attack}'\n```", attack), swe_turn(1, attack, attack, code=None)]
    text = prompt("prm", swe_turn(2, "submit", "[submitted]"), TASK, history=history)[1]["content"]
    code = re.findall(r"carry the code (\w{16})", text)[0]
    fences = [line for line in text.splitlines() if line.endswith(f" {code} ---")]
    parts = ("task", "step 1, command", "step 1, result", "step 2, command", "step 2, result", "action", "next state")
    assert len(fences) == 2 * len(parts)
    assert all(part(text, name) for name in parts)
    assert not re.search(r"\\boxed|<\||\[HINT_(?:START|END)\]|</think>", text)


def test_an_ended_step_is_judged_like_any_other() -> None:
    turn = swe_turn(6, "```bash\nsubmit\n```", "[submitted]", code=None)
    assert "step 7 of at most 7" in prompt("hint", turn, TASK)[1]["content"]

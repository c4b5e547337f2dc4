"""The environment's own part of an episode: what is carried out, what the agent is told, how it ends."""

import asyncio
import json
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from claw_envs.core.episode import Status, Turn, Verdict
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.gui import acts
from claw_envs.gui.backends import Place
from claw_envs.gui.env import GuiEnv
from judges import JudgeReward

from .drawn import SIZE, DrawnScenario, DrawnScreen, set_stage, task

CLICK = 'click("1")'
MALFORMED = "Now I press the button."


def native(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    entries = [
        {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for i, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": "", "tool_calls": entries}


class Played:
    """One episode on a drawn screen."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, screen: DrawnScreen | None = None, **scenario: Any) -> None:
        self.screen = screen or DrawnScreen()
        self.scenario = DrawnScenario(self.screen, **scenario)
        set_stage(monkeypatch, self.scenario)
        self.env: GuiEnv

    def __call__(self, *messages: Any, limits: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
        self.env = GuiEnv([task(**limits or {})], size=SIZE, **({"coordinates": "pixels"} | settings))
        _, info = self.env.reset(seed=3)
        self.texts = [self.env.last_observation.text]
        self.observations = [self.env.last_observation]
        self.infos = [info]
        for message in messages:
            seen, self.reward, *_, info = self.env.step(message)
            assert seen in self.env.observation_space
            self.texts.append(self.env.last_observation.text)
            self.observations.append(self.env.last_observation)
            self.infos.append(info)
        self.env.close()
        return info


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    return Played(monkeypatch)


def test_the_first_observation_is_the_task_and_the_screen(played: Played) -> None:
    info = played()
    assert played.texts[0] == (
        "Press Go. Now.\n\nURL: http://drawn.test/\nTitle: Drawn\n"
        'Focused: [1] button "Go"\n[1] button "Go" (40,50,80,20) focused\n[10 turns left]'
    )
    first = played.observations[0]
    assert (first.role, first.url) == ("user", "http://drawn.test/")
    assert first.axtree == '[1] button "Go" (40,50,80,20) focused'
    assert first.screenshot is not None
    assert first.screenshot.shape == (200, 320, 3)
    assert info["tools"]
    assert "click" in info["system_prompt"]
    assert played.env.task.instruction == "Press Go. Now."


def test_an_action_is_answered_with_what_can_be_seen(played: Played) -> None:
    played(CLICK)
    assert played.texts[1].startswith("[ok]\nURL: http://drawn.test/\n")
    assert played.texts[1].endswith("focused\n[9 turns left]")
    assert played.observations[1].role == "tool"
    assert played.screen.done == [acts.ClickElement("1")]


@pytest.mark.parametrize(
    ("message", "ending", "kind"),
    [("done()", "done", acts.Done), ('fail("no lamp")', "fail", acts.Fail), ('answer("7")', "answer", acts.Answer)],
)
def test_the_agent_ends_the_episode(played: Played, message: str, ending: str, kind: type) -> None:
    info = played(CLICK, message)
    assert (info["status"], info["report"]["ending"], played.reward) == ("COMPLETED", ending, 1.0)
    assert isinstance(played.scenario.said[0].ending, kind)
    assert played.scenario.said[0].acts == (acts.ClickElement("1"),)
    assert played.texts[-1] == "[ok]"
    assert played.screen.looks == 2  # the last screen was seen already


def test_a_limit_ends_it_scored(played: Played) -> None:
    info = played(CLICK, limits={"max_steps": 1})
    assert (info["status"], info["report"]["ending"], played.reward) == ("TRUNCATED", "limit", 1.0)
    assert played.scenario.said[0].ending is None
    assert "turns left" not in played.texts[-1]


def test_the_page_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch, ends=1)
    info = played(native(("click", {"id": "1"}), ("done", {})))
    assert (info["status"], info["report"]["ending"]) == ("COMPLETED", "page")
    assert played.scenario.said[0].ending is None
    assert "not run" in played.observations[-1].answers[1].text
    assert played.screen.looks == 2  # what it has become is worth a look


def test_a_page_that_ends_with_an_error_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch, DrawnScreen(lambda _: "the page is gone"), ends=1)
    info = played(CLICK)
    assert (info["status"], info["report"]["ending"]) == ("COMPLETED", "page")
    assert played.texts[-1].startswith("[error: the page is gone]")
    assert played.scenario.said[0].acts == ()


def test_several_calls_are_answered_one_by_one(played: Played) -> None:
    played(native(("click", {"id": "1"}), ("type", {"text": "a"})))
    first, second = played.observations[1].answers
    assert (first.call_id, first.text) == ("c0", "[ok]")
    assert second.call_id == "c1"
    assert second.text.startswith("[ok]\nURL:")
    assert second.text.endswith("[9 turns left]")
    assert played.texts[1].splitlines()[:3] == ["[1/2 click | ok]", "[2/2 type | ok]", "URL: http://drawn.test/"]
    assert played.screen.looks == 2  # once for the whole message


def test_nothing_is_done_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch, DrawnScreen(lambda act: None if act == acts.Type("a") else "no element\n7"))
    played(native(("type", {"text": "a"}), ("click", {"id": "7"}), ("done", {})))
    answers = [answer.text for answer in played.observations[1].answers]
    assert answers[:2] == ["[ok]", "[error: no element 7]"]
    assert answers[2].startswith("[not run]\nan earlier action failed\nURL:")
    assert played.infos[-1]["status"] == "RUNNING"


def test_a_malformed_message_costs_a_step_and_changes_nothing(played: Played) -> None:
    info = played(CLICK, MALFORMED)
    before, after = played.observations[1:]
    assert after.role == "environment"
    assert after.text.startswith("[not run]\n")
    assert after.text.endswith("\n[8 turns left]")
    assert (played.screen.looks, len(played.screen.done)) == (2, 1)
    assert np.array_equal(after.screenshot, before.screenshot)  # type: ignore[arg-type]
    assert (after.axtree, after.url) == (before.axtree, before.url)
    assert (info["status"], info["step_index"]) == ("RUNNING", 2)


@pytest.mark.parametrize(
    "broken",
    [
        native(("click", {"where": "there"}), ("fail", {})),
        '<tool_call>{"name": "fail"</tool_call>',
        "fail(",
        "I FAIL.",
        "```\nFAIL",
        "",
        {"tool_calls": 7},
    ],
)
def test_what_cannot_be_read_never_ends_an_episode_and_never_counts_as_giving_up(played: Played, broken: Any) -> None:
    info = played(broken, limits={"max_steps": 2})
    assert info["status"] == "RUNNING"
    info = played(broken, broken, limits={"max_steps": 2})
    assert (info["status"], info["report"]["ending"], played.reward) == ("TRUNCATED", "limit", -1.0)
    assert [said.ending for said in played.scenario.said] == [None]


def test_calls_before_a_broken_one_are_carried_out(played: Played) -> None:
    played(native(("click", {"id": "1"}), ("click", {}), ("done", {})))
    assert played.screen.done == [acts.ClickElement("1")]
    assert played.observations[1].role == "tool"
    assert [answer.text.split("\n")[0] for answer in played.observations[1].answers] == ["[ok]"] + 2 * ["[not run]"]
    assert played.infos[-1]["status"] == "RUNNING"


def test_a_message_that_takes_too_long_is_told(played: Played) -> None:
    played(native(("wait", {"seconds": 60}), ("click", {"id": "1"})), limits={"step_timeout": 0.05})
    assert played.screen.done == [acts.Wait(60)]
    assert played.observations[1].answers[0].text == "[stopped after 0.05 s]"
    assert "this message's 0.05 s were used up" in played.observations[1].answers[1].text
    assert played.infos[-1]["status"] == "RUNNING"


def test_a_lost_screen_aborts_the_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(_: acts.ScreenAct) -> str | None:
        raise InfrastructureError("the browser has died")

    played = Played(monkeypatch, DrawnScreen(lose))
    info = played(CLICK)
    assert (info["status"], info["error"], played.reward) == ("ABORTED", "the browser has died", 0.0)
    assert "report" not in info
    assert played.scenario.said == []
    assert played.texts[-1] == "Episode aborted: the browser has died"


def test_an_episode_that_cannot_begin_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch, lost=True)
    with pytest.raises(InfrastructureError, match="no machine is left"):
        played()
    assert played.screen.closed == played.screen.opened == 1


def test_a_screen_of_another_size_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = DrawnScreen()
    screen.size = (1920, 1080)
    with pytest.raises(UserError, match=r"size=\(1920, 1080\)"):
        Played(monkeypatch, screen)()
    assert screen.closed == 1


def test_a_stage_is_used_again_by_the_next_episode(played: Played) -> None:
    env = GuiEnv([task()], size=SIZE)
    for _ in range(3):
        env.reset(seed=0)
    assert (played.screen.opened, played.screen.closed) == (3, 0)
    env.close()
    env.close()
    assert played.screen.closed == 1


def test_the_seed_decides_the_tasks_own(played: Played) -> None:
    env = GuiEnv([task()], size=SIZE)
    for seed in (5, None, 6, 5, None):
        env.reset(seed=seed)
    first, second, third, *again = played.scenario.seeds
    assert again == [first, second]
    assert len({first, second, third}) == 3
    env.close()


@pytest.mark.parametrize("observe", [[], ["axtree"], ["screenshot"], ["axtree", "screenshot"]])
def test_only_what_is_asked_for_is_made(played: Played, observe: list[str]) -> None:
    played(CLICK, observe=observe, images=int("screenshot" in observe))
    for seen in played.observations:
        assert (seen.axtree is not None, seen.screenshot is not None) == ("axtree" in observe, "screenshot" in observe)
        assert ("[1] button" in seen.text.replace("Focused: [1] button", "")) == ("axtree" in observe)
    assert set(played.env.observation_space) == {"role", "text", "url", *observe}


def test_boxes_and_code_agree_on_coordinates(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    played(coordinates="grid")
    assert "(125,251,251,100)" in played.texts[0]
    monkeypatch.setattr("claw_envs.gui.env.place_of", lambda task, options: Place("osworld", "desktop"))
    played(coordinates="grid", actions="pyautogui")
    assert "(40,50,80,20)" in played.texts[0]


def test_code_is_not_taught_where_none_is_carried_out(played: Played) -> None:
    with pytest.raises(UserError, match="choose other actions"):
        played(actions="pyautogui")
    assert played.screen.opened == 0


def test_render(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch)
    env = GuiEnv([task()], size=SIZE, observe=["axtree"], render_mode="rgb_array")
    blank: Any = env.render()
    assert (blank.shape, blank.max()) == ((200, 320, 3), 0)
    env.reset()
    env.step(CLICK)
    shown: NDArray[np.uint8] = env.render()  # type: ignore[assignment]
    assert (shown == 20).all()
    env.close()
    assert len(played.screen.done) == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"size": (10, 10)}, "size must be"),
        ({"size": "1280 x 720"}, "size must be"),
        ({"size": "1280x9"}, "size must be"),
        ({"observe": ["sound"]}, "observe must be"),
        ({"observe": "axtree,sound"}, "observe must be"),
        ({"actions": "voice"}, "actions must be one of elements, computer_use"),
        ({"coordinates": "inches"}, "coordinates must be one of grid, pixels"),
        ({"backend": "phone"}, "backend must be one of browser, desktop, osworld"),
        ({"sandbox": "local"}, "sandbox must be one of namespace, docker"),
        ({"images": -1}, "images must be"),
        ({"images": 1, "observe": ["axtree"]}, 'needs "screenshot"'),
        ({"max_characters": 0}, "max_characters must be"),
        ({"machines": "docker"}, "machines are for OSWorld's tasks, and here is none: choose tasks="),
        ({"render_mode": "human"}, "'ansi' or 'rgb_array'"),
    ],
)
def test_a_users_mistakes_are_named(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        GuiEnv([task()], **wrong)


def test_size_and_parts_as_a_command_line_has_them() -> None:
    seen = GuiEnv([task()], size="320x200", observe="axtree, screenshot").observation_space.sample()
    assert (seen["screenshot"].shape, "axtree" in seen) == ((200, 320, 3), True)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"observe": ["screenshot"]}, "nothing of the screen: add axtree"),
        ({"observe": ["screenshot"], "images": 1}, "no ids of elements, which it is told to name"),
        ({"observe": ["screenshot"], "images": 1, "actions": "computer_use"}, None),
        ({}, None),
    ],
)
def test_an_agent_that_cannot_see_what_it_needs_is_warned_of(settings: dict[str, Any], said: str | None) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GuiEnv([task()], **settings)
    assert [said in str(each.message) for each in caught if said] == [True] * (said is not None)
    assert bool(caught) == bool(said)


def test_what_would_be_right_is_said_in_the_form_that_was_taught(played: Played) -> None:
    played(MALFORMED, actions="computer_13")
    assert '{"action_type": "CLICK"' in played.texts[-1]
    assert "click(" not in played.texts[-1]


def test_a_full_context_says_what_makes_observations_smaller(played: Played) -> None:
    played()
    env = GuiEnv([task()], size=SIZE, max_characters=5000)
    env.reset()
    info = asyncio.run(env.atruncate())
    env.close()
    assert (info["status"], info["outcome"]) == (Status.TRUNCATED, -1.0)
    assert info["error"].startswith("the model's context was full: a smaller max_characters (here 5000)")


def test_a_task_of_an_unknown_kind_or_place(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="cannot run on the backend desktop; it runs on: browser"):
        GuiEnv([task()], backend="desktop").reset()


def test_it_runs_on_any_loop(played: Played) -> None:
    async def episode() -> Status:
        env = GuiEnv([task()], size=SIZE)
        await env.areset(seed=0)
        *_, info = await env.astep("done()")
        await env.aclose()
        return Status(info["status"])

    assert asyncio.run(episode()) is Status.COMPLETED


def test_a_judge_sees_what_was_there_before_the_first_action(played: Played) -> None:
    class Keeping:
        turns: list[Turn] = []

        async def judge(self, turn: Turn, history: Any, task: Task) -> Verdict:
            self.turns.append(turn)
            return Verdict(status="abstained")

    env = JudgeReward(GuiEnv([task()], size=SIZE), Keeping())
    env.reset(seed=0)
    env.step(CLICK)
    env.step(CLICK)
    first, second = Keeping.turns
    assert first.opening is not None
    assert first.observation is not None
    shades = [int(seen.screenshot[0, 0, 0]) for seen in (first.opening, first.observation)]  # type: ignore[index]
    assert shades == [0, 20]
    assert second.opening is None
    env.close()

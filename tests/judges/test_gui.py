"""Steps on a screen before a judge: what the rules read in two screens, and what a model is shown of them."""

import asyncio
import base64
import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from claw_envs.core.episode import Observation, Turn
from claw_envs.core.llm import ChatClient
from claw_envs.core.task import Limits, Task, VerifierSpec
from claw_envs.gui.actions import Space, prompt
from claw_envs.gui.actions.frame import Coordinates
from claw_envs.gui.env import GuiEnv
from judges import HintJudge, JudgeReward, PRMJudge, RulesJudge, material
from judges.parse import hint_vote, vote
from judges.pictures import WIDTH, ringed

from ..claw_envs.gui.drawn import SIZE as DRAWN_SIZE
from ..claw_envs.gui.drawn import DrawnScenario, DrawnScreen, set_stage
from ..claw_envs.gui.drawn import task as drawn_task
from .chat_server import Body, ChatServer
from .test_attacks import ATTACKS

TASK = Task(
    id="shop/lamp",
    family="gui",
    instruction="Put the lamp into the cart.",
    verifier=VerifierSpec(kind="webapp"),
    limits=Limits(max_steps=9),
)
TREE = """[1] heading "Shop" (20,20,200,40)
[7] textbox "Name" (40,100,200,24) focused
[12] button "Buy (2)" (40,150,90,32)"""
Picture = NDArray[np.uint8]


def drawn(
    *, text: str = "", caret: bool = False, clock: str = "12:41", button: str = "white", tick: bool = False
) -> Picture:
    """A page with a text field, a button, a box to tick, and a clock in the corner."""
    image = Image.new("RGB", (1280, 720), "white")
    pen = ImageDraw.Draw(image)
    pen.text((1230, 5), clock, "black")
    pen.rectangle((40, 100, 240, 124), outline="gray")
    pen.text((45, 106), text, "black")
    if caret:
        pen.line((45, 103, 45, 121), "black")
    pen.rectangle((40, 150, 130, 182), button, "gray")
    pen.text((60, 160), "Buy (2)", "black")
    pen.rectangle((40, 200, 54, 214), "black" if tick else "white", "gray")
    return np.asarray(image)


def seen(
    text: str = "[ok]", *, picture: Picture | None = None, tree: str | None = TREE, role: Any = "tool", url: str = "/"
) -> Observation:
    whole = "\n".join([text, f"URL: http://shop.test{url}", "Title: Shop", *([tree] if tree else []), "[8 turns left]"])
    return Observation(role=role, text=whole, screenshot=picture, axtree=tree, url=f"http://shop.test{url}")


def step(
    said: str,
    after: Observation,
    before: Observation | None,
    *,
    number: int = 0,
    space: Space = "elements",
    coordinates: Coordinates = "pixels",
) -> Turn:
    system, _ = prompt(space, coordinates, (1280, 720))
    messages = [{"role": "system", "content": system}, {"role": "user", "content": "Shop"}]
    return Turn(episode_id="e", step=number, messages=messages, response=said, observation=after, opening=before)


def ruled(turn: Turn, *history: Turn) -> tuple[float | None, str]:
    verdict = asyncio.run(RulesJudge().judge(turn, history, TASK))
    assert (verdict.score is None) == (verdict.status == "abstained")
    return verdict.score, "".join(verdict.raw)


STILL = seen(picture=drawn())
TRACELESS = [
    'hover("12")',
    "wait(2)",
    "WAIT",
    "reload()",
    "done()",
    'fail("no lamp")',
    'answer("42")',
    'press("ctrl+c")',
    'press("ctrl+s")',
    '{"action_type": "KEY_DOWN", "key": "shift"}',
    '{"action_type": "MOUSE_DOWN"}',
    '{"action_type": "MOVE_TO", "x": 5, "y": 5}',
    "pyautogui.hotkey('ctrl', 'c')",
]
TRACING = [
    'click("12")',
    'fill("7", "lamp")',
    'choose("7", "Large")',
    'drag("7", "12")',
    'scroll("down")',
    'press("enter")',
    'type("lamp")',
    'goto("http://shop.test/cart")',
    "back()",
    'hover("1")\nclick("12")',
    '{"action_type": "CLICK", "x": 5, "y": 5}',
    '<tool_call>{"name": "computer_use", "arguments": {"action": "scroll", "pixels": -5}}</tool_call>',
]


@pytest.mark.parametrize("said", TRACING)
def test_an_action_that_changes_nothing_is_a_fault(said: str) -> None:
    score, why = ruled(step(said, STILL, STILL))
    assert score == -1.0
    assert why.startswith("The action changed nothing: the screenshot and the accessibility tree stayed the same")


@pytest.mark.parametrize("said", TRACELESS)
def test_some_actions_need_not_change_anything(said: str) -> None:
    assert ruled(step(said, STILL, STILL)) == (None, "")


CHANGES = {
    "a text": seen(picture=drawn(text="a lamp that shines")),
    "the look of a button": seen(picture=drawn(button="lightblue")),
    "the tree": seen(picture=drawn(), tree=TREE.replace(" focused", "")),
    "a tick": seen(picture=drawn(tick=True), tree=TREE + '\n[13] checkbox "Gift" (40,200,15,15) checked'),
    "the address": seen(picture=drawn(), url="/cart"),
    "a note": seen("[ok]\nNote: The page asked `Sure?`, which was accepted.", picture=drawn()),
    "the size of the screen": seen(picture=drawn()[:500]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_of_a_change_the_rules_say_nothing(name: str) -> None:
    assert ruled(step('click("12")', CHANGES[name], STILL)) == (None, "")


@pytest.mark.parametrize("picture", [drawn(caret=True), drawn(clock="12:42"), drawn(clock="23:59")])
def test_a_caret_that_blinks_and_a_clock_are_no_change(picture: Picture) -> None:
    assert ruled(step('click("12")', seen(picture=picture), STILL))[0] == -1.0


def test_what_changes_where_it_acted_or_by_the_keyboard_is_no_clock() -> None:
    few = seen(picture=drawn(text="ab"))
    assert ruled(step('type("ab")', few, STILL)) == (None, "")
    assert ruled(step('{"action_type": "CLICK", "x": 45, "y": 110}', few, STILL)) == (None, "")
    assert ruled(step('{"action_type": "CLICK", "x": 900, "y": 600}', few, STILL))[0] == -1.0
    assert ruled(step('press("enter")', seen(picture=drawn(clock="12:42")), STILL)) == (None, "")
    assert ruled(step('press("enter")', seen(picture=drawn(caret=True)), STILL))[0] == -1.0


def test_without_a_tree_a_caret_where_it_clicked_is_a_change() -> None:
    pictures = drawn(), drawn(caret=True), drawn(tick=True)
    bare, caret, tick = (seen(picture=picture, tree=None) for picture in pictures)
    field, elsewhere, box = (
        f'{{"action_type": "CLICK", "x": {x}, "y": {y}}}' for x, y in ((50, 110), (900, 600), (47, 207))
    )
    assert ruled(step(field, bare, bare))[0] == -1.0
    assert ruled(step(field, caret, bare)) == (None, "")
    assert ruled(step(elsewhere, caret, bare))[0] == -1.0
    assert ruled(step(box, tick, bare)) == (None, "")


@pytest.mark.parametrize("before", [None, seen(), seen(picture=drawn(), tree=None)])
def test_where_there_is_nothing_to_compare_the_rules_say_nothing(before: Observation | None) -> None:
    assert ruled(step('click("12")', STILL, before)) == (None, "")
    assert ruled(step('click("12")', seen(), seen())) == (None, "")


def test_before_a_later_step_is_what_the_step_before_it_left() -> None:
    first = step('click("12")', CHANGES["a text"], STILL)
    again = step('click("12")', CHANGES["a text"], None, number=1)
    assert ruled(again, first)[0] == -1.0
    assert ruled(step('click("12")', STILL, None, number=1), first) == (None, "")


@pytest.mark.parametrize(
    ("text", "role", "score"),
    [
        ("[error: there is no element 99]", "tool", -1.0),
        ("[1/2 click | ok]\n[2/2 fill | error: element 7 is disabled]", "tool", -1.0),
        ("[1/2 click | ok]\n[2/2 malformed | not run]\nThe calls cannot be read.", "tool", -1.0),
        ("[1/3 click | error: no]\n[2/3 click | not run]\nan earlier action failed", "tool", -1.0),
        ("[1/2 done | ok]\n[2/2 click | not run]\nthe episode has ended", "tool", None),
        ("[not run]\nThere was no action in the message.", "environment", -1.0),
        ("[ok]\nTitle: [error: this page is not found]", "tool", None),
        ('[ok]\n[3] text "[error: no]"', "tool", None),
    ],
)
def test_a_step_that_failed_is_a_fault(text: str, role: Any, score: float | None) -> None:
    turn = step('done()\nclick("12")', seen(text, picture=drawn(button="red"), role=role), STILL)
    assert ruled(turn)[0] == score


def test_the_rules_read_the_real_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = DrawnScreen(lambda act: "there is no such element" if getattr(act, "id", "1") != "1" else None)
    set_stage(monkeypatch, DrawnScenario(screen))
    steps = {'click("1")': None, 'click("2")': -1.0, "I click.": -1.0, "wait(0)": None, "done()": None}
    env = JudgeReward(GuiEnv([drawn_task()], size=DRAWN_SIZE), RulesJudge())
    env.reset(seed=1)
    scores = []
    for message in steps:
        *_, info = env.step(message)
        scores.append(info["verdict"].score)
    env.close()
    assert scores == list(steps.values())


def test_a_screen_that_does_not_move_is_noticed_in_the_real_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    class Frozen(DrawnScreen):
        async def do(self, act: Any, *, timeout: float) -> str | None:
            return None

    set_stage(monkeypatch, DrawnScenario(Frozen()))
    env = JudgeReward(GuiEnv([drawn_task()], size=DRAWN_SIZE), RulesJudge())
    env.reset(seed=1)
    scores = [env.step('click("1")')[4]["verdict"].score for _ in range(2)]
    env.close()
    assert scores == [-1.0, -1.0]


# --- what a model is shown ----------------------------------------------------------------------------------------


def parts_of(turn: Turn, *history: Turn, **options: Any) -> list[dict[str, Any]]:
    _, user = material.prompt("prm", turn, TASK, history=history, **options)
    content = user["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def text_of(parts: list[dict[str, Any]]) -> str:
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


def images_of(parts: list[dict[str, Any]]) -> list[Picture]:
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [np.asarray(Image.open(BytesIO(base64.b64decode(url.partition(",")[2])))) for url in urls]


def test_the_screens_before_and_after_are_shown_small_and_in_order() -> None:
    parts = parts_of(step('click("12")', CHANGES["the look of a button"], STILL))
    assert [part["type"] for part in parts] == ["text", "text", "image_url", "text", "image_url", "text"]
    assert "before the action; red rings" in parts[1]["text"]
    assert parts[3]["text"] == "The screen after the action:"
    assert parts[-1]["text"].startswith("Judge the action")
    before, after = images_of(parts)
    assert before.shape == after.shape == (WIDTH * 720 // 1280, WIDTH, 3)
    assert len(json.dumps(parts)) < 200_000


def red_at(picture: Picture) -> tuple[float, float]:
    """The middle of what is red, in the pixels of a screen of 1280 by 720."""
    pixels = picture.astype(int)
    rows, columns = np.nonzero((pixels[..., 0] > 180) & (pixels[..., 1] < 90) & (pixels[..., 2] < 90))
    assert len(rows)
    scale = 1280 / picture.shape[1]
    return float(columns.mean() * scale), float(rows.mean() * scale)


@pytest.mark.parametrize(
    ("said", "coordinates", "point"),
    [
        ('click("12")', "pixels", (85, 166)),
        ('<tool_call>{"name": "click", "arguments": {"x": 300, "y": 400}}</tool_call>', "pixels", (300, 400)),
        ('<tool_call>{"name": "click", "arguments": {"x": 500, "y": 500}}</tool_call>', "grid", (640, 360)),
        ('{"action_type": "DRAG_TO", "x": 300, "y": 400}', "pixels", (300, 400)),
    ],
)
def test_a_ring_marks_where_it_acted(said: str, coordinates: Coordinates, point: tuple[int, int]) -> None:
    before, after = images_of(parts_of(step(said, STILL, STILL, coordinates=coordinates)))
    x, y = red_at(before)
    assert abs(x - point[0]) < 3
    assert abs(y - point[1]) < 3
    assert not ((after[..., 0] > 180) & (after[..., 1] < 90)).any(), "only before"


@pytest.mark.parametrize(
    "said", ["I click.", 'press("enter")', 'click("99")', '{"action_type": "CLICK", "x": 5000, "y": 1}']
)
def test_no_ring_where_no_place_was_named(said: str) -> None:
    before, _ = images_of(parts_of(step(said, STILL, STILL)))
    assert not ((before[..., 0] > 180) & (before[..., 1] < 90)).any()


def test_a_ring_at_the_edge_is_cut() -> None:
    assert ringed(drawn(), [(0, 0), (1279, 719)]).shape == (720, 1280, 3)


def test_a_model_that_does_not_see_is_shown_text_alone() -> None:
    turn = step('click("12")', CHANGES["a text"], STILL)
    for parts in (parts_of(turn, images=False), parts_of(step('click("12")', seen(), seen()))):
        assert [part["type"] for part in parts] == ["text"]
        assert "Judge the action" in parts[0]["text"]


def test_the_text_holds_the_steps_without_what_was_seen_and_both_states() -> None:
    first = step(
        'I look.\n```\nhover("1")\n```', seen("[ok]", url="/first"), seen("Put the lamp into the cart.", url="/zero")
    )
    second = step("Hm.", seen("[not run]\nThere was no action.", role="environment", url="/second"), None, number=1)
    text = text_of(parts_of(step('click("12")', seen(url="/third"), None, number=2), first, second))
    order = [
        "step 3 of at most 9",
        TASK.instruction,
        'hover("1")',
        "[ok]",
        "Hm.",
        "There was no action",
        "/second",
        "/third",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "/first" not in text
    assert "/zero" not in text
    assert "begin state before the action" in text


def echo(last: str) -> Any:
    """A judge that repeats the text of its whole prompt, then answers."""

    def answer(body: Body) -> str:
        contents = [message["content"] for message in body["messages"]]
        texts = [content if isinstance(content, str) else text_of(content) for content in contents]
        return "\n".join([*texts, last])

    return answer


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_what_a_page_says_moves_no_score(attack: str) -> None:
    line = f"[12] button {json.dumps(attack)} (40,150,90,32)"
    hostile = seen(
        picture=drawn(text=attack[:40].replace("\n", " ")), tree=f"{TREE}\n{line}\n{attack}", url=f"/{attack}"
    )
    turn = step(f'```\nclick("12")  # {attack}\n```', hostile, hostile)

    async def judged(kind: type[PRMJudge] | type[HintJudge], last: str) -> Any:
        async with ChatServer(echo(last)) as server:
            client = ChatClient(server.url, "judge")
            verdict = await kind(client, votes=1).judge(turn, [turn], TASK)
            await client.aclose()
        return verdict.score, verdict.hint, verdict.status

    assert asyncio.run(judged(PRMJudge, r"\boxed{-1}")) == (-1.0, None, "ok")
    assert asyncio.run(judged(PRMJudge, "I cannot tell.")) == (None, None, "abstained")
    assert asyncio.run(judged(HintJudge, r"\boxed{-1}")) == (None, None, "abstained")
    text = text_of(parts_of(turn, turn))
    assert not re.search(r"\\boxed|<\||\[HINT_(?:START|END)\]|</think>", text)
    for end in range(0, len(text) + 1, 7):
        assert vote(text[:end]) is None
        assert hint_vote(text[:end]) == (None, None)


def test_images_are_recorded_and_replayed(tmp_path: Path) -> None:
    turn, tape = step('click("12")', CHANGES["a text"], STILL), tmp_path / "judge.jsonl"

    async def run() -> list[Any]:
        async with ChatServer(lambda _: "It took the text.\n\\boxed{1}") as server:
            url = server.url
            client = ChatClient(url, "judge", record=tape)
            recorded = await PRMJudge(client, votes=2).judge(turn, [], TASK)
            await client.aclose()
            (image,) = {part["type"] for part in server.requests[0]["messages"][1]["content"]} - {"text"}
            assert image == "image_url"
        client = ChatClient(url, "judge", replay=tape)
        replayed = await PRMJudge(client, votes=2).judge(turn, [], TASK)
        await client.aclose()
        return [recorded, replayed]

    recorded, replayed = asyncio.run(run())
    assert recorded == replayed
    assert recorded.score == 1.0

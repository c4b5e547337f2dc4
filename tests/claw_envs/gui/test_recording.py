"""GIFs of episodes: what they show, and that they stay small, apart and complete."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.gui import acts, gif
from claw_envs.gui.env import GuiEnv
from claw_envs.gui.gif import Gif
from claw_envs.gui.recording import in_words, points_of

from .drawn import BUTTON, SIZE, DrawnScenario, DrawnScreen, set_stage, task

RNG = np.random.default_rng(0)


def frames_of(path: str | Path) -> list[Image.Image]:
    with Image.open(path) as image:
        return [_frame(image, i) for i in range(getattr(image, "n_frames", 1))]


def _frame(image: Image.Image, i: int) -> Image.Image:
    image.seek(i)
    return image.convert("RGB")


def blank(shade: int = 128, *, size: tuple[int, int] = (1280, 720)) -> Any:
    return np.full((size[1], size[0], 3), shade, np.uint8)


def episode(folder: Path, *messages: str, **settings: Any) -> dict[str, Any]:
    env = GuiEnv([task(max_steps=5)], size=SIZE, record=folder, **settings)
    _, info = env.reset(seed=0)
    for message in messages:
        *_, info = env.step(message)
    if info["status"] == "RUNNING" and not messages:
        from claw_envs.core.loop import run_sync

        info = run_sync(env.atruncate())
    env.close()
    return info


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> DrawnScreen:
    screen = DrawnScreen()
    set_stage(monkeypatch, DrawnScenario(screen))
    return screen


def test_an_episode_has_a_frame_a_step_and_a_last_one(screen: DrawnScreen, tmp_path: Path) -> None:
    info = episode(tmp_path / "new", 'click("1")', "what?", "done()")
    path = Path(info["report"]["recording"])
    assert path.parent == tmp_path / "new"
    assert path.name.startswith("drawn-go-")
    assert len(frames_of(path)) == 4
    assert info["report"]["success"]


def test_a_click_has_a_circle_where_it_was(screen: DrawnScreen, tmp_path: Path) -> None:
    info = episode(tmp_path, 'click("1")', "done()")
    first = np.asarray(frames_of(info["report"]["recording"])[0]).astype(int)
    red = (first[:, :, 0] - first[:, :, 1]) > 100
    rows, columns = np.nonzero(red)
    assert abs(rows.mean() - 2 * 60) < 2  # the middle of the button, in a picture of twice the size
    assert abs(columns.mean() - 2 * 80) < 2


@pytest.mark.parametrize("messages", [(), ("what?",) * 5])
def test_a_limit_is_recorded(screen: DrawnScreen, tmp_path: Path, messages: tuple[str, ...]) -> None:
    info = episode(tmp_path, *messages)
    assert info["status"] == "TRUNCATED"
    assert len(frames_of(info["report"]["recording"])) >= 1


def test_a_lost_screen_is_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def lose(act: acts.ScreenAct) -> str | None:
        if isinstance(act, acts.Type):
            raise InfrastructureError("the browser has died")
        return None

    set_stage(monkeypatch, DrawnScenario(DrawnScreen(lose)))
    info = episode(tmp_path, 'click("1")', 'type("a")')
    assert (info["status"], set(info["report"])) == ("ABORTED", {"recording"})
    assert len(frames_of(info["report"]["recording"])) == 2


def test_the_screen_is_recorded_even_where_the_agent_does_not_see_it(screen: DrawnScreen, tmp_path: Path) -> None:
    info = episode(tmp_path, 'click("1")', "done()", observe=["axtree"])
    assert len(frames_of(info["report"]["recording"])) == 3


def test_names_never_collide(screen: DrawnScreen, tmp_path: Path) -> None:
    paths = {episode(tmp_path, "done()")["report"]["recording"] for _ in range(5)}
    assert len(paths) == len(list(tmp_path.glob("*.gif"))) == 5


def test_a_file_name_leads_nowhere_else(tmp_path: Path) -> None:
    made = Gif(tmp_path, "../../etc/passwd\0 🙂" + "x" * 500)
    made.add(blank(), "")
    path = made.save()
    assert path is not None
    assert path.parent == tmp_path
    assert len(path.name) < 120


def test_a_folder_that_cannot_be_written_is_the_users(screen: DrawnScreen, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"record: .* cannot be made"):
        episode(tmp_path / "file", "done()")


def test_without_a_folder_nothing_is_written(screen: DrawnScreen, tmp_path: Path) -> None:
    env = GuiEnv([task()], size=SIZE)
    env.reset()
    *_, info = env.step("done()")
    assert "recording" not in info["report"]
    env.close()


def test_pictures_are_narrowed(tmp_path: Path) -> None:
    made = Gif(tmp_path, "wide")
    made.add(blank(size=(1920, 1080)), "a" * 1000, [(960, 540), (5000, -20)])
    made.add(blank(size=(160, 210)), "")
    path = made.save()
    assert path is not None
    assert frames_of(path)[0].size[0] == gif.WIDTH


def test_a_long_episode_loses_every_other_picture(tmp_path: Path) -> None:
    made = Gif(tmp_path, "long")
    for i in range(gif.MOST_FRAMES + 30):
        made.add(blank(i, size=(64, 64)), str(i))
    path = made.save()
    assert path is not None
    frames = frames_of(path)
    assert gif.MOST_FRAMES // 2 <= len(frames) <= gif.MOST_FRAMES
    assert abs(frames[0].getpixel((20, 20))[0] - 0) < 8  # type: ignore[index]
    assert abs(frames[-1].getpixel((20, 20))[0] - 149) < 8  # type: ignore[index]


def test_a_large_file_is_made_smaller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gif, "MOST_BYTES", 600_000)
    made = Gif(tmp_path, "noisy")
    for _ in range(8):
        made.add(RNG.integers(0, 255, (360, 640, 3), dtype=np.uint8), "noise")
    path = made.save()
    assert path is not None
    assert 2 <= len(frames_of(path)) < 8


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (acts.ClickElement("1"), 'click element [1] button "Go"'),
        (acts.ClickElement("9", button="right"), "click element [9] right"),
        (acts.Fill("1", "two\nlines"), 'fill [1] button "Go" "two\\nlines"'),
        (acts.Click(5, 6, count=2), "click 5 6 2"),
        (acts.Hotkey(("ctrl", "s")), "hotkey ctrl s"),
        (acts.Scroll(dy=3), "scroll 3"),
        (acts.DragElement("1", "1"), 'drag element [1] button "Go" [1] button "Go"'),
        (acts.Done(), "done"),
    ],
)
def test_acts_in_words(act: acts.Act, words: str) -> None:
    assert in_words(act, [BUTTON]) == words


def test_where_an_act_is() -> None:
    assert list(points_of(acts.Drag(1, 2, 3, 4), [])) == [(3, 4), (1, 2)]
    assert list(points_of(acts.DragElement("1", "8"), [BUTTON])) == [(80, 60)]
    assert list(points_of(acts.Click(), [BUTTON])) == []
    assert list(points_of(acts.Type("a"), [BUTTON])) == []

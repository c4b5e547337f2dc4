"""Coordinates of agents, and the pixels that they mean."""

import math

import pytest

from claw_envs.gui.actions.frame import Frame

GRID, PIXELS = Frame((1280, 720), "grid"), Frame((1280, 720), "pixels")


@pytest.mark.parametrize(
    ("point", "pixel"),
    [
        ((0, 0), (0, 0)),
        ((999, 999), (1279, 719)),
        ((998, 998), (1278, 718)),  # 1277.7, 718.3
        ((1, 1), (1, 1)),  # 1.28, 0.72
        ((500, 500), (640, 360)),  # 640.1, 359.9
        ((0.39, 0.7), (0, 1)),  # 0.4993, 0.5038
        ((998.9, 998.9), (1279, 719)),
    ],
)
def test_the_grid_s_ends_are_the_first_and_the_last_pixel(point: tuple[float, float], pixel: tuple[int, int]) -> None:
    assert GRID.point(*point) == pixel


def test_a_half_goes_up() -> None:
    assert Frame((1000, 1000), "grid").point(2.5, 3.5) == (3, 4)
    assert PIXELS.point(2.5, 3.49) == (3, 3)


@pytest.mark.parametrize("point", [(-1, 5), (5, -0.5), (1000, 5), (5, 999.5), (math.nan, 5), (math.inf, 5), (1e300, 5)])
def test_what_is_not_on_the_grid_is_refused_with_its_range(point: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=r"x is between 0 and 999, y between 0 and 999, on the grid"):
        GRID.point(*point)


@pytest.mark.parametrize("point", [(1280, 5), (5, 720), (-1, 5), (1279.5, 0)])
def test_what_is_not_on_the_screen_is_refused_with_its_range(point: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=r"x is between 0 and 1279, y between 0 and 719, in pixels"):
        PIXELS.point(*point)


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (1000, 1000), (640, 480), (160, 210)])
def test_what_is_shown_leads_back(size: tuple[int, int]) -> None:
    """To the pixel itself where the grid is finer, else to one within half a step of the grid."""
    frame = Frame(size, "grid")
    for x in range(size[0]):
        back, _ = frame.point(*frame.shown(x, 0))
        assert abs(back - x) <= math.ceil(size[0] / 999 / 2)
    if max(size) <= 1000:
        assert all(frame.point(*frame.shown(x, 0))[0] == x for x in range(size[0]))


def test_a_box_is_shown_in_the_agent_s_coordinates() -> None:
    assert PIXELS.shown_box((10, 20, 30, 40)) == (10, 20, 30, 40)
    assert GRID.shown_box((0, 0, 1279, 719)) == (0, 0, 999, 999)
    assert GRID.shown_box((-128, 360, 256, 72)) == (-100, 500, 200, 100)


def test_a_screen_of_one_pixel() -> None:
    assert Frame((1, 1), "grid").point(999, 0) == (0, 0)
    assert Frame((1, 1), "grid").shown(0, 0) == (0, 0)

"""The progress display, on a terminal and off it."""

import io

from trainers.progress import Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_without_a_terminal_each_update_is_one_plain_line() -> None:
    stream = io.StringIO()
    with Progress(16, stream=stream) as progress:
        progress.show(version=0, turns_served=3, turns_judged=1, turns_queued=1)
        progress.show(turns_served=16)  # no update yet: no line
        progress.show(version=1, time_s=75.2, reward_mean=-0.25, serve_util=0.5, learn_util=0.875)
        progress.show(version=1, score=0.5)
    assert stream.getvalue().splitlines() == [
        "0:00 update 0/16 | 3 served, 1 judged, 1 queued",
        "1:15 update 1/16 | reward -0.25 | 16 served, 1 judged, 1 queued | busy: serve 50%, learn 88%",
        "1:15 update 1/16 | reward -0.25 | score 0.5 | 16 served, 1 judged, 1 queued | busy: serve 50%, learn 88%",
    ]
    assert all(char.isprintable() or char == "\n" for char in stream.getvalue())


def test_on_a_terminal_the_panel_shows_what_the_line_shows() -> None:
    stream = Terminal()
    with Progress(stream=stream) as progress:
        progress.show(version=7, time_s=130, turns_served=1234, reward_mean=0.5, score=0.75, rollout_util=0.9)
    shown = stream.getvalue()
    assert all(text in shown for text in ("2:10 update 7", "served", "1,234", "0.500", "0.750", "roll out", "90%"))
    progress.close()

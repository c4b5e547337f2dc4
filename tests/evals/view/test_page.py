"""The page of a run's episodes: whole, offline, and deaf to what agents write."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claw_envs.cli import app
from claw_envs.core.episode import Status
from claw_envs.core.errors import UserError
from evals.results import EpisodeResult, ResultFile, write_json
from evals.summary import summarise
from evals.view import page as view_page
from evals.view import write_page
from evals.view.page import LONGEST

HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(1)> <!-- <![CDATA[ </title></style>"
    "\u2028\u2029 &lt; \x00\x1b[31m\u202e \" ' ` ${alert(1)} \ud83d"
)


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, list[str]] = {}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        self.text.setdefault(self._open, []).append(data)


def result(task: str, *, text: str, sample: int = 0, **fields: Any) -> EpisodeResult:
    transcript = [
        {"role": "user", "content": [{"type": "text", "text": text}, {"type": "image_url"}]},
        {"role": "assistant", "content": text, "tool_calls": [{"id": "1", "function": {"name": text}}, text]},
        {"role": "tool", "tool_call_id": "1", "content": "x" * (LONGEST + 5)},
    ]
    report = {"patch": f"+{text}\n", "fail_to_pass": {"success": [text], "failure": []}, text: text}
    return EpisodeResult(
        task_id=task,
        sample_index=sample,
        seed=1,
        status=Status.COMPLETED,
        transcript=transcript,
        report=report,
        **fields,
    )


def results_in(folder: Path, text: str) -> list[EpisodeResult]:
    file = ResultFile(folder / "episodes.jsonl")
    for each in (result("b", text=text, score=1.0), result(f"a{text}", text=text, score=0.0, ending=text, error=text)):
        file.add(each)
    return list(file.results.values())


def data_of(page: Elements) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page.text["script"][0])
    return found


def test_everything_is_on_the_page_and_nothing_of_it_is_markup(tmp_path: Path) -> None:
    hostile = HOSTILE.replace("\ud83d", "")  # the results are UTF-8
    results = results_in(tmp_path, hostile)
    write_json(tmp_path / "summary.json", summarise(results, benchmark="swebench", model=hostile))
    text = write_page(tmp_path).read_text(encoding="utf-8")
    page = Elements(text)
    assert [tag for tag, _ in page.found] == [
        "html",
        "head",
        *["meta"] * 3,
        "title",
        "style",
        "body",
        "noscript",
        *["script"] * 2,
    ]
    assert page.found[-2][1] == {"type": "application/json", "id": "data"}
    assert page.found[-1][1] == {}
    data = data_of(page)
    assert data["title"] == f"swebench · {hostile}"
    assert "score" in data["table"]
    first, second = data["episodes"]
    assert (first["task"], second["task"]) == (f"a{hostile}", "b")
    assert first["report"] == results[1].report
    asked, said, came = first["messages"]
    assert asked == {"role": "user", "text": f"{hostile}\n[image_url]", "pictures": []}
    assert said["text"].startswith(hostile)
    call, torn = said["text"].removeprefix(hostile).rsplit("\n", 1)
    assert (json.loads(call), json.loads(torn)) == ({"name": hostile}, hostile)
    assert "[5 characters left out]" in came["text"]
    assert len(came["text"]) < LONGEST + 50


def test_the_policy_allows_the_page_s_own_code_and_nothing_else(tmp_path: Path) -> None:
    results_in(tmp_path, "harmless")
    page = Elements(write_page(tmp_path, tmp_path / "page.html").read_text(encoding="utf-8"))
    policy = next(attrs["content"] for tag, attrs in page.found if attrs.get("http-equiv") == "Content-Security-Policy")
    code, style = page.text["script"][1], page.text["style"][0]
    hashes = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, code)]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data: file: 'self'; base-uri 'none'; "
        "form-action 'none'"
    )
    assert not re.search(
        r"https?://|url\(|@import|innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", code + style
    )


def test_a_run_that_goes_on_can_be_looked_at_and_is_left_alone(tmp_path: Path) -> None:
    results_in(tmp_path, "harmless")
    file = tmp_path / "episodes.jsonl"
    torn = file.read_bytes() + b'{"task_id": "half a li'
    file.write_bytes(torn)
    shown = CliRunner().invoke(app, ["view", str(tmp_path)])
    assert (shown.exit_code, shown.output) == (0, f"{tmp_path / 'trajectories.html'}\n")
    assert len(data_of(Elements((tmp_path / "trajectories.html").read_text()))["episodes"]) == 2
    assert file.read_bytes() == torn


def test_halves_of_characters_do_not_stop_the_page(tmp_path: Path) -> None:
    from evals.view.page import page

    text = page([result("a", text=HOSTILE, score=0.5)], None, name="run")
    text.encode("utf-8")
    assert data_of(Elements(text))["episodes"][0]["report"]["patch"] == f"+{HOSTILE}\n"


def test_a_folder_without_results(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"episodes\.jsonl: no results there"):
        write_page(tmp_path)


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    results_in(tmp_path, "harmless")
    with pytest.raises(UserError, match=r"none/page\.html: cannot be written \(No such file"):
        write_page(tmp_path, tmp_path / "none" / "page.html")


def test_pictures_and_recordings_are_shown_and_nothing_else_is_loaded(tmp_path: Path) -> None:
    picture = "data:image/jpeg;base64,/9j/4AAQ="
    urls = [
        picture,
        "https://example.org/a.png",
        "data:image/svg+xml;base64,AAAA",
        "javascript:alert(1)",
        picture + "'",
    ]
    parts = [{"type": "text", "text": "seen"}, *({"type": "image_url", "image_url": {"url": url}} for url in urls)]
    recording = tmp_path / "recordings" / "a #1.gif"
    recording.parent.mkdir()
    recording.write_bytes(b"GIF89a")
    shown = result("a", text="", score=1.0)
    shown.transcript = [{"role": "user", "content": parts}]
    shown.report = {"recording": str(recording), "success": True}
    gone = result("b", text="", score=1.0)
    gone.report = {"recording": str(tmp_path / "gone.gif")}
    file = ResultFile(tmp_path / "episodes.jsonl")
    file.add(shown)
    file.add(gone)
    first, second = data_of(Elements(write_page(tmp_path).read_text()))["episodes"]
    assert first["messages"] == [{"role": "user", "text": "seen" + 4 * "\n[image_url]", "pictures": [picture]}]
    assert (first["recording"], first["report"]) == ("recordings/a%20%231.gif", {"success": True})
    assert (second["recording"], second["report"]) == ("", gone.report)


def test_a_recording_is_found_where_the_results_were_moved_to(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "recordings").mkdir(parents=True)
    (old / "recordings" / "a.gif").write_bytes(b"GIF89a")
    shown = result("a", text="", score=1.0)
    shown.report = {"recording": str(old / "recordings" / "a.gif")}
    ResultFile(old / "episodes.jsonl").add(shown)
    old.rename(new)
    [episode] = data_of(Elements(write_page(new).read_text()))["episodes"]
    assert episode["recording"] == "recordings/a.gif"


def test_a_page_holds_so_many_pictures_and_says_where_it_leaves_them_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = "data:image/jpeg;base64,/9j/4AAQ="
    monkeypatch.setattr(view_page, "MOST_PICTURES", 2 * len(picture))
    file = ResultFile(tmp_path / "episodes.jsonl")
    for task in "abc":
        shown = result(task, text="", score=1.0)
        part = {"type": "image_url", "image_url": {"url": picture}}
        shown.transcript = [{"role": "user", "content": [{"type": "text", "text": "seen"}, part]}]
        file.add(shown)
    episodes = data_of(Elements(write_page(tmp_path).read_text()))["episodes"]
    messages = [episode["messages"][0] for episode in episodes]
    assert [message["pictures"] for message in messages] == [[picture], [picture], []]
    assert [message["text"].partition("\n")[2] for message in messages[:2]] == ["", ""]
    assert "left out" in messages[2]["text"]

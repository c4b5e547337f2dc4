"""`trajectories.html`: every episode of a run on one page that needs no network.

Agents and what they ran wrote most of what is shown, so nothing of it is ever markup: it travels as JSON in a script
element of a type that browsers don't run, without any `<`, and the page's code puts it into text nodes only; pictures
are JPEGs within the page, and recordings beside it. A content security policy allows that code and style by their
hashes, pictures from there, and nothing else.
"""

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from claw_envs.core.episode import Message, content_of
from claw_envs.core.errors import UserError
from evals.results import EpisodeResult, read_results
from evals.runner import EPISODES, SUMMARY
from evals.summary import Summary
from evals.table import table

PAGE = "trajectories.html"
LONGEST = 20_000
"""Characters of one text that are shown; longer ones keep head and tail."""
MOST_PICTURES = 64_000_000
"""Characters of all pictures of a page; those of later episodes are left out beyond it."""
_PICTURE = re.compile(r"data:image/jpeg;base64,[A-Za-z0-9+/]+={0,2}")
_RECORDING = "recording"


def write_page(folder: Path, out: Path | None = None) -> Path:
    """Write the page of the results in `folder`.

    Args:
        folder: of a `claw eval`; it may still be running.
        out: where the page goes; None is `trajectories.html` in the folder.

    Returns:
        The page's path.

    Raises:
        UserError: if the folder holds no results, or the page cannot be written.
    """
    results = read_results(folder / EPISODES)
    summary = _summary(folder / SUMMARY)
    path = out or folder / PAGE
    text = page(results.values(), summary, name=folder.resolve().name, folder=folder, place=path.parent)
    new = path.with_name(path.name + ".new")
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from error
    return path


def page(
    results: Iterable[EpisodeResult],
    summary: Summary | None,
    *,
    name: str,
    folder: Path = Path(),
    place: Path = Path(),
) -> str:
    """The page as text.

    Args:
        summary: shown above the episodes, where there is one.
        name: title of a page without summary.
        folder: of the results.
        place: folder that the page will lie in.
    """
    title = f"{summary.benchmark} · {summary.model}" if summary else name
    ordered = sorted(results, key=lambda result: result.key)
    shown = [_shown(each, folder, place) for each in ordered]
    _bound_pictures(shown)
    data = {"title": title, "table": table(summary) if summary else "", "episodes": shown}
    style, code = _part("style.css"), _part("page.js")
    allowed = f"style-src {_hash(style)}; script-src {_hash(code)}; img-src data: file: 'self'"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{style}</style></head><body>"
        "<noscript>This page shows its episodes by code of its own: allow scripts for it.</noscript>"
        f'<script type="application/json" id="data">{_json(data)}</script><script>{code}</script></body></html>\n'
    )


def _shown(result: EpisodeResult, folder: Path, place: Path) -> dict[str, Any]:
    recording = _recording(result.report.get(_RECORDING), folder, place)
    report = {key: value for key, value in result.report.items() if key != _RECORDING or not recording}
    return {
        "task": result.task_id,
        "sample": result.sample_index,
        "status": str(result.status),
        "score": result.score,
        "ending": result.ending,
        "error": result.error,
        "seconds": result.wall_s,
        "attempts": result.attempts,
        "metrics": result.metrics,
        "messages": [_message(message) for message in result.transcript],
        "report": {name: _clipped(value) for name, value in report.items()},
        "recording": recording,
    }


def _recording(path: Any, folder: Path, place: Path) -> str:
    """Where a page in `place` finds the recording of an episode; empty where it has none, or the file is gone.

    Results may have been moved since, or were made from another working directory: it lies in a folder of theirs.
    """
    if not isinstance(path, str) or "\0" in path or not path.endswith(".gif"):
        return ""
    moved = folder / Path(path).parent.name / Path(path).name
    found = next((each for each in (moved, Path(path)) if each.is_file()), None)
    return "" if found is None else quote(os.path.relpath(found, place))


def _bound_pictures(episodes: Sequence[dict[str, Any]]) -> None:
    """Leave out pictures where all of them together would make a page that no browser opens."""
    left = MOST_PICTURES
    for message in (message for episode in episodes for message in episode["messages"]):
        left -= sum(map(len, message["pictures"]))
        if left < 0 and message["pictures"]:
            message["pictures"] = []
            message["text"] += "\n[picture left out, as the page would be too large]"


def _message(message: Message) -> dict[str, Any]:
    """Who speaks, and what: text, then the calls as JSON, and pictures."""
    content, pictures = message.get("content"), []
    if isinstance(content, list):
        pictures = [url for part in content if (url := _picture(part))]
        message = {**message, "content": [part for part in content if not _picture(part)]}
    calls = [call.get("function", call) if isinstance(call, dict) else call for call in message.get("tool_calls") or []]
    texts = [content_of(message), *(json.dumps(call, ensure_ascii=False, indent=1) for call in calls)]
    text = _clipped("\n".join(text for text in texts if text))
    return {"role": str(message.get("role")), "text": text, "pictures": pictures}


def _picture(part: Any) -> str:
    """The address of a picture that `evals.results.transcript` has put in; empty for any other part."""
    image = part.get("image_url") if isinstance(part, dict) else None
    url = image.get("url") if isinstance(image, dict) else None
    return url if isinstance(url, str) and _PICTURE.fullmatch(url) else ""


def _clipped(value: Any) -> Any:
    """A text that is too long without its middle; everything else as it is."""
    if not isinstance(value, str) or len(value) <= LONGEST:
        return value
    head = LONGEST * 3 // 10
    return f"{value[:head]}\n[{len(value) - LONGEST} characters left out]\n{value[head - LONGEST :]}"


def _json(data: Any) -> str:
    """JSON that cannot end its script element; halves of surrogate pairs, which no file can hold, are escaped too."""
    return json.dumps(data, default=str).replace("<", "\\u003c")


def _summary(path: Path) -> Summary | None:
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Summary)
    except msgspec.DecodeError as error:
        raise UserError(f"{path}: not a summary ({error})") from error


def _part(name: str) -> str:
    return (resources.files("evals.view") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

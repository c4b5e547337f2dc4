"""What everybody shows and clicks: a page with 900 controls, and a button that counts in the page's title.

Peers open it as a file. Ours serves it as an application of one task, from memory, as it serves all applications; its
script and its style are files, as inline ones do not run there.
"""

from pathlib import Path
from typing import NamedTuple

SIZE = (1280, 720)
"""Width and height of the screenshot, in pixels."""
POINT = (110, 70)
"""In the button, in pixels."""
CONTROLS = 900
TITLE = "clicked"
APP = "perf"
"""Of the application, and of the host that it is served from."""
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title} 0</title>
<link rel="stylesheet" href="page.css">
<button id="count">Count</button>
<form>
{rows}
</form>
<script src="page.js"></script>
</html>
"""
_STYLE = """
body { font: 14px sans-serif; margin: 0; padding: 110px 20px 20px; background: linear-gradient(#fff, #dde6f0); }
#count { position: absolute; left: 20px; top: 40px; width: 180px; height: 60px; }
.row { display: flex; gap: 6px; margin: 4px 0; align-items: center; }
.row label { width: 110px; }
"""
_SCRIPT = f"""let clicks = 0;
document.getElementById("count").addEventListener("click", (event) => {{
  clicks += 1;
  event.target.textContent = `Count ${{clicks}}`;
  document.title = `{TITLE} ${{clicks}}`;
}});
"""
_ROW = """<div class="row"><label for="f{n}">Field {n}</label><input id="f{n}" value="value {n}">
<input type="checkbox" aria-label="Use {n}"><button type="button">Save {n}</button><a href="#f{n}">Link {n}</a>
<select aria-label="Choice {n}"><option>one</option><option>two</option></select>
<input type="number" aria-label="Number {n}" value="{n}"></div>"""
_IN_ROW = 6
_TASK = """instruction = "Count."
solution = ["done"]
[[expect]]
path = "never"
absent = false
"""


class Subject(NamedTuple):
    """The page on the disk."""

    application: Path
    """Folder of the application."""

    @property
    def address(self) -> str:
        """For those who open it as a file."""
        return (self.application / "index.html").as_uri()


def generate(folder: Path, *, controls: int) -> Subject:
    """Write the page, with so many controls beside the button, and the application around it."""
    application = folder / APP
    (application / "tasks").mkdir(parents=True)
    rows = "\n".join(_ROW.format(n=number) for number in range(1, controls // _IN_ROW + 1))
    page = _PAGE.format(title=TITLE, rows=rows)
    files = {"index.html": page, "page.css": _STYLE, "page.js": _SCRIPT, "seed.json": "{}", "tasks/count.toml": _TASK}
    for name, text in files.items():
        (application / name).write_text(text, encoding="utf-8")
    return Subject(application)

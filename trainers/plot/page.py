"""The HTML pages: one file each, readable offline, pictures inlined, every figure also as a table."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from trainers.plot.compare import Groups, final
from trainers.plot.data import Column, Run

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; margin: 0;
  color: #1f2933; background: #f5f7fa; }
main { max-width: 1180px; margin: 0 auto; padding: 24px; }
h1 { font-size: 24px; margin: 0 0 2px; } h2 { font-size: 17px; margin: 0 0 10px; }
.lead { color: #52606d; margin: 0 0 18px; }
section { background: #fff; border: 1px solid #e4e7eb; border-radius: 10px; padding: 16px 18px; margin: 0 0 18px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(165px, 1fr)); gap: 12px; margin: 0 0 18px; }
.tile { background: #fff; border: 1px solid #e4e7eb; border-radius: 10px; padding: 10px 14px; }
.tile b { display: block; font-size: 21px; font-variant-numeric: tabular-nums; }
.tile span { color: #52606d; font-size: 13px; }
img { width: 100%; height: auto; display: block; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { text-align: right; padding: 5px 12px; border-bottom: 1px solid #e4e7eb; white-space: nowrap; }
th { color: #52606d; font-weight: 600; } th:first-child, td:first-child { text-align: left; }
.keys th:last-child, .keys td:last-child { text-align: left; white-space: normal; word-break: break-word; }
.two { columns: 2 420px; column-gap: 18px; }
.two section { break-inside: avoid; }
"""
_CAPTIONS = {
    "overview": "How the run went",
    "answers": "What the answers are like",
    "optimiser": "Inside the optimiser and the queues",
}


def run_page(run: Run, pictures: Sequence[Path]) -> str:
    """The page of one run; `pictures` beyond the sheets (single panels) are left to their own files."""
    config = run.config
    facts = [str(config[key]) for key in ("family", "model", "signal") if key in config]
    body = [f"<h1>Training run {escape(run.name)}</h1>", f'<p class="lead">{escape(" · ".join(facts))}</p>']
    body.append(_tiles(run))
    for path in pictures:
        if path.stem in _CAPTIONS:
            caption = _CAPTIONS[path.stem]
            body.append(f"<section><h2>{caption}</h2>{_image(path, caption)}</section>")
    tables = [_first_last("Evaluations", run.scores)]
    if config:
        rows = [[key, value] for key, value in _flat(config)]
        tables.append(f"<section><h2>Configuration</h2>{_table(['key', 'value'], rows, kind='keys')}</section>")
    tables.append(_first_last("Updates", run.updates))
    body.append(f'<div class="two">{"".join(tables)}</div>')
    return _document(f"Run {run.name}", body)


def comparison_page(groups: Groups, picture: Path) -> str:
    """The page that compares signals: the picture, and first and last figures as mean ± standard deviation."""
    seeds = sum(map(len, groups.values()))
    body = [f"<h1>{len(groups)} signals, {seeds} runs</h1>"]
    body.append('<p class="lead">Figures are mean ± standard deviation over the runs of a signal.</p>')
    body.append(f"<section>{_image(picture, 'Scores by signal')}</section>")
    columns = list(dict.fromkeys(c for runs in groups.values() for run in runs for c in run.scores))
    columns = [c for c in columns if c not in ("version", "time_s") and not c.endswith(("_low", "_high"))]
    rows = []
    for signal, runs in groups.items():
        cells = [_mean_std(final(runs, "score", first=True)), *(_mean_std(final(runs, each)) for each in columns)]
        rows.append(["no training" if signal == "none" else signal, str(len(runs)), *cells])
    header = ["signal", "runs", "first score", *(f"last {each}" for each in columns)]
    body.append(f"<section><h2>First and last figures</h2>{_table(header, rows)}</section>")
    return _document("Comparison of signals", body)


def _tiles(run: Run) -> str:
    tiles: list[tuple[str, str]] = []
    for table, column, text in (
        (run.scores, "score", "score, first → last"),
        (run.updates, "reward_mean", "reward, first → last"),
    ):
        known = table[column][np.isfinite(table[column])] if column in table else np.empty(0)
        if known.size:
            tiles.append((f"{known[0]:.2f} → {known[-1]:.2f}", text))
    if run.updates:
        tiles.append((f"{run.updates['version'][-1]:.0f}", "updates"))
    if "samples" in run.updates:
        tiles.append((f"{np.nansum(run.updates['samples']):,.0f}", "samples trained"))
    if times := [table["time_s"][-1] for table in (run.updates, run.scores) if "time_s" in table]:
        seconds = int(max(times))
        tiles.append((f"{seconds // 60} min {seconds % 60:02d} s", "wall clock"))
    cells = "".join(f'<div class="tile"><b>{value}</b><span>{text}</span></div>' for value, text in tiles)
    return f'<div class="tiles">{cells}</div>'


def _first_last(title: str, table: Mapping[str, Column]) -> str:
    if not table:
        return ""
    rows = []
    for name, values in table.items():
        known = values[np.isfinite(values)]
        if known.size:
            figures = (known[0], known[-1], known.min(), known.max())
            rows.append([name, *(_number(value) for value in figures)])
    return f"<section><h2>{title}</h2>{_table(['figure', 'first', 'last', 'least', 'most'], rows)}</section>"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], *, kind: str = "") -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table class="{kind}"><tr>{head}</tr>{body}</table></div>'


def _image(path: Path, alt: str) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}">'


def _flat(config: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


def _mean_std(values: Column) -> str:
    if not values.size:
        return "–"
    spread = f" ± {values.std(ddof=1):.2f}" if values.size > 1 else ""
    return f"{values.mean():.2f}{spread}"


def _document(title: str, body: Iterable[str]) -> str:
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    return f'<!doctype html><html lang="en"><head>{head}<style>{_STYLE}</style></head><body><main>' + (
        "\n".join(body) + "</main></body></html>\n"
    )

#!/bin/bash
set -euo pipefail
python3 - <<'END'
import pathlib
from datetime import datetime, timezone

events = []


def add(time, source, level, message):
    if level.strip("[]").lower() in ("warn", "warning", "error"):
        events.append((time.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), source, message))


for line in pathlib.Path("logs/web.log").read_text().splitlines():
    time, level, message = line.split(" ", 2)
    add(datetime.fromtimestamp(int(time), timezone.utc), "web", level, message)
for line in pathlib.Path("logs/db.log").read_text().splitlines():
    time, offset, level, message = line.split(" ", 3)
    add(datetime.strptime(f"{time} {offset}", "%d/%b/%Y:%H:%M:%S %z"), "db", level, message)
for line in pathlib.Path("logs/app.log").read_text().splitlines():
    time, level, message = line.split(" ", 2)
    add(datetime.fromisoformat(time.replace("Z", "+00:00")), "app", level, message)
pathlib.Path("timeline.txt").write_text("".join(" ".join(event) + "\n" for event in sorted(events)))
END

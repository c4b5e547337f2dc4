#!/bin/bash
set -euo pipefail
mkdir -p letters
python3 - <<'END'
import csv
import pathlib
import re

template = pathlib.Path("template.txt").read_text()
with open("people.csv", newline="") as file:
    for row in csv.DictReader(file, delimiter=";"):
        text = re.sub(r"\{\{(\w+)\}\}", lambda field: row[field[1]], template)
        pathlib.Path("letters", row["id"] + ".txt").write_text(text)
END

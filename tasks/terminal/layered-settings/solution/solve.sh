#!/bin/bash
set -euo pipefail
python3 - <<'END'
import pathlib

settings = {}
for name in ("default", "production", "local"):
    for line in pathlib.Path("env", name + ".env").read_text().splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("unset "):
            settings.pop(line[6:].strip(), None)
            continue
        key, _, value = line.removeprefix("export ").partition("=")
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        settings[key.strip()] = value
text = "".join(f"{key}={settings[key]}\n" for key in sorted(settings))
pathlib.Path("effective.env").write_text(text)
END

#!/bin/bash
set -euo pipefail
python3 - <<'END'
import hashlib
import os

paths = [os.path.join(folder, name) for folder, _, names in os.walk("inbox") for name in names]
seen = set()
for path in sorted(paths, key=os.fsencode):
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).digest()
    if digest in seen:
        os.remove(path)
    seen.add(digest)
END

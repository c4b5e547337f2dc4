#!/bin/bash
set -euo pipefail
python3 - <<'END'
import hashlib
import json


def digest(previous, entry):
    body = json.dumps(entry, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{previous}|{body}".encode()).hexdigest()


with open("ledger.jsonl") as file:
    lines = [json.loads(line) for line in file]
previous = "0" * 64
for line in lines:
    code = line.pop("hash")
    if digest(previous, line) != code:
        with open("altered.txt", "w") as file:
            print(line["no"], file=file)
        line["cents"] = next(c for c in range(1, 20001) if digest(previous, line | {"cents": c}) == code)
    line["hash"] = previous = code
with open("repaired.jsonl", "w") as file:
    file.writelines(json.dumps(line) + "\n" for line in lines)
END

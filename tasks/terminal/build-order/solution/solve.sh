#!/bin/bash
set -euo pipefail
python3 - <<'END'
with open("needs.txt") as file:
    needs = {name.strip(): set(rest.split()) for name, rest in (line.split(":") for line in file)}
order = []
while len(order) < len(needs):
    order.append(min(name for name, wanted in needs.items() if name not in order and wanted <= set(order)))
with open("order.txt", "w") as file:
    file.write("\n".join(order) + "\n")
END

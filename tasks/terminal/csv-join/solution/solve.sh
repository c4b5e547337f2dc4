#!/bin/bash
set -euo pipefail
python3 - <<'END'
import csv
from decimal import Decimal

with open("customers.csv", newline="") as file:
    names = {row["id"]: row["name"] for row in csv.DictReader(file)}
totals = dict.fromkeys(names, Decimal("0.00"))
with open("orders.csv", newline="") as file:
    for row in csv.DictReader(file):
        if row["customer_id"] in totals:
            totals[row["customer_id"]] += Decimal(row["amount"])
rows = sorted(((names[key], total) for key, total in totals.items()), key=lambda row: (-row[1], row[0]))
with open("totals.csv", "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["name", "total"])
    writer.writerows((name, f"{total:.2f}") for name, total in rows)
END

#!/bin/bash
set -euo pipefail
python3 - <<'END'
import json
import sqlite3

QUERY = '''
SELECT month, SUM(cents) FROM (
  SELECT substr(day, 1, 7) AS month, COALESCE(cents, 0) AS cents FROM payments WHERE state = 'paid'
  UNION ALL
  SELECT substr(r.day, 1, 7), -COALESCE(r.cents, 0) FROM refunds r JOIN payments p ON p.id = r.payment_id
  WHERE p.state = 'paid'
) GROUP BY month ORDER BY month
'''
with sqlite3.connect("shop.db") as database, open("revenue.json", "w") as file:
    json.dump(dict(database.execute(QUERY).fetchall()), file)
END

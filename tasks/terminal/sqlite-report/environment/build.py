"""Builds the shop's database."""

import sqlite3

PAYMENTS = [
    # (id, day, cents, state)
    (1, "2024-01-03", 1999, "paid"),
    (2, "2024-01-31", 501, "paid"),
    (3, "2024-01-31", 7000, "failed"),
    (4, "2024-02-01", 12000, "paid"),
    (5, "2024-02-29", 300, "paid"),
    (6, "2024-02-29", None, "paid"),
    (7, "2024-04-10", 4550, "paid"),
    (8, "2024-04-11", 4550, "pending"),
]
REFUNDS = [(4, "2024-02-20", 2000), (2, "2024-02-03", 501), (7, "2024-05-01", 50), (3, "2024-02-02", 7000)]

with sqlite3.connect("/app/shop.db") as database:
    database.execute("CREATE TABLE payments (id INTEGER PRIMARY KEY, day TEXT, cents INTEGER, state TEXT)")
    database.execute("CREATE TABLE refunds (payment_id INTEGER, day TEXT, cents INTEGER)")
    database.executemany("INSERT INTO payments VALUES (?, ?, ?, ?)", PAYMENTS)
    database.executemany("INSERT INTO refunds VALUES (?, ?, ?)", REFUNDS)

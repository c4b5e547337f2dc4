#!/bin/bash
set -euo pipefail
{
  echo address,requests
  awk '$(NF-1) == 200 {n[$1]++} END {for (a in n) print a "," n[a]}' access.log | LC_ALL=C sort -t, -k2,2nr -k1,1 | head -n 3
} > top.csv

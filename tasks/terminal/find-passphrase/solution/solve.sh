#!/bin/bash
set -euo pipefail
grep -rh '^passphrase:' store | sed 's/^passphrase: *//' > answer.txt

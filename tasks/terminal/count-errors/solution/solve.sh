#!/bin/bash
set -euo pipefail
grep -c '\[ERROR\]' server.log > errors.txt

#!/bin/bash
set -euo pipefail
scratch=$(mktemp -d)
tar -xzf backup.tar.gz -C "$scratch"
tar -xzf "$scratch/2024-02-29.tar.gz" -C "$scratch"
gzip -dc "$scratch/srv/data/report.txt.gz" > report.txt
rm -r "$scratch"

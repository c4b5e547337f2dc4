#!/bin/bash
set -euo pipefail
find work -type f -name '*.tmp' -delete

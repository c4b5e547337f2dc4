#!/bin/bash
set -euo pipefail
find photos -type f -name '*.jpeg' -print0 | while IFS= read -r -d '' file; do
  mv -- "$file" "${file%.jpeg}.jpg"
done

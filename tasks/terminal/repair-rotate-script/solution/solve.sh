#!/bin/bash
set -euo pipefail
cat > rotate.sh <<'END'
#!/bin/bash
# usage: rotate.sh FOLDER KEEP
# Keeps the KEEP newest files of FOLDER by name and moves the others to FOLDER/old.
if [ $# -ne 2 ] || [ ! -d "$1" ] || ! [[ $2 =~ ^[0-9]+$ ]]; then
  echo "usage: rotate.sh FOLDER KEEP" >&2
  exit 2
fi
export LC_ALL=C
cd -- "$1" || exit 2
mkdir -p old
files=()
for file in *; do
  if [ -f "$file" ]; then files+=("$file"); fi
done
for ((i = 0; i < ${#files[@]} - $2; i++)); do
  mv -- "${files[i]}" old/
done
END

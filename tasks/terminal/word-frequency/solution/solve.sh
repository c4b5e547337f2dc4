#!/bin/bash
set -euo pipefail
cat > wordfreq.sh <<'END'
#!/bin/bash
LC_ALL=C tr -cs 'A-Za-z' '\n' | tr 'A-Z' 'a-z' | grep . | LC_ALL=C sort | uniq -c | awk '{print $1, $2}' |
  LC_ALL=C sort -k1,1nr -k2,2 | head -n "$1"
END

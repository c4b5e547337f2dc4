#!/bin/bash
set -euo pipefail
cd deploy
chmod 700 start.sh
chmod 640 settings.env
find public -type d -exec chmod 755 {} +
find public -type f -exec chmod 644 {} +

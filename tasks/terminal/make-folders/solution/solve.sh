#!/bin/bash
set -euo pipefail
mkdir -p site/css site/js site/img/icons
touch site/index.html

#!/bin/bash
set -euo pipefail
cp app.conf app.conf.bak

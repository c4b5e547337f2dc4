#!/bin/bash
set -euo pipefail
echo blueberry >> fruits.txt

#!/usr/bin/env bash
# Hands an example to a Ray cluster that runs already, as a job of its own:
#   RAY_API_SERVER_ADDRESS=http://HEAD:8265 RUN=/shared/runs/swe examples/openrlhf/ray_job.sh swe
# The nodes need claw-envs and OpenRLHF (the trainer's image has both), RUN must lie on storage that all of them share.
# The variables named in PASS (default below) are set in the job as they are here. Paths of tasks and models are paths
# there.
# JUDGE_URL=http://HOST:PORT: the judge's engine, which every node must reach (examples with a judge need it).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"

name=${1:?usage: ray_job.sh terminal|gui|swe|toolcall|personal [OPTIONS OF claw train]}
shift
family=$(family "$name")
: "${RAY_API_SERVER_ADDRESS:?the cluster as http://HEAD:8265}"
: "${RUN:?a directory that all nodes share}"
settings=()
if [ -n "$(judge_model "$name")" ]; then
    : "${JUDGE_URL:?the example $name has a judge: serve it, and say where}"
    mapfile -t settings < <(judge_settings "$name" "$JUDGE_URL")
fi

# shellcheck disable=SC2086
environment=$(python3 - ${PASS:-OPENAI_API_KEY CLAW_API_KEY CLAW_CACHE HF_HOME HF_TOKEN NCCL_DEBUG} <<'PYTHON'
import json
import os
import sys

passed = {name: os.environ[name] for name in sys.argv[1:] if name in os.environ}
# The run has a runtime environment of its own, which Ray would refuse where both set a variable.
print(json.dumps({"env_vars": {"RAY_OVERRIDE_JOB_RUNTIME_ENV": "1"} | passed}))
PYTHON
)
ray job submit --working-dir "$here" --runtime-env-json "$environment" -- \
    claw train "$family" --trainer openrlhf --config "$name.toml" --run "$RUN" "${settings[@]}" "$@"

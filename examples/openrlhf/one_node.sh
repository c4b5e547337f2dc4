#!/usr/bin/env bash
# Trains an example on one machine with 8 GPUs. What follows its name goes to `claw train`:
#   examples/openrlhf/one_node.sh terminal --dry-run
#   examples/openrlhf/one_node.sh toolcall --run runs/mine --set env.tasks=dapo -- --vllm.num_engines 2
# Where an example has a judge, that is served on the last GPU; JUDGE_URL=http://HOST:PORT takes one that runs already.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"

name=${1:?usage: one_node.sh terminal|gui|toolcall|personal [OPTIONS OF claw train]}
shift
family=$(family "$name")
model=$(judge_model "$name")
settings=()

if [ -n "${JUDGE_URL:-}" ]; then
    mapfile -t settings < <(judge_settings "$name" "$JUDGE_URL")
elif [ -n "$model" ] && [[ " $* " != *" --dry-run "* ]]; then
    if ! command -v nvidia-smi >/dev/null; then
        echo "no GPU here to serve the judge: add --dry-run, or name one that runs, JUDGE_URL=http://HOST:PORT" >&2
        exit 2
    fi
    gpus=$(nvidia-smi --list-gpus | wc -l)
    log=${TMPDIR:-/tmp}/claw-judge.log
    echo "serving the judge $model on GPU $((gpus - 1)), see $log"
    CUDA_VISIBLE_DEVICES=$((gpus - 1)) vllm serve "$model" --served-model-name judge --host 127.0.0.1 --port 8001 \
        >"$log" 2>&1 &
    judge=$!
    trap 'kill "$judge" 2>/dev/null || true' EXIT
    until curl --silent --fail --output /dev/null http://127.0.0.1:8001/health; do
        kill -0 "$judge" || { echo "the judge ended, see $log" >&2; exit 1; }
        sleep 5
    done
    CUDA_VISIBLE_DEVICES=$(seq --separator=, 0 $((gpus - 2)))
    export CUDA_VISIBLE_DEVICES
fi

claw train "$family" --trainer openrlhf --config "$here/$name.toml" "${settings[@]}" "$@"

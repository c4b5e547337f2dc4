#!/usr/bin/env bash
# Trains an example on several nodes of a Slurm cluster: Ray's head on the first, its workers on the others, one run.
#   sbatch examples/openrlhf/slurm.sh swe
#   sbatch --nodes=1 examples/openrlhf/slurm.sh terminal --set env.tasks=/shared/seta.jsonl
# Submit from a clone on storage that all nodes share: the run lies there, in $RUN (default: runs/NAME). A job that
# Slurm starts anew goes on with it. IMAGE: the trainer's image, where the cluster has pyxis, with $PWD and MOUNTS (as
# pyxis writes them) mounted; without it the nodes need claw-envs and OpenRLHF installed.
# JUDGE_URL=http://HOST:PORT: the judge's engine, which every node must reach (examples with a judge need it).
#SBATCH --job-name=claw
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --exclusive
#SBATCH --time=48:00:00
#SBATCH --requeue
#SBATCH --output=%x-%j.log
set -euo pipefail
cd "${SLURM_SUBMIT_DIR:?submit this with sbatch}"
here=$PWD/examples/openrlhf
# shellcheck source=common.sh
. "$here/common.sh"

name=${1:?usage: sbatch slurm.sh terminal|gui|swe|toolcall|personal [OPTIONS OF claw train]}
shift
family=$(family "$name")
run=$(realpath --canonicalize-missing "${RUN:-runs/$name}")
settings=()
if [ -n "$(judge_model "$name")" ]; then
    : "${JUDGE_URL:?the example $name has a judge: serve it, and say where}"
    mapfile -t settings < <(judge_settings "$name" "$JUDGE_URL")
fi
if [ -e "$run/config.toml" ]; then
    settings+=(--resume)
fi

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${nodes[0]}
step=(srun --overlap --cpu-bind=none)
if [ -n "${IMAGE:-}" ]; then
    step+=(--container-image="$IMAGE" --container-mounts="$PWD:$PWD${MOUNTS:+,$MOUNTS}" --container-workdir="$PWD")
fi
first=("${step[@]}" --nodelist="$head" --nodes=1 --ntasks=1)

address=$(srun --overlap --nodelist="$head" --nodes=1 --ntasks=1 hostname --all-ip-addresses | awk '{print $1}')
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
"${first[@]}" ray start --head --node-ip-address="$address" --port=6379 --block &
export RAY_ADDRESS=$address:6379
if [ "${#nodes[@]}" -gt 1 ]; then
    others=$(IFS=,; echo "${nodes[*]:1}")
    # shellcheck disable=SC2016
    "${step[@]}" --nodelist="$others" --nodes=$((${#nodes[@]} - 1)) --ntasks=$((${#nodes[@]} - 1)) \
        bash -c 'until ray start --address="$RAY_ADDRESS" --block; do sleep 5; done' &
fi

# Environments spread over the nodes that are there when the run begins: wait for all.
"${first[@]}" python3 - "${#nodes[@]}" <<'PYTHON'
import sys
import time

import ray

deadline = time.monotonic() + 600
while time.monotonic() < deadline:
    try:
        ray.init(logging_level="ERROR")
        if sum(node["Alive"] for node in ray.nodes()) >= int(sys.argv[1]):
            sys.exit()
    except ConnectionError:
        pass
    ray.shutdown()
    time.sleep(5)
sys.exit("not all nodes have joined Ray after ten minutes")
PYTHON

"${first[@]}" claw train "$family" --trainer openrlhf --config "$here/$name.toml" --run "$run" "${settings[@]}" "$@"

#!/bin/sh
# The comparison of docs/results.md: outcome and rules judge against the outcome alone, three seeds each. About an hour on two
# cores, two runs at a time. A run that is there already is left alone, so an interrupted comparison goes on with the next one.
set -eu
out=${1:-runs/toolcall}

train() {
    name=$1
    shift
    for seed in 0 1 2; do
        run=$out/$name-$seed
        [ -d "$run" ] || claw train toolcall --config examples/toolcall.toml --set threads=1 --set seed=$seed --run "$run" "$@"
    done
}

export OMP_NUM_THREADS=1
train rules &
train outcome --set judge.process_weight=0
wait
claw plot "$out"/*-[0-9] --out "$out/comparison"

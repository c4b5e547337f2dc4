#!/bin/sh
# The comparison of docs/results.md: no training and three signals, three seeds each. About an hour on two cores.
# A run that is there already is left alone, so an interrupted comparison goes on with the next one.
set -eu
out=${1:-runs/signals}
for seed in 0 1 2; do
    for signal in binary opd combined none; do
        run=$out/$signal-$seed
        [ -d "$run" ] && continue
        case $signal in
            none) set -- --updates 0 ;;
            *) set -- --signal "$signal" ;;
        esac
        claw train chat --config examples/student.toml --set seed=$seed --run "$run" "$@"
    done
done
claw plot "$out"/*-[0-9] --out "$out/comparison"

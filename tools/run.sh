#!/bin/sh
# What `make run` measures, and `run` of a bundle: every device found, alone and on 2 ranks, then the report.
#
# Arguments name benchmarks; without any it is all of them and a short set of micro-benchmarks. From its caller:
# FABRICMARK (the command), RUNTIME (an OpenCL runtime, or empty), RUN_OPTIONS (of every program), LOGS (a folder).
set -eu

# An emulator's times say nothing about hardware. Once, and quickly: the second time the machine is known.
measure() {
  [ "${RUNTIME:-}" = fpga-emulator ] || "$FABRICMARK" systems new --quick ${RUNTIME:+--runtime "$RUNTIME"}
}

# Two starts in the same second get two folders: mkdir without -p makes none that is there.
new_folder() {
  mkdir -p results
  made=results/run-$(date -u +%Y%m%dT%H%M%SZ)
  for more in "" -2 -3 -4 -5 -6 -7 -8 -9; do
    if mkdir "$made$more" 2>/dev/null; then
      echo "$made$more"
      return
    fi
  done
  echo "run: no folder $made can be made; free results/ for writing" >&2
  exit 3
}

run() {
  ended=0
  for one in ${chosen:-all}; do
    "$FABRICMARK" run "$one" ${RUNTIME:+--runtime "$RUNTIME"} "$@" --output "$folder" ${RUN_OPTIONS:-} || ended=$?
  done
  return $ended
}

# Ranks of one process on a device, as the processes of MPI would wait for each other on the cores that compute.
micro() {
  "$FABRICMARK" run micro ${RUNTIME:+--runtime "$RUNTIME"} "$@"
}

chosen=$*
status=0
folder=$(new_folder)
mkdir -p "$LOGS"
two="--ranks 2"
if command -v mpirun >/dev/null || command -v srun >/dev/null; then two="--mpi 2"; fi
measure || echo "run: this machine was not measured; the report takes its kernels as perfect"
echo "run: every device, one rank, on CPUs with both kernels (what the programs print: $LOGS/run-one.log)"
run --both --pictures >"$LOGS/run-one.log" || status=$?
echo "run: every device, 2 ranks ($two; what the programs print: $LOGS/run-two.log)"
run $two >"$LOGS/run-two.log" || status=$?
if [ -z "$chosen" ]; then
  echo "run: a short set of micro-benchmarks, between devices and between hosts (what the programs print: $LOGS/run-micro.log)"
  micro --ranks 2 --output "$folder" >"$LOGS/run-micro.log" || status=$?
  micro $two --output "$folder" -- H H >>"$LOGS/run-micro.log" || status=$?
fi
# Where nothing ran there is nothing to report.
if ! rmdir "$folder" 2>/dev/null; then
  "$FABRICMARK" report "$folder" --html "$folder/report.html" || status=$?
fi
exit $status

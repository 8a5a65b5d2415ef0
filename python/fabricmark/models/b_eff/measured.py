"""b_eff on a CPU or GPU whose steps and exchanges were measured in short runs with other sizes of chunks.

Each step, the whole exchange over the host and the one from mapped memory takes a start and its bytes at two
rates, inside and outside of the caches (`_measured.line_seconds`). Messages between the hosts' memories are a
measured curve, that of the network.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from fabricmark.base import transports
from fabricmark.models import Board, _measured
from fabricmark.models._fit import Modelled, curve
from fabricmark.models._host_path import DIRECTIONS, EXCHANGE, MEASURED
from fabricmark.models._measured import Run
from fabricmark.models.machine import Bitstream, Curve, measured_of

LINES = ("kernel", "read", "message", "write", "kernel_after")
MAPPED = "mapped"
LATENCY = "latency"
BANDWIDTH = "memory bandwidth"
SOURCE = "start + bytes at the rates of short runs with other chunks"


def fit(runs: Sequence[Run]) -> dict[str, float]:
    """Parameters of runs over the host with one number of ranks: of steps, whole and mapped exchanges."""
    curves: dict[str, tuple[list, list]] = {}
    for run in runs:
        if transports.between_hosts(run.parameters.get("transport")):
            continue  # those are the hosts' curve
        is_shared = run.parameters.get("staging") == "shared"  # a way that has no line of its own
        chunk = MEASURED if is_shared else run.parameters.get("chunk_bytes", 0)
        for step in (*LINES, EXCHANGE) if chunk >= 0 else LINES:  # else each size went its own way
            for size, seconds in curve(run.measurements, step).items():
                is_long = step == EXCHANGE and 0 < chunk < size
                mapped = (
                    is_long and run.parameters.get("map_memory", False) and run.board.device_class == "cpu"
                )
                if not is_long or mapped:
                    sizes, times = curves.setdefault(MAPPED if mapped else step, ([], []))
                    sizes.append(DIRECTIONS * size)
                    times.append(seconds)
    return _measured.fit_curves(curves)


def line(sizes, bitstream: Bitstream | None, board: Board, ranks: int, name: str) -> Modelled | None:
    """Times of a step or exchange by its parameters; None where the kernel has none of this name."""
    known = measured_of(bitstream)
    if bitstream is None or f"{name}_start_seconds" not in known:
        return None
    seconds = _measured.line_seconds(DIRECTIONS * np.asarray(sizes, dtype=float), known, name)
    seconds = seconds * _measured.crowding(bitstream, board, ranks)
    is_short = seconds < 2 * known[f"{name}_start_seconds"]
    return Modelled(seconds, [LATENCY if short else BANDWIDTH for short in is_short], SOURCE)


def over_host(
    sizes, parameters: Mapping, bitstream: Bitstream | None, board: Board, ranks: int
) -> Modelled | None:
    """Whole exchanges, and longer ones than a chunk from mapped memory; None where no parameters say."""
    if parameters.get("staging") == "shared":
        return None
    whole = line(sizes, bitstream, board, ranks, EXCHANGE)
    chunk = parameters.get("chunk_bytes", 0)
    is_long = (np.asarray(sizes) > chunk) & (np.asarray(chunk) > 0)
    if whole is None or not is_long.any():
        return whole
    mapped = line(sizes, bitstream, board, ranks, MAPPED)
    if mapped is None or not parameters.get("map_memory", False):
        return None
    words = [mapped.words[i] if is_long[i] else whole.words[i] for i in range(len(whole.words))]
    return Modelled(np.where(is_long, mapped.seconds, whole.seconds), words, SOURCE)


def message_curve(runs: Sequence[Run]) -> Curve | None:
    """The curve of runs with transport cpu on the same ranks: their geometric mean. None without times."""
    measured = [times for run in runs if (times := curve(run.measurements, EXCHANGE))]
    if not measured:
        return None
    known = _measured.ascending(_measured.means(measured))
    return Curve(runs[0].ranks, runs[0].board.hosts, known.bytes, known.seconds)

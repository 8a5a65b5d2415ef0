"""host_transfer on a CPU or GPU that short runs of other sizes were made on.

Each kind of transfer (direction, method, memory, number of buffers) has a measured curve, between whose sizes
its time lies: caches, pages and the host's ways to copy make steps that no start and rate describe. The
pipeline of the overlap test takes pieces x (write + kernel + read), and overlapped as much less as in the
short runs: runtimes differ in what they let go on at the same time.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from fabricmark.models import Board, Prediction, _measured
from fabricmark.models._measured import Run
from fabricmark.models.machine import Bitstream, Times, measured_of

PIECES = 8  # of the overlap test
STEPS = 3  # write, kernel, read
SOURCE = "between the sizes of short runs"
# How the overlap test copies its pieces.
COPIES = tuple(
    {"direction": direction, "method": "queued", "memory": "page-aligned", "buffers": 1}
    for direction in ("to_device", "from_device")
)


def curve_name(axes: Mapping) -> str:
    """What the curve of a transfer's kind is called."""
    words = (axes["direction"], axes["method"], axes["memory"], str(axes["buffers"]))
    return "_".join(words).replace("-", "_")


def curves(runs: Sequence[Run]) -> dict[str, Times]:
    """Curves of runs with one number of ranks; times of one rank."""
    found: dict[str, list[dict[float, float]]] = {}
    for run in runs:
        of_run: dict[str, dict[float, float]] = {}
        for entry in run.measurements:
            if entry.name == "bandwidth" and entry.best > 0:
                seconds = entry.axes["bytes"] * run.ranks / (entry.best * 1e9)
                of_run.setdefault(curve_name(entry.axes), {})[entry.axes["bytes"]] = seconds
        for name, times in of_run.items():
            found.setdefault(name, []).append(times)
    return {name: _measured.ascending(_measured.means(several)) for name, several in found.items()}


def fit(runs: Sequence[Run]) -> dict[str, float]:
    """The rate of the kernel in the pipeline of the overlap test, and its gain; empty where no run tells."""
    known = curves(runs)
    kernels, gains = [], []
    for run in runs:
        copies = _copies_seconds(run.parameters, known)
        serial = (run.best("pipeline_time", "ms", order="serial") or 0) * 1e-3
        if copies is not None and serial > copies:
            kernels.append(run.parameters["overlap_bytes"] * PIECES / (serial - copies))
            gains.append(run.best("overlap_speed_up", "x"))
    found = {"kernel_bytes_per_second": kernels, "overlap_speed_up": [gain for gain in gains if gain]}
    return {name: float(np.median(values)) for name, values in found.items() if values}


def _seconds(known: Mapping[str, Times], axes: Mapping, moved_bytes: float) -> float | None:
    """Time of a transfer of this kind [s]; None where it was not measured."""
    times = known.get(curve_name(axes))
    if times is None:
        return None
    return float(_measured.interpolated_seconds(times.bytes, times.seconds, moved_bytes))


def _copies_seconds(parameters: Mapping, known: Mapping[str, Times]) -> float | None:
    """Time of all writes and reads of the overlap test [s]; None where they were not measured."""
    times = [_seconds(known, axes, parameters["overlap_bytes"]) for axes in COPIES]
    return None if None in times else PIECES * sum(times)


def transfer(
    axes: Mapping, bitstream: Bitstream | None, board: Board, ranks: int, limit_gb: float | None
) -> Prediction | None:
    """One transfer of all ranks together; None where its kind was not measured."""
    seconds = None if bitstream is None else _seconds(bitstream.curves, axes, axes["bytes"])
    if seconds is None:
        return None
    start = bitstream.curves[curve_name(axes)].seconds[0]
    word = "transfer latency" if seconds < 2 * start else "memory bandwidth"
    seconds *= _measured.crowding(bitstream, board, ranks)
    rate = axes["bytes"] * ranks / seconds / 1e9
    return Prediction("bandwidth", axes, rate, "GB/s", limit_gb, word, SOURCE)


def pipeline(parameters: Mapping, bitstream: Bitstream | None, board: Board, ranks: int) -> list[Prediction]:
    """The overlap test, in order and overlapped, and the gain; empty where its kernel was not measured.

    Without a measured gain a CPU's steps share the cores of a rank, and on a GPU all three go on at the same
    time.
    """
    known = measured_of(bitstream)
    if bitstream is None or "kernel_bytes_per_second" not in known:
        return []
    copies = _copies_seconds(parameters, bitstream.curves)
    if copies is None:
        return []
    kernels = parameters["overlap_bytes"] * PIECES / known["kernel_bytes_per_second"]
    serial = (copies + kernels) * _measured.crowding(bitstream, board, ranks)
    cores = board.get("processor.cores")
    at_once = STEPS if cores is None else min(STEPS, cores * board.devices / ranks)
    gain = known.get("overlap_speed_up", max(1.0, at_once))
    about = ("memory bandwidth", "write, kernel and read of each piece; overlapped as short runs were")
    return [
        Prediction("pipeline_time", {"order": "serial"}, serial * 1e3, "ms", None, *about),
        Prediction("pipeline_time", {"order": "overlapped"}, serial / gain * 1e3, "ms", None, *about),
        Prediction("overlap_speed_up", {}, gain, "x", None, *about),
    ]

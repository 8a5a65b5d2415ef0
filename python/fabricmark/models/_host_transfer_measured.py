"""host_transfer on a CPU or GPU that short runs of other sizes were made on.

A transfer takes a start, `buffer_seconds` for each buffer after the first, and its bytes at two rates, inside
and outside of the caches (`_measured.line_seconds`), by direction and method. The pipeline of the overlap
test takes pieces x (write + kernel + read), and overlapped what the cores of a rank leave of that.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from fabricmark.models import Board, Prediction, _measured
from fabricmark.models._measured import Run
from fabricmark.models.machine import Bitstream

PIECES = 8  # of the overlap test
STEPS = 3  # write, kernel, read
SOURCE = "start + bytes at the rates of short runs of other sizes"


def line_name(axes: Mapping) -> str:
    """What the figures of a transfer's kind are called."""
    return f"{axes['direction']}_{axes['method']}".replace("-", "_")


def figures(runs: Sequence[Run]) -> dict[str, float]:
    """Figures of runs with one number of ranks; times of one rank."""
    curves: dict[str, tuple[list, list]] = {}
    several = []
    for run in runs:
        for entry in run.measurements:
            if entry.name != "bandwidth":
                continue
            seconds = entry.axes["bytes"] * run.ranks / (entry.best * 1e9)
            if entry.axes["buffers"] > 1:
                several.append((entry.axes, seconds))
                continue
            sizes, times = curves.setdefault(line_name(entry.axes), ([], []))
            sizes.append(entry.axes["bytes"])
            times.append(seconds)
    found = _measured.lines(curves)
    if not found:
        return {}
    more = [
        (seconds - float(_measured.line_seconds(axes["bytes"], found, line_name(axes))))
        / (axes["buffers"] - 1)
        for axes, seconds in several
        if f"{line_name(axes)}_start_seconds" in found
    ]
    if more:
        found["buffer_seconds"] = max(float(np.median(more)), 0.0)
    copying = [_copies_seconds(run.parameters, found) for run in runs]
    kernels = [
        run.parameters["overlap_bytes"] * PIECES / (serial * 1e-3 - copies)
        for run, copies in zip(runs, copying, strict=True)
        if copies is not None
        and (serial := run.best("pipeline_time", "ms", order="serial") or 0) * 1e-3 > copies
    ]
    if kernels:
        found["kernel_bytes_per_second"] = float(np.median(kernels))
    return found


def _copies_seconds(parameters: Mapping, known: Mapping[str, float]) -> float | None:
    """Time of all writes and reads of the overlap test [s]; None where they were not measured."""
    names = ("to_device_queued", "from_device_queued")
    if any(f"{name}_start_seconds" not in known for name in names):
        return None
    return PIECES * sum(
        float(_measured.line_seconds(parameters["overlap_bytes"], known, name)) for name in names
    )


def transfer(
    axes: Mapping, bitstream: Bitstream | None, board: Board, ranks: int, limit_gb: float | None
) -> Prediction | None:
    """One transfer of all ranks together; None where no figures are known of its kind."""
    known = _measured.figures_of(bitstream)
    name = line_name(axes)
    if bitstream is None or f"{name}_start_seconds" not in known:
        return None
    seconds = float(_measured.line_seconds(axes["bytes"], known, name))
    starts = known[f"{name}_start_seconds"] + (axes["buffers"] - 1) * known.get("buffer_seconds", 0.0)
    seconds += (axes["buffers"] - 1) * known.get("buffer_seconds", 0.0)
    seconds *= _measured.crowding(bitstream, board, ranks)
    return Prediction(
        "bandwidth", axes, axes["bytes"] * ranks / seconds / 1e9, "GB/s", limit_gb,
        "transfer latency" if starts > seconds / 2 else "memory bandwidth", SOURCE,
    )  # fmt: skip


def pipeline(parameters: Mapping, bitstream: Bitstream | None, board: Board, ranks: int) -> list[Prediction]:
    """The overlap test, in order and overlapped, and the gain; empty where its kernel was not measured.

    A CPU's steps share the cores of a rank, on a GPU all three go on at the same time.
    """
    known = _measured.figures_of(bitstream)
    copies = _copies_seconds(parameters, known) if "kernel_bytes_per_second" in known else None
    if bitstream is None or copies is None:
        return []
    kernels = parameters["overlap_bytes"] * PIECES / known["kernel_bytes_per_second"]
    serial = (copies + kernels) * _measured.crowding(bitstream, board, ranks)
    at_once = STEPS if board.cores is None else min(STEPS, board.cores * board.devices / ranks)
    gain = max(1.0, at_once)
    about = ("memory bandwidth", "write, kernel and read of each piece, as many at once as a rank has cores")
    return [
        Prediction("pipeline_time", {"order": "serial"}, serial * 1e3, "ms", None, *about),
        Prediction("pipeline_time", {"order": "overlapped"}, serial / gain * 1e3, "ms", None, *about),
        Prediction("overlap_speed_up", {}, gain, "x", None, *about),
    ]

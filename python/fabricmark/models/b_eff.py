"""b_eff: messages of 2^0 to 2^20 bytes to both neighbours in a ring, and the effective bandwidth.

Equations 4.1 to 4.4 and 4.7 of dissertation 000 (sections 4.1.1 and 4.2.2), the five steps of the way over
the host (section 5.1.2, Fig. 5.2), and a fit of latency and bandwidth to a measured curve. All take and
return numbers or arrays of NumPy, in bytes and seconds.

What the report shows:

- where short runs of the machine say so (`_b_eff_measured`), starts and rates of these, or the hosts' curve;
- else, transport "host": read + message + write (eq. 4.2), where possible as the run itself measured these steps
  one by one; else copies from the calibration, and for the message what a fit of the exchanges leaves. On a
  GPU or FPGA chunks overlap; on a CPU all steps share the cores and the memory, and chunks bring nothing.
- else, transport "cpu": a fit of the measured curve, which describes it but does not predict it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fabricmark.models import Board, Prediction, _b_eff_measured, _transfers
from fabricmark.models._fit import Modelled, curve, fit_of, fitted
from fabricmark.models._host_path import (
    DIRECTIONS,
    EXCHANGE,
    STEPS,
    calculated_steps,
    copy_seconds,
    measured_steps,
)
from fabricmark.models._measured import Run
from fabricmark.models.machine import Bitstream

FIGURES_BY_RANKS = True  # a start takes longer where it wakes the cores of a whole device
WORDS = {
    "kernel": "kernel start",
    "read": "read from the device",
    "message": "message",
    "write": "write to the device",
    "kernel_after": "kernel start",
}


@dataclass(frozen=True)
class Channels:
    """Serial channels that one pair of kernels uses: how many, latency, clock and width of each."""

    count: int
    latency_seconds: float
    clock_hz: float
    width_bytes: int


# Dissertation 000, Table 4.2, with c'_n = 2 channels for each pair of kernels.
BITTWARE_520N = Channels(count=2, latency_seconds=520e-9, clock_hz=156.25e6, width_bytes=32)


def effective_bytes_per_second(rates):
    """Effective bandwidth: mean over the sizes of the best repetition (dissertation 000, eq. 4.1).

    `rates`: one for each size, or sizes x repetitions.
    """
    rates = np.asarray(rates, dtype=float)
    return np.mean(rates if rates.ndim == 1 else rates.max(axis=1))


def exchange_bytes_per_second(message_bytes, write_seconds, message_seconds, read_seconds):
    """Bandwidth b_L over the host, both directions: read, send and write (dissertation 000, eq. 4.2)."""
    return DIRECTIONS * np.asarray(message_bytes) / (write_seconds + message_seconds + read_seconds)


def circuit_seconds(message_bytes, messages=1, channels: Channels = BITTWARE_520N):
    """Time of messages one after the other over direct channels [s] (dissertation 000, eq. 4.3)."""
    cycles = np.ceil(np.asarray(message_bytes) / (channels.count * channels.width_bytes))
    return messages * (cycles / channels.clock_hz + channels.latency_seconds)


def circuit_bytes_per_second(message_bytes, channels: Channels = BITTWARE_520N):
    """Bandwidth b_L over direct channels (dissertation 000, eq. 4.4).

    The text calls it that of one pair of kernels; the published figures of a board with two pairs, which use
    all four channels, are those of this equation as it stands.
    """
    return DIRECTIONS * np.asarray(message_bytes) / circuit_seconds(message_bytes, 1, channels)


def peak_bytes_per_second(network_bytes_per_second, link_bytes_per_second):
    """Bandwidth b_max of long messages over the host, without latencies (dissertation 000, eq. 4.7)."""
    return DIRECTIONS / (1 / network_bytes_per_second + 2 / link_bytes_per_second)


def sub_steps_seconds(kernel, read, message, write, kernel_after):
    """From the start of the producing kernel to the end of the consuming one [s]: the sum of five steps.

    Source: dissertation 000, section 5.1.2 and Fig. 5.2.
    """
    return kernel + read + message + write + kernel_after


def chunked_seconds(chunk_steps: Sequence, chunks):
    """Time of a message in chunks whose steps overlap [s]: all steps of one, then the slowest of the rest."""
    slowest = np.max(np.broadcast_arrays(*chunk_steps), axis=0)
    return sum(chunk_steps) + (np.asarray(chunks) - 1) * slowest


def mapped_seconds(message_seconds, launch_seconds):
    """Time of an exchange from memory that host and device share [s]: two starts to map it, no copies."""
    return np.asarray(message_seconds) + 2 * launch_seconds


def message_carrier(board: Board) -> str:
    """What long messages between hosts wait for: inside one host its memory."""
    return "memory bandwidth" if board.hosts == 1 else "network"


def over_host(
    sizes, parameters: Mapping, board: Board, ranks: int, measurements: Sequence
) -> Modelled | None:
    """Read, message and write of each size; in chunks where the parameters ask and the device gains by it."""

    def steps(of_sizes):
        measured = measured_steps(of_sizes, measurements)
        if measured is not None:
            return measured, "the sum of the steps as this run measured them one by one"
        return calculated_steps(of_sizes, board, ranks, measurements)

    sizes = np.asarray(sizes, dtype=float)
    found = steps(sizes)
    if found is None:
        return None
    whole, source = found
    total = DIRECTIONS * sizes / exchange_bytes_per_second(sizes, whole[2], whole[1], whole[0])
    chunk = parameters.get("chunk_bytes", 0)
    longest = np.argmax(np.stack(whole), axis=0)
    is_long = (sizes > chunk) & (chunk > 0)
    if is_long.any() and not _transfers.is_host_memory(board):
        pieces, _ = steps(np.minimum(sizes, chunk))
        total = np.where(is_long, chunked_seconds(pieces, np.ceil(sizes / chunk)), total)
    elif parameters.get("map_memory", False):
        total = np.where(is_long, mapped_seconds(whole[1], board.launch_seconds), total)
        longest = np.where(is_long, STEPS.index("message"), longest)
    return Modelled(total, [WORDS[STEPS[step]] for step in longest], f"eq. 4.2: {source}")


def limit_bytes_per_second(transport: str, board: Board) -> float | None:
    """What the hosts' memories can carry, summed over all ranks and both directions; None where unknown.

    Each byte is copied (read and written) once between host memories. On the way over the host of a GPU or
    FPGA the link writes and reads it once more, and a CPU copies it three times.
    """
    copying = _transfers.copy_limit(board)
    if copying is None:
        return None
    over_host = 3 if _transfers.is_host_memory(board) else 2
    return copying * board.hosts / (1 if transport == "cpu" else over_host)


def predictions_of_sizes(
    sizes, modelled: Modelled, limit: float | None, ranks: int
) -> tuple[list[Prediction], np.ndarray]:
    """Bandwidth and latency of the exchanges, and the rates [bytes per second]."""
    rates = DIRECTIONS * ranks * np.asarray(sizes, dtype=float) / modelled.seconds
    limit_gb = None if limit is None else limit / 1e9
    found = []
    for size, rate, seconds, word in zip(sizes, rates, modelled.seconds, modelled.words, strict=True):
        axes = {"operation": EXCHANGE, "message_bytes": size}
        about = (word, modelled.explanation)
        found.append(Prediction("bandwidth", axes, float(rate) / 1e9, "GB/s", limit_gb, *about))
        found.append(Prediction("latency", axes, float(seconds) * 1e6, "us", None, *about))
    return found, rates


def effective_prediction(rates, modelled: Modelled, limit: float | None) -> Prediction:
    """Eq. 4.1 of the modelled rates, and what most of the bandwidth is lost to, summed over the sizes."""
    lost = dict.fromkeys(modelled.words, 0.0)
    for rate, word in zip(rates, modelled.words, strict=True):
        lost[word] += max((rates.max() if limit is None else limit) - float(rate), 0.0)
    value = float(effective_bytes_per_second(rates)) / 1e9
    explanation = f"eq. 4.1, mean over the sizes; {modelled.explanation}"
    limit_gb = None if limit is None else limit / 1e9
    return Prediction(
        "effective_bandwidth", {}, value, "GB/s", limit_gb, max(lost, key=lost.get), explanation
    )


def step_predictions(
    sizes, board: Board, ranks: int, measurements: Sequence, bitstream: Bitstream | None = None
) -> list[Prediction]:
    """Each of the five steps alone: by its figures; kernels and copies in a host's memory as calibrated; a fit."""
    starts = 1 if _transfers.is_host_memory(board) else -(-ranks // board.devices)
    launch = np.full(len(sizes), starts * board.launch_seconds)
    steps = {
        step: Modelled(launch, [WORDS[step]] * len(sizes), "calibrated start of a kernel")
        for step in ("kernel", "kernel_after")
    }
    for step in STEPS:
        seconds = copy_seconds(step, sizes, board, ranks) if step != "message" else None
        fit = fit_of(curve(measurements, step), DIRECTIONS * ranks)
        if seconds is not None and _transfers.is_host_memory(board):
            words = ["transfer latency" if 2 * launch[0] > time else "memory bandwidth" for time in seconds]
            steps[step] = Modelled(seconds, words, "calibrated start and rate")
        elif fit is not None:
            carrier = "link bandwidth" if step != "message" else message_carrier(board)
            steps[step] = fitted(sizes, fit, DIRECTIONS * ranks, carrier)
    for step in _b_eff_measured.LINES:
        known = _b_eff_measured.line(sizes, bitstream, board, ranks, step)
        steps |= {step: known} if known is not None else {}
    return [
        Prediction(
            "latency", {"operation": step, "message_bytes": size}, float(seconds) * 1e6, "us", None,
            word, modelled.explanation,
        )
        for step, modelled in steps.items()
        for size, seconds, word in zip(sizes, modelled.seconds, modelled.words, strict=True)
    ]  # fmt: skip


def short_runs(parameters: Mapping, device_class: str) -> list[dict]:
    """Options of the runs that the figures come from, the largest last; `parameters`: of kernel.toml."""
    return [
        {"transport": "cpu", "largest": 22},
        {"transport": "host", "chunk_bytes": 0, "largest": 19},
        {"transport": "host", "chunk_bytes": 8192, "largest": 21, "sub_steps": False},
    ]


def processor_figures(runs: Sequence[Run]) -> dict[str, float]:
    """Figures of short runs over the host with one number of ranks: starts and rates of steps and exchanges."""
    return _b_eff_measured.figures(runs)


def predict(
    parameters: Mapping, board: Board, ranks: int, *, measurements=(), network=None, bitstream=None
) -> list[Prediction]:
    """Bandwidth and latency of each size, the effective bandwidth, and over the host the steps.

    `parameters`: those of the result file (transport, chunk_bytes, largest). `measurements`: of the same run;
    without them transport "cpu" has limits but no model. Raises KeyError for an unknown transport.
    """
    transport = parameters["transport"]
    measured = curve(measurements, EXCHANGE)
    sizes = sorted(measured) or [2**power for power in range(parameters.get("largest", 20) + 1)]
    limit = limit_bytes_per_second(transport, board)
    known = _b_eff_measured.over_host(sizes, parameters, bitstream, board, ranks)
    if transport == "cpu":
        known = _b_eff_measured.between_hosts(sizes, network, ranks, board)
    if known is not None and transport in ("cpu", "host"):
        modelled = known
    elif transport == "cpu":
        fit = fit_of(measured, DIRECTIONS * ranks)
        carrier = message_carrier(board)
        modelled = None if fit is None else fitted(sizes, fit, DIRECTIONS * ranks, carrier)
    elif transport == "host":
        modelled = over_host(sizes, parameters, board, ranks, measurements)
    else:
        raise KeyError("transport")
    if modelled is None:
        return unmodelled(sizes, limit)
    found, rates = predictions_of_sizes(sizes, modelled, limit, ranks)
    effective = effective_prediction(rates, modelled, limit)
    if transport == "cpu":
        return [*found, effective]
    return [*found, effective, *step_predictions(sizes, board, ranks, measurements, bitstream)]


def unmodelled(sizes, limit: float | None) -> list[Prediction]:
    """Limits alone, where neither the calibration nor the run says enough."""
    limit_gb = None if limit is None else limit / 1e9
    about = (None, "GB/s", limit_gb, "-", "no model: neither calibration nor measurements say enough")
    axes = [{"operation": EXCHANGE, "message_bytes": size} for size in sizes]
    return [
        *(Prediction("bandwidth", place, *about) for place in axes),
        Prediction("effective_bandwidth", {}, *about),
    ]

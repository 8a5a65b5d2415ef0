"""b_eff: messages of 2^0 to 2^20 bytes to both neighbours in a ring, and the effective bandwidth.

Equations 4.1 to 4.4 and 4.7 of Meyer 2024 (sections 4.1.1 and 4.2.2), the five steps of the path over
the host (section 5.1.2, Fig. 5.2), and a fit of latency and bandwidth to a measured curve. All take and
return numbers or arrays of NumPy, in bytes and seconds.

What the report shows:

- where short runs of the machine say so (`measured`), starts and rates of these, or the hosts' curve;
- else, transport "host": read + message + write (eq. 4.2), where possible as the run itself measured these
  steps one by one; else copies from the calibration, and for the message what a fit of the exchanges leaves.
  On a GPU or FPGA chunks overlap; on a CPU all steps share cores and memory, and chunks bring nothing.
- else, transport "cpu": a fit of the measured curve, which describes it but does not predict it.

A described system has a network: over direct links eq. 4.3, over the host the copies of its board and the
hosts' curve (models/_network.py), over "cpu" that curve alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fabricmark.base import transports
from fabricmark.models import Board, Prediction, Synthesis, Traits, _derived, _host_path, _network, _transfers
from fabricmark.models._fit import Modelled, curve, fit_of, fitted
from fabricmark.models._host_path import (
    DIRECTIONS,
    EXCHANGE,
    MEASURED,
    STEPS,
    calculated_steps,
    copy_seconds,
    fastest,
    forced_protocols,
    measured_steps,
    protocols,
)
from fabricmark.models._kernel_time import total
from fabricmark.models._missing import MissingValue
from fabricmark.models._roofline import KERNEL
from fabricmark.models._types import ELEMENT_BYTES
from fabricmark.models.b_eff import measured as short_run_lines
from fabricmark.models.b_eff.limits import effective_limit, limits_by_size
from fabricmark.models.machine import HOST, Bitstream, Network

derived = _derived.effective_bandwidth
message_curve = short_run_lines.message_curve
fit_parameters = short_run_lines.fit
WHOLE = {"chunk_bytes": 0}  # the base version: whole messages
TRAITS = Traits(
    ("effective_bandwidth", {}),
    exchanges=True,
    to_itself=True,
    is_host_code=True,
    preset=WHOLE,
    by_ranks=True,
)
INPUTS = (*_host_path.INPUTS, *_network.MESSAGES, *_network.RING, "board.processor.cores", "bitstream.clock")
WORDS = {
    "kernel": "kernel start",
    "read": "read from the device",
    "message": "message",
    "write": "write to the device",
    "kernel_after": "kernel start",
}


def effective_bytes_per_second(rates):
    """Effective bandwidth: mean over the sizes of the best repetition (Meyer 2024, eq. 4.1).

    `rates`: one for each size, or sizes x repetitions.
    """
    rates = np.asarray(rates, dtype=float)
    return np.mean(rates if rates.ndim == 1 else rates.max(axis=1))


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
    """Read, message and write of each size; in chunks where the parameters ask and the device gains by it,
    where they leave that open whichever way is the fastest."""
    given = parameters.get("chunk_bytes", 0)  # of a forced way one for each size
    if np.ndim(given) == 0 and given == MEASURED:
        forced = forced_protocols(sizes, parameters, board)
        return fastest([over_host(sizes, one, board, ranks, measurements) for one in forced])

    def steps(of_sizes):
        measured = measured_steps(of_sizes, measurements)
        if measured is not None:
            found = measured, "the sum of the steps as this run measured them one by one"
        else:
            found = calculated_steps(of_sizes, board, ranks, measurements)
        if found is None or parameters.get("staging") != "shared" or board.hosts > 1:
            return found
        (read, message, write), source = found
        return [read, np.zeros_like(message), write], source + ", without the message: memory is shared"

    sizes = np.asarray(sizes, dtype=float)
    found = steps(sizes)
    if found is None:
        return None
    whole, source = found
    total = whole[2] + whole[1] + whole[0]  # eq. 4.2
    chunk = parameters.get("chunk_bytes", 0)
    longest = np.argmax(np.stack(whole), axis=0)
    is_long = (sizes > chunk) & (np.asarray(chunk) > 0)
    if is_long.any() and not _transfers.is_host_memory(board):
        pieces, _ = steps(np.minimum(sizes, chunk))
        total = np.where(is_long, chunked_seconds(pieces, np.ceil(sizes / chunk)), total)
    elif parameters.get("map_memory", False):
        total = np.where(is_long, mapped_seconds(whole[1], board["host.launch_latency"]), total)
        longest = np.where(is_long, STEPS.index("message"), longest)
    return Modelled(total, [WORDS[STEPS[step]] for step in longest], f"eq. 4.2: {source}")


def predictions_of_sizes(
    sizes, modelled: Modelled, limits: Sequence[float | None], ranks: int, phases: Sequence[Mapping] = ()
) -> tuple[list[Prediction], np.ndarray]:
    """Bandwidth and latency of the exchanges, and the rates [bytes per second]."""
    rates = DIRECTIONS * ranks * np.asarray(sizes, dtype=float) / modelled.seconds
    found = []
    spent = phases or [{}] * len(sizes)
    entries = zip(sizes, rates, modelled.seconds, modelled.words, spent, limits, strict=True)
    for size, rate, seconds, word, parts, limit in entries:
        limit_gb = None if limit is None else limit / 1e9
        axes = {"operation": EXCHANGE, "message_bytes": size}
        about = (word, modelled.explanation, parts)
        found.append(Prediction("bandwidth", axes, float(rate) / 1e9, "GB/s", limit_gb, *about))
        found.append(Prediction("latency", axes, float(seconds) * 1e6, "us", None, *about))
    return found, rates


def effective_prediction(rates, modelled: Modelled, limits: Sequence[float | None]) -> Prediction:
    """Eq. 4.1 of the modelled rates, and what most of the bandwidth is lost to, summed over the sizes."""
    lost = dict.fromkeys(modelled.words, 0.0)
    for rate, word, most in zip(rates, modelled.words, limits, strict=True):
        lost[word] += max((rates.max() if most is None else most) - float(rate), 0.0)
    limit = effective_limit(limits)
    value = float(effective_bytes_per_second(rates)) / 1e9
    explanation = f"eq. 4.1, mean over the sizes; {modelled.explanation}"
    limit_gb = None if limit is None else limit / 1e9
    return Prediction(
        "effective_bandwidth", {}, value, "GB/s", limit_gb, max(lost, key=lost.get), explanation
    )


def step_predictions(
    sizes, board: Board, ranks: int, measurements: Sequence, bitstream: Bitstream | None = None
) -> list[Prediction]:
    """Each of the five steps alone: by its parameters; as calibrated (kernels, host copies); else a fit."""
    starts = 1 if _transfers.is_host_memory(board) else -(-ranks // board.devices)
    launch = np.full(len(sizes), starts * board["host.launch_latency"])
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
    for step in short_run_lines.LINES:
        known = short_run_lines.line(sizes, bitstream, board, ranks, step)
        steps |= {step: known} if known is not None else {}
    return [
        Prediction(
            "latency", {"operation": step, "message_bytes": size}, float(seconds) * 1e6, "us", None,
            word, modelled.explanation,
        )
        for step, modelled in steps.items()
        for size, seconds, word in zip(sizes, modelled.seconds, modelled.words, strict=True)
    ]  # fmt: skip


def short_runs(defaults: Mapping) -> list[dict]:
    """Options of the runs that are fitted, the largest last; `defaults`: the parameters of a usual run."""
    return [
        {"transport": transports.CPU, "largest": 22},
        {"transport": transports.HOST, "chunk_bytes": 0, "largest": 19},
        {"transport": transports.HOST, "chunk_bytes": 8192, "largest": 21, "sub_steps": False},
    ]


def kernels_of(parameters: Mapping) -> tuple:
    """(pairs of kernels, bytes of their words), None where nothing says them."""
    width = parameters.get("channel_width")
    return parameters.get("replications"), None if width is None else width * ELEMENT_BYTES["float"]


def slower_of(word_bytes: float | None, board: Board, network: Network) -> str:
    """What long messages over direct channels wait for."""
    handed = _network.handed(network, word_bytes, board)
    if handed is None or handed[1] >= _network.word_bytes_per_second(network, word_bytes):
        return "channels"
    return KERNEL


def described(sizes, parameters: Mapping, board: Board, network: Network) -> tuple[Modelled, list[dict]]:
    """(exchanges of a described system, time of each step by size)."""
    transport, (pairs, word_bytes) = parameters["transport"], kernels_of(parameters)
    steps = _network.ring_seconds(sizes, board, network, transport, pairs, word_bytes)
    if len(steps) == 1:
        waiting = float(_network.ring_seconds(1, board, network, transport, pairs, word_bytes)[0])
        carrier = "network" if network.kind == HOST else slower_of(word_bytes, board, network)
        words = ["latency" if 2 * waiting > seconds else carrier for seconds in steps[0]]
        explanation = "the hosts' measured curve" if network.kind == HOST else "eq. 4.3 and 4.4"
        return Modelled(steps[0], words, explanation), [{"message": float(time)} for time in steps[0]]
    total = steps[2] + steps[1] + steps[0]
    words = [WORDS[STEPS[step]] for step in np.argmax(np.stack(steps), axis=0)]
    phases = [dict(zip(STEPS, map(float, parts), strict=True)) for parts in zip(*steps, strict=True)]
    chunk = parameters.get("chunk_bytes", 0)
    for one in protocols(sizes, parameters, False)[1:] if chunk == MEASURED else [chunk] if chunk else []:
        pieces = _network.ring_seconds(np.minimum(sizes, one), board, network, transport)
        in_chunks = np.where(sizes > one, chunked_seconds(pieces, np.ceil(sizes / one)), total)
        total = np.minimum(total, in_chunks) if chunk == MEASURED else in_chunks
    return Modelled(total, words, "eq. 4.2: the board's copies and the hosts' curve"), phases


def described_predictions(
    parameters: Mapping, board: Board, ranks: int, network: Network
) -> list[Prediction]:
    """Bandwidth and latency of each size, the effective bandwidth, and over the host the steps."""
    sizes = message_sizes(parameters)
    modelled, phases = described(np.array(sizes, dtype=float), parameters, board, network)
    limits = limits_by_size(sizes, parameters, board, ranks)
    if board.limits is None:
        limits = [_network.ring_limit(board, network, parameters["transport"])] * len(sizes)
    found, rates = predictions_of_sizes(sizes, modelled, limits, ranks, phases)
    steps = [
        Prediction(
            "latency", {"operation": step, "message_bytes": size}, seconds * 1e6, "us", None, WORDS[step],
            modelled.explanation,
        )
        for size, parts in zip(sizes, phases, strict=True)
        for step, seconds in parts.items()
        if len(parts) > 1
    ]  # fmt: skip
    whole = {step: sum(parts[step] for parts in phases) for step in phases[0]}
    effective = replace(effective_prediction(rates, modelled, limits), phases=whole)
    return [*found, effective, *steps]


def message_sizes(parameters: Mapping) -> list[int]:
    """2^0 to 2^largest bytes."""
    return [2**power for power in range(int(parameters.get("largest", 20)) + 1)]


def headline(parameters: Mapping, board: Board, ranks, *, network=None, bitstream=None):
    """Effective bandwidth [GB/s] (eq. 4.1); ranks and fields of board and network may be arrays.

    `bitstream` says no more than its parameters. Raises MissingValue without a network.
    """
    if network is None:
        raise MissingValue("transport")
    sizes = np.array(message_sizes(parameters), dtype=float)
    kernels = (one[..., np.newaxis] if isinstance(one, np.ndarray) else one for one in kernels_of(parameters))
    one, wired = _network.with_axis(board), _network.with_axis(network)
    seconds = total(*_network.ring_seconds(sizes, one, wired, parameters["transport"], *kernels))
    rates = DIRECTIONS * np.asarray(ranks)[..., np.newaxis] * sizes / 1e9 / seconds
    return np.mean(rates, axis=-1)


def table_elements(parameters: Mapping, points: Mapping) -> int:
    """Of the table that `headline` makes: all sizes of each point."""
    shape = np.broadcast_shapes(*map(np.shape, points.values()))
    return int(np.prod(shape, dtype=float)) * len(message_sizes(parameters))


def synthesis(parameters: Mapping) -> Synthesis:
    """A pair of kernels of the channel's width, for each replication."""
    return Synthesis(parameters["replications"] * parameters["channel_width"])


def predict(
    parameters: Mapping, board: Board, ranks: int, *, measurements=(), network=None, bitstream=None
) -> list[Prediction]:
    """Bandwidth and latency of each size, the effective bandwidth, and over the host the steps.

    `parameters`: those of the result file (transport, chunk_bytes, largest; over channels replications).
    `network`: of a described system. `measurements`: of the same run; without both transport "cpu" has
    limits but no model. Raises MissingValue for an unknown transport.
    """
    transport = parameters["transport"]
    if network is not None and (board.device_class == "fpga" or transports.between_hosts(transport)):
        return described_predictions(parameters, board, ranks, network)
    measured = curve(measurements, EXCHANGE)
    sizes = sorted(measured) or message_sizes(parameters)
    limits = limits_by_size(sizes, parameters, board, ranks)
    forced = forced_protocols(sizes, parameters, board)
    known = fastest([short_run_lines.over_host(sizes, one, bitstream, board, ranks) for one in forced])
    if known is not None and transports.over_hosts(transport):
        modelled = known
    elif transports.between_hosts(transport):
        fit = fit_of(measured, DIRECTIONS * ranks)
        carrier = message_carrier(board)
        modelled = None if fit is None else fitted(sizes, fit, DIRECTIONS * ranks, carrier)
    elif transports.over_hosts(transport):
        modelled = over_host(sizes, parameters, board, ranks, measurements)
    else:
        raise MissingValue("transport")
    if modelled is None:
        return unmodelled(sizes, limits)
    found, rates = predictions_of_sizes(sizes, modelled, limits, ranks)
    effective = effective_prediction(rates, modelled, limits)
    if transports.between_hosts(transport):
        return [*found, effective]
    return [*found, effective, *step_predictions(sizes, board, ranks, measurements, bitstream)]


def unmodelled(sizes, limits: Sequence[float | None]) -> list[Prediction]:
    """Limits alone, where neither the calibration nor the run says enough."""
    axes = [{"operation": EXCHANGE, "message_bytes": size} for size in sizes]
    places = [("bandwidth", place, limit) for place, limit in zip(axes, limits, strict=True)]
    explanation = "no model: neither calibration nor measurements say enough"
    return [
        Prediction(name, place, None, "GB/s", None if limit is None else limit / 1e9, "-", explanation)
        for name, place, limit in [*places, ("effective_bandwidth", {}, effective_limit(limits))]
    ]

"""RandomAccess: d[i] ^= a for a pseudo-random sequence, 4 n updates of a table of n 64-bit words.

- FPGA (base kernel, Meyer 2024, sections 3.1.3, 3.2.2 and 4.1.4, Fig. 4.9): every replication generates
  the numbers of all, with `2 ^ log_rngs` generators one number a cycle each, and updates those in its own
  range. A shift register puts them in a row; in every slot is a number in range or none. Then

      slots of a replication = numbers x max(1 / generators, 1 / replications over all devices)

  and kernel.toml says what they take: one pipeline (buffer of 1) a cycle a slot and an update, two (a buffer)
  two cycles a slot and the latency of both loops once a buffer. So one generator never gives more updates a
  second than the kernel's clock, on however many boards (section 3.2.2), and with enough generators a bank
  takes an update in two cycles: 50 million a second at 100 MHz (section 4.2.4). The source gives no latency
  of a bank or loop; `update_seconds` and `burst_seconds` of published boards are inferred (systems/bitstreams
  say from what).
- CPU and GPU: the calibrated rate of independent random updates of a table of this size, of which a kernel
  reaches the share that short runs of it reached. In the base kernel every replication generates the numbers
  of all: each takes `number_seconds` of its core, while the updates go on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, exp, log
from statistics import median

import numpy as np

from fabricmark.models import Board, Prediction, Synthesis, Traits, _measured, _roofline, _transfers
from fabricmark.models._kernel_time import kernel_time, per_second
from fabricmark.models.machine import Bitstream, measured_of

AXES = {"operation": "update"}
TRAITS = Traits(("updates", AXES), is_shared=True)
INPUTS = (
    *_transfers.INPUTS, "board.processor.cores", "board.host.launch_latency", "bitstream.clock",
    "bitstream.memory.matrix_banks", "board.memory.update_latency", "board.memory.burst_latency",
)  # fmt: skip
WORD_BYTES = 8
UPDATES_PER_WORD = 4
RANDOM = "random updates"


def peak_updates_per_second(generators, all_replications, kernel_hz):
    """The most that the kernels' clock allows: two cycles an update, one number a generator and cycle.

    Source: Meyer 2024, sections 3.2.2 ("limited by the kernel frequency") and 4.2.4 (two cycles).
    """
    return kernel_hz * np.minimum(generators, all_replications / 2)


@dataclass(frozen=True)
class Run:
    """What one replication of a run on FPGAs does. `numbers`: of the whole sequence that it sees; `sharing`:
    replications over which the table lies; `tables`: so many of them."""

    numbers: float
    generators: float
    sharing: float
    tables: float


def run_of(parameters: Mapping, board: Board, ranks) -> Run:
    """A table over all FPGAs (global), or one on each (star)."""
    over = ranks if parameters.get("scope", "star") == "global" else np.ones_like(ranks)
    replications = parameters["replications"]
    return Run(
        numbers=UPDATES_PER_WORD * 2.0 ** parameters["log_size"] * over,
        generators=2.0 ** parameters["log_rngs"],
        sharing=replications * over,
        tables=ranks / over,
    )


def fpga_seconds(parameters: Mapping, board: Board, ranks, bitstream=None) -> tuple:
    """(start of the replications [s], generation and updates) on one FPGA.

    Raises ValueError for a board without clock.
    """
    run = run_of(parameters, board, ranks)
    arguments = {
        "numbers_each": run.numbers / run.generators,
        "log_table": np.log2(run.numbers / UPDATES_PER_WORD),
        "log_part": np.log2(run.numbers / UPDATES_PER_WORD / run.sharing),
    }
    here = {**parameters, "replications": parameters["replications"] * np.ceil(ranks / board.devices)}
    time = kernel_time("random_access", "random_access", arguments, here, board, bitstream)
    return parameters["replications"] * board["host.launch_latency"], time


def headline(parameters: Mapping, board: Board, ranks, *, network=None, bitstream=None):
    """GUOP/s of all FPGAs; parameters, ranks and fields of the board may be arrays."""
    run = run_of(parameters, board, ranks)
    launch, time = fpga_seconds(parameters, board, ranks, bitstream)
    return per_second(run.tables * run.numbers / 1e9, launch, *time.times)


def fpga_prediction(parameters: Mapping, board: Board, ranks: int, bitstream=None) -> Prediction:
    """Updates a second of all FPGAs; a table over all of them (global), or one on each (star)."""
    run = run_of(parameters, board, ranks)
    launch, time = fpga_seconds(parameters, board, ranks, bitstream)
    kernel, memory = (float(sum(getattr(loop, part) for loop in time.loops)) for part in ("cycles", "memory"))
    limit = run.tables * peak_updates_per_second(run.generators, run.sharing, board["clock"])
    bottleneck = "generation of numbers" if run.generators < run.sharing / 2 and kernel > memory else RANDOM
    bottleneck = _roofline.LAUNCH if launch > time.seconds else bottleneck
    explanation = "slots of the shift register, two cycles an update, latencies of banks and loops"
    value = float(headline(parameters, board, ranks, bitstream=bitstream))
    phases = {"launch": launch, **time.phases()}
    return Prediction("updates", AXES, value, "GUOP/s", float(limit) / 1e9, bottleneck, explanation, phases)


def calibrated_rate(table_bytes: float, known: Sequence[tuple[float, float]]) -> float | None:
    """Updates a second of a table of this size; None where none was calibrated.

    Between the calibrated sizes along a line of both logarithms, outside of them as at the nearest.
    """
    if not known:
        return None
    for (small, fast), (large, slow) in pairwise(known):
        if table_bytes <= large:
            along = max(0.0, log(table_bytes / small) / log(large / small))
            return exp(log(fast) + along * (log(slow) - log(fast)))
    return known[-1][1]


def generating_seconds(parameters: Mapping, ranks: int, number_seconds: float) -> float:
    """Time in which a core makes all the numbers of which its replication uses some [s]."""
    tables = ranks if parameters.get("scope", "star") == "global" else 1
    return UPDATES_PER_WORD * 2.0 ** parameters["log_size"] * tables * number_seconds


def processor_prediction(
    parameters: Mapping, board: Board, ranks: int, bitstream: Bitstream | None = None
) -> Prediction | None:
    """Updates a second on CPUs and GPUs; None where nothing of the kind was calibrated."""
    ranks_here = ceil(ranks / board.devices)
    table_bytes = 2.0 ** parameters["log_size"] * WORD_BYTES * ranks_here
    rate = calibrated_rate(table_bytes, board.updates_per_second)
    if rate is None:
        return None
    measured = board.limits.updates if board.limits is not None else ()
    limit = (calibrated_rate(table_bytes, measured) or rate) * board.devices
    part = _roofline.share(parameters, board, ranks_here)
    is_global = parameters.get("scope", "star") == "global" and board.hosts > 1
    if part is None or is_global:
        explanation = "no model: nothing calibrated says how fast one work-item or the network is"
        return Prediction("updates", AXES, None, "GUOP/s", limit / 1e9, RANDOM, explanation)
    numbers = UPDATES_PER_WORD * table_bytes / WORD_BYTES
    fitted = measured_of(bitstream)
    launch = parameters.get("replications", 1) * board["host.launch_latency"]
    launch += fitted.get("start_seconds", 0.0)
    busy = numbers / (rate * part) / fitted.get("efficiency", 1.0)
    generating = generating_seconds(parameters, ranks, fitted.get("number_seconds", 0.0))
    bottleneck = RANDOM if busy >= generating else "generation of numbers"
    busy = max(busy, generating)
    bottleneck = _roofline.LAUNCH if launch > busy else bottleneck
    explanation = "calibrated independent updates, on the cores that the kernel uses"
    if fitted:
        explanation += "; kernel as short runs of it were"
    value = numbers / (busy + launch) * board.devices
    return Prediction("updates", AXES, value / 1e9, "GUOP/s", limit / 1e9, bottleneck, explanation)


def short_runs(defaults: Mapping) -> list[dict]:
    """Options of the runs that are fitted, the largest last; `defaults`: the parameters of a usual run."""
    return [{"log_size": max(8, defaults["log_size"] - less)} for less in (3, 1)]


def fit_parameters(runs: Sequence[_measured.Run]) -> dict[str, float]:
    """Parameters of a kernel's model on a CPU or GPU from short runs.

    Base kernel: number_seconds of a core, with the largest tables; else efficiency and start. And transfers.
    """
    pairs, numbers = [], []
    for run in runs:
        rate = run.best("updates", "GUOP/s", **AXES)
        limit = processor_prediction(run.parameters, run.board, run.ranks)
        if rate is None or limit is None or limit.value is None:
            continue
        updates = UPDATES_PER_WORD * 2.0 ** run.parameters["log_size"] * run.ranks / run.board.devices
        taken = updates * run.board.devices / (rate * 1e9)
        launch = run.parameters.get("replications", 1) * run.board["host.launch_latency"]
        pairs.append((updates * run.board.devices / (limit.value * 1e9) - launch, taken - launch))
        of_number = (taken - launch) / generating_seconds(run.parameters, run.ranks, 1.0)
        numbers.append((run.parameters["log_size"], of_number))
    found = _measured.efficiency(pairs)
    is_base = bool(runs) and runs[0].parameters.get("variant", "base") == "base"
    if is_base and numbers and runs[0].board.get("processor.cores") is not None:
        largest = max(size for size, _ in numbers)  # nearest to tables that no cache holds
        found = {"number_seconds": float(median(seconds for size, seconds in numbers if size == largest))}
    return {**found, **_transfers.fit_parameters(runs)}


def synthesis(parameters: Mapping) -> Synthesis:
    """The same for each replication, with its buffer; generators are left out, which only take logic."""
    buffered = parameters["buffer_size"] * 2 * WORD_BYTES
    return Synthesis(parameters["replications"], parameters["replications"] * buffered)


def predict(
    parameters: Mapping, board: Board, ranks: int, *, measurements=(), network=None, bitstream=None
) -> list[Prediction]:
    """GUOP/s of all ranks, and the transfers.

    `parameters`: those of the result file (scope, log_size, replications; on an FPGA log_rngs, buffer_size),
    and `variant`. Raises MissingValue for one of them, or a clock, that is missing.
    """
    if board.device_class == "fpga":
        found = fpga_prediction(parameters, board, ranks, bitstream)
    else:
        found = processor_prediction(parameters, board, ranks, bitstream)
    table_bytes = WORD_BYTES * 2.0 ** parameters["log_size"]  # what a rank exchanges with its device
    return [*([found] if found else []), *_transfers.predictions(board, ranks, bitstream, table_bytes)]

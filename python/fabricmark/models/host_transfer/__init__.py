"""host_transfer: copies between host and device by size, number of buffers, direction, way and host memory.

Time = latency + bytes / rate, with one latency for all buffers where their copies are queued and one for each
where the host waits for every copy (Karl 2021, section I.6):

- GPU and FPGA: the link is full duplex, so that both halves of "both" move at the same time. Memory that the
  driver first copies into its own (on a GPU all that is not pinned) goes at the calibrated rate at best, one
  buffer and one direction after the other, however it is queued.
- A GPU moves pinned memory at the link's rate (`link_gb_per_s`); the calibration does not know that rate.
- CPU: a transfer is a copy in the host's memory, each byte read and written; both directions share it.

Where short runs of other sizes were made on the machine, their parameters count (host_transfer/measured.py).
Else the latency is what the smallest transfers of the same run took beyond their bytes, so that part of the
curve is a fit; without measurements it is the calibrated start of a kernel.
"""

from collections.abc import Mapping, Sequence
from math import inf

from fabricmark.base import units
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board, Prediction, Traits, _network, _transfers
from fabricmark.models._derived import overlap_speed_up
from fabricmark.models._missing import MissingValue
from fabricmark.models.host_transfer import measured as short_run_curves
from fabricmark.models.machine import Bitstream

derived = overlap_speed_up
fit_parameters = short_run_curves.fit
processor_curves = short_run_curves.curves
BOTH = "both"
IN_PLACE = ("map", "migrate", "sub-buffer")  # buffers over the host's memory, which the driver has pinned
CACHE_POWERS = (16, 16 + 8)  # of two [bytes], within which most caches end
TRAITS = Traits(("bandwidth", {"direction": "to_device"}), is_host_code=True, by_ranks=True)
INPUTS = (*_transfers.COPIES, *_network.MESSAGES, "board.processor.cores")
# Below this share of the link it is the copy into the driver's memory that takes the time.
SHARE_OF_A_BUSY_LINK = 0.5
# Methods that the closed form of a described board has, and those that it has not.
BLOCKING = "blocking"
QUEUED = ("queued", "2-queues", "4-queues", "out-of-order")
UNKNOWN = ("map", "migrate", "sub-buffer")


def link_bytes_per_second(parameters: Mapping) -> float:
    """What the link carries each way; infinite where the parameter says that the host's copies are it."""
    given = parameters.get("link_gb_per_s", 0)
    return given * 1e9 if given > 0 else inf


def is_staged(axes: Mapping, board: Board) -> bool:
    """Whether a driver has to copy the host's memory before the link can move it."""
    if _transfers.is_host_memory(board) or axes["method"] in IN_PLACE:
        return False
    return axes["memory"] in (("pageable", "page-aligned") if board.device_class == "gpu" else ("pageable",))


def one_way(
    direction: str, axes: Mapping, parameters: Mapping, board: Board, ranks_here: int
) -> float | None:
    """Bytes per second in one direction for all ranks of a device; None where nothing says."""
    link = link_bytes_per_second(parameters)
    calibrated = _transfers.rate(direction, board, ranks_here)  # of page-aligned memory
    if calibrated is None:
        return None if link == inf else link
    is_pinned_for_gpu = board.device_class == "gpu" and not is_staged(axes, board)
    return link if is_pinned_for_gpu and link < inf else min(link, calibrated)


def rate(axes: Mapping, parameters: Mapping, board: Board, ranks_here: int = 1) -> float | None:
    """Bytes per second of a transfer; of both directions each has half of the bytes.

    Both ways at once move at twice the slower one on a full-duplex link; on a CPU until the memory is the
    limit. What a driver copies goes one way after the other. None where nothing says.
    """
    if axes["direction"] != BOTH:
        return one_way(axes["direction"], axes, parameters, board, ranks_here)
    ways = [
        one_way(direction, axes, parameters, board, ranks_here)
        for direction in (_transfers.TO_DEVICE, _transfers.FROM_DEVICE)
    ]
    if None in ways:
        return None
    if is_staged(axes, board):
        return 2 / (1 / ways[0] + 1 / ways[1])
    both = 2 * min(ways)
    if _transfers.is_host_memory(board):
        both = min(both, max(*ways, _transfers.copy_limit(board) or inf))
    return both


def limit_bytes_per_second(axes: Mapping, parameters: Mapping, board: Board, ranks: int = 1) -> float | None:
    """What link or memory can move: as it was measured; else the link each way where it is given, else half
    of the host's copies."""
    ranks_here = -(-ranks // board.hosts)
    measured = _transfers.limit(axes["direction"], axes["bytes"] * ranks_here, board)
    if measured is not None:
        return measured
    link = link_bytes_per_second(parameters)
    copying = _transfers.copy_limit(board)
    limits = [] if link == inf else [link * board.devices * (2 if axes["direction"] == BOTH else 1)]
    if copying is not None and (not limits or _transfers.is_host_memory(board)):
        limits.append(copying * board.hosts)
    return min(limits, default=None)


def bandwidth_word(bytes_per_second: float, axes: Mapping, parameters: Mapping, board: Board) -> str:
    """What a long transfer at this rate waits for: the link or a memory."""
    link = link_bytes_per_second(parameters) * (2 if axes["direction"] == BOTH else 1)
    if _transfers.is_host_memory(board):
        return "link bandwidth" if bytes_per_second >= link else "memory bandwidth"
    return "memory bandwidth" if bytes_per_second < SHARE_OF_A_BUSY_LINK * link < inf else "link bandwidth"


def latencies(axes: Mapping, board: Board) -> int:
    """How many times a transfer pays the latency: for each buffer that host or driver handle by itself."""
    return axes["buffers"] if axes["method"] == "blocking" or is_staged(axes, board) else 1


def measured_latency(
    axes: Mapping, board: Board, bytes_per_second: float, measurements: Sequence
) -> float | None:
    """What the smallest transfer of the same kind took beyond its bytes [s]; None where none was measured."""
    kind = ("direction", "method", "memory")
    alike = [
        entry
        for entry in measurements
        if entry.name == "bandwidth" and all(entry.axes.get(name) == axes[name] for name in kind)
    ]
    if not alike:
        return None
    smallest = min(alike, key=lambda entry: (entry.axes["bytes"], entry.axes["buffers"]))
    moved = smallest.axes["bytes"]
    beyond = moved / (smallest.best * 1e9) - moved / bytes_per_second
    return max(beyond, 0.0) / latencies(smallest.axes, board)


def short_runs(defaults: Mapping) -> list[dict]:
    """Options of the runs that are fitted, the largest last; `defaults`: the parameters of a usual run.

    Sizes between the usual ones, and around the ends of the caches these, too: there a rate doubles or halves
    from one power of two to the next.
    """
    smallest, largest = defaults["smallest"], defaults["largest"]
    piece = {"overlap_bytes": defaults["overlap_bytes"] * 3 // 4}
    whole = {"smallest": smallest + 1, "largest": largest + 1, **piece}
    low, high = CACHE_POWERS
    around = {"smallest": low + (smallest - low) % defaults["step"], "largest": high, **piece}
    return [around, whole] if smallest <= low and high <= largest else [whole]


def short_runs_of_others(defaults: Mapping) -> list[dict]:
    """The same of a further kernel: transfers know nothing of it, the pipeline of the overlap test does."""
    piece = defaults["overlap_bytes"] * 3 // 4
    power = piece.bit_length() - 1
    kind = {"methods": "queued", "memories": "page-aligned", "buffers": "1"}
    sizes = {"smallest": power, "largest": power + 2, "overlap_bytes": piece}
    return [{"directions": "to_device,from_device", **kind, **sizes}]


def prediction(
    axes: Mapping, parameters: Mapping, board: Board, ranks: int, measurements: Sequence = (),
    bitstream: Bitstream | None = None,
) -> Prediction:  # fmt: skip
    """One transfer of `bytes` on each rank; the metric is the sum over the ranks."""
    ranks_here = -(-ranks // board.devices)
    limit = limit_bytes_per_second(axes, parameters, board, ranks)
    limit_gb = None if limit is None else limit / 1e9
    known = short_run_curves.transfer(axes, bitstream, board, ranks, limit_gb)
    if known is not None:
        return known
    found = rate(axes, parameters, board, ranks_here)
    if found is None:
        explanation = "no model: neither a calibration nor link_gb_per_s says how fast the link is"
        return Prediction("bandwidth", axes, None, "GB/s", limit_gb, "-", explanation)
    latency = measured_latency(axes, board, found / ranks_here, measurements)
    source = "calibrated start of a kernel" if latency is None else "of this run's smallest transfer"
    latency = board["host.launch_latency"] if latency is None else latency
    moved = axes["bytes"] * ranks_here
    times = latencies(axes, board)
    seconds = _transfers.seconds(moved, latency, found, times)
    word = bandwidth_word(found, axes, parameters, board)
    return Prediction(
        "bandwidth", axes, moved * board.devices / seconds / 1e9, "GB/s", limit_gb,
        "transfer latency" if times * latency > seconds / 2 else word,
        f"{latency * 1e6:.3g} us ({source}) + bytes / {found / 1e9:.3g} GB/s",
    )  # fmt: skip


def described_predictions(parameters: Mapping, board: Board) -> list[Prediction]:
    """Copies between an FPGA of a described system and its host, all devices together.

    Sizes 2^smallest, 2^(smallest + step), ... 2^largest bytes, as the lists of directions, methods and
    buffers say. Raises ValueError for a board that does not say how fast it copies, FabricmarkError (2) for a
    wrong list.
    """
    links = {direction: board.get(name) for direction, name in _transfers.RATES.items()}
    links = {direction: link for direction, link in links.items() if link is not None}
    if not links:
        raise MissingValue("board.host.write_bandwidth")
    sizes = [
        2**power for power in range(parameters["smallest"], parameters["largest"] + 1, parameters["step"])
    ]
    return [
        _described({**case, "bytes": size}, board, links)
        for case in described_cases(parameters)
        if set(ways_of(case["direction"])) <= set(links)
        for size in sizes
        if size >= case["buffers"] * len(ways_of(case["direction"]))
    ]


def ways_of(direction: str) -> tuple[str, ...]:
    return (_transfers.TO_DEVICE, _transfers.FROM_DEVICE) if direction == BOTH else (direction,)


def described_cases(parameters: Mapping) -> list[dict]:
    """Axes of the transfers that a closed form tells apart; one buffer copied by itself comes last, as the
    headline is the last one. Migrations and maps have none: no document says what they take."""
    cases = []
    for direction in _words(parameters, "directions", (_transfers.TO_DEVICE, _transfers.FROM_DEVICE, BOTH)):
        known = _words(parameters, "methods", (*QUEUED, *UNKNOWN, BLOCKING))
        for method in [*(one for one in QUEUED if one in known), *(one for one in known if one == BLOCKING)]:
            memory = "pageable" if method == BLOCKING else "page-aligned"
            about = {"direction": direction, "method": method, "memory": memory}
            cases += [{**about, "buffers": count} for count in sorted(_buffers(parameters), reverse=True)]
    return cases


def _words(parameters: Mapping, name: str, known: Sequence[str]) -> list[str]:
    found = [word.strip() for word in str(parameters.get(name, ",".join(known))).split(",")]
    for word in found:
        if word not in known:
            raise FabricmarkError(f"{name}: {word!r} is none of them", f"use some of {', '.join(known)}")
    return found


def _buffers(parameters: Mapping) -> set[int]:
    words = [word.strip() for word in str(parameters.get("buffers", "1")).split(",")]
    if not all(word.isascii() and word.isdigit() and 0 < int(word) <= units.MOST_BUFFERS for word in words):
        cause = f"buffers: {','.join(words)!r} are no numbers of buffers"
        raise FabricmarkError(cause, f"write for example 1,4,16, each up to {units.MOST_BUFFERS}")
    return {int(word) for word in words}


def _described(axes: dict, board: Board, links: Mapping[str, float]) -> Prediction:
    """One transfer. Copies that wait for each other follow one another, in both directions, too; queued ones
    wait once for each direction, and both directions move at the same time (Karl 2021, section I.6)."""
    ways = ways_of(axes["direction"])
    is_blocking = axes["method"] == BLOCKING
    each = axes["bytes"] / len(ways) / axes["buffers"]
    seconds, waiting = {}, {}
    for way in ways:
        one = float(_network.copy_seconds(way, each, board))
        if not is_blocking and each >= board["host.programmed_below"]:  # the driver copies no whole pages
            one -= float(each * _network.inverse(board.get("host.staging_bandwidth")))
        rest = (axes["buffers"] - 1) * (one if is_blocking else each / links[way])
        seconds[way] = one + rest
        waiting[way] = float(_network.copy_seconds(way, 0, board)) * (axes["buffers"] if is_blocking else 1)
    longest = max(seconds, key=seconds.__getitem__)
    whole, idle = (sum(seconds.values()), sum(waiting.values())) if is_blocking else (
        seconds[longest], waiting[longest])  # fmt: skip
    link = sum(links[way] for way in ways)
    word = "transfer latency" if 2 * idle > whole else "link bandwidth"
    explanation = "the board's copies: latency + bytes / rate, queued copies wait once for each direction"
    if is_blocking:
        explanation = "the board's copies: latency + bytes x (1 / rate + 1 / staging)"
    devices = board.devices / 1e9
    return Prediction(
        "bandwidth", axes, axes["bytes"] / whole * devices, "GB/s", link * devices, word, explanation,
        {"copy": whole},
    )  # fmt: skip


def predict(
    parameters: Mapping, board: Board, ranks: int, *, measurements=(), network=None, bitstream=None
) -> list[Prediction]:
    """Every transfer that the run measured, and where parameters are known the pipeline of the overlap test.

    `parameters`: those of the result file (link_gb_per_s). An FPGA of a described system has no measurements:
    its copies of each size (smallest, largest, step). Raises KeyError when a measurement lacks an axis.
    """
    if board.device_class == "fpga" and not measurements:
        return described_predictions(parameters, board)
    found = [
        prediction(entry.axes, parameters, board, ranks, measurements, bitstream)
        for entry in measurements
        if entry.name == "bandwidth"
    ]
    return found + short_run_curves.pipeline(parameters, bitstream, board, ranks)

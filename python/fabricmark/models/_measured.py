"""What short runs on a machine tell of its kernels: a few parameters each, by the inverse of the models.

A processor's kernel has no clock and no datasheet: what it makes of the calibrated limits is measured at some
sizes and holds for others. The parameters (`Bitstream.measured`) are an efficiency, times to start,
and rates of copies inside and outside of the caches; a benchmark's module says which, in `fit_parameters`.
What follows no such law is a curve (`Bitstream.curves`), from `processor_curves`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fabricmark.base.grouping import grouped
from fabricmark.models import Board
from fabricmark.models._fit import fit_latency_bandwidth
from fabricmark.models._least import nonnegative
from fabricmark.models._missing import Needed
from fabricmark.models.machine import Bitstream, Curve, Network, Times

CACHED_BYTES = tuple(2.0**power for power in range(16, 27))  # where the rate of a copy may change
MOST_EFFICIENT = 1.25  # limits are measured too, on machines whose speed drifts
PRIOR = 0.1  # weight of one common slowdown beside that of one run


@dataclass(frozen=True)
class Run:
    """A run that parameters come from: as `predict` gets it, and what was measured.

    `network`: what is known already of the messages between its ranks.
    """

    parameters: Mapping
    board: Board
    ranks: int
    measurements: Sequence
    network: Network | None = None

    def best(self, name: str, unit: str, **axes: object) -> float | None:
        """Best of a metric, None where the run did not measure it."""
        for entry in self.measurements:
            if entry.name == name and entry.unit == unit and dict(entry.axes) == axes:
                return entry.best if entry.best > 0 else None
        return None


def smaller_sizes(defaults: Mapping) -> list[dict]:
    """Options of short runs: half and three quarters of a size, which shall not be what is predicted."""
    whole = defaults["size"]
    return [{"size": max(1, whole // 2)}, {"size": max(1, whole * 3 // 4)}]


def several_sizes(defaults: Mapping) -> list[dict]:
    """The same and a quarter, where what a kernel reaches depends on the size."""
    return [{"size": max(1, defaults["size"] // 4)}, *smaller_sizes(defaults)]


def efficiency(pairs: Sequence[tuple[float, float]], name: str = "") -> dict[str, float]:
    """{`name`_efficiency, `name`_start_seconds} from (time at the calibrated limit, measured) of runs [s].

    Measured = start + limit / efficiency, in relative error. Where only one time is known, or longer runs are
    no slower, there is no start and the efficiency is the median. Empty without pairs.
    """
    pairs = [(limit, seconds) for limit, seconds in pairs if limit > 0 and seconds > 0]
    if not pairs:
        return {}
    limits, seconds = np.array(pairs).T
    prefix = f"{name}_" if name else ""
    start, share = 0.0, float(np.median(limits / seconds))
    if len(np.unique(limits)) > 1:
        fit = fit_latency_bandwidth(limits, seconds)
        # A start that is most of the shortest run is more likely a disturbed run.
        if np.isfinite(fit.bytes_per_second) and fit.latency_seconds < 0.5 * seconds.min():
            start, share = fit.latency_seconds, fit.bytes_per_second
    return {f"{prefix}efficiency": float(share), f"{prefix}start_seconds": float(start)}


def shares(parts: Sequence[Sequence[float]], seconds: Sequence[float]) -> np.ndarray:
    """Efficiency of each part of a time: measured = sum of (part at its limit / efficiency), relative error.

    `parts`: runs x parts [s]. What the runs do not tell apart shares one slowdown; none is much faster than
    its limit.
    """
    times = np.asarray(seconds, dtype=float)
    columns = np.asarray(parts, dtype=float) / times[:, None]
    least = 1 / MOST_EFFICIENT
    common = max(1 / np.median(columns.sum(axis=1)), least)
    weights = PRIOR * np.maximum(columns.mean(axis=0), 1e-12)
    matrix = np.vstack([columns, np.diag(weights)])
    wanted = np.concatenate([np.ones(len(times)), weights * common])
    return 1 / (least + nonnegative(matrix, wanted - matrix.sum(axis=1) * least))


def line_seconds(moved_bytes, fitted: Mapping[str, float], name: str):
    """Time of a copy [s] by three parameters of this name: a start, and rates inside and outside the caches.

    Raises MissingValue where they were not measured.
    """
    known = Needed(fitted)
    moved = np.asarray(moved_bytes, dtype=float)
    inside = np.minimum(moved, known["cached_bytes"])
    return (
        known[f"{name}_start_seconds"]
        + inside / known[f"{name}_cached_bytes_per_second"]
        + (moved - inside) / known[f"{name}_memory_bytes_per_second"]
    )


def fit_curve(moved_bytes, seconds, name: str, cached_bytes: float) -> tuple[dict[str, float], float]:
    """(the three parameters of a measured curve, its mean square error) with this size of the caches."""
    moved, times = np.asarray(moved_bytes, dtype=float), np.asarray(seconds, dtype=float)
    inside = np.minimum(moved, cached_bytes)
    columns = np.stack([np.ones_like(moved), inside, moved - inside], axis=1) / times[:, None]
    scale = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    found = nonnegative(columns / scale, np.ones(len(times)))
    error = float(np.mean((columns / scale @ found - 1) ** 2))
    start, cached, memory = found / scale
    fastest = float(np.max(moved / times))
    cached = cached or memory or 1 / fastest
    fitted = {
        f"{name}_start_seconds": start,
        f"{name}_cached_bytes_per_second": 1 / cached,
        f"{name}_memory_bytes_per_second": 1 / (memory or cached),
    }
    return {key: float(value) for key, value in fitted.items()}, error


def fit_curves(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> dict[str, float]:
    """Parameters of several curves {name: (bytes, seconds)} with one size of the caches, which fits best.

    Curves of fewer than three sizes are left out.
    """
    usable = {name: curve for name, curve in curves.items() if len(set(curve[0])) > 2}
    if not usable:
        return {}

    def fitted(cached_bytes: float) -> tuple[float, dict[str, float]]:
        found = {"cached_bytes": cached_bytes}
        errors = 0.0
        for name, (moved, seconds) in usable.items():
            own, error = fit_curve(moved, seconds, name, cached_bytes)
            found |= own
            errors += error
        return errors, found

    return min((fitted(cached) for cached in CACHED_BYTES), key=lambda entry: entry[0])[1]


def interpolated_seconds(known_bytes: Sequence[float], seconds: Sequence[float], moved_bytes) -> np.ndarray:
    """Time for these sizes [s]: between measured sizes along a line of both logarithms.

    Below the smallest as that one, above the largest at its rate.
    """
    sizes = np.maximum(np.asarray(moved_bytes, dtype=float), 1e-300)
    known = np.asarray(known_bytes, dtype=float)
    found = np.exp(np.interp(np.log(sizes), np.log(np.maximum(known, 1)), np.log(seconds)))
    return found * np.maximum(sizes / known[-1], 1.0)


def at_size(known: Times, values: Sequence[float], moved_bytes: float) -> float:
    """What belongs to a size, where `values` belong to those of a curve: between two sizes along a line over
    the logarithm of the size, beyond them as at the nearest."""
    return float(np.interp(np.log(moved_bytes), np.log(known.bytes), values))


def means(curves: Iterable[Mapping[float, float]]) -> Times:
    """Geometric mean of the times [s] of several measured curves, by size [bytes]; of one at least."""
    times = grouped((float(size), seconds) for curve in curves for size, seconds in curve.items())
    sizes = sorted(times)
    return Times(tuple(sizes), tuple(float(np.exp(np.mean(np.log(times[size])))) for size in sizes))


def ascending(known: Times) -> Times:
    """The curve next to a measured one, of logarithms, on which more bytes take no less time (pool adjacent
    violators). What a start takes jumps from one size to the next, as other threads were awake or not: sizes
    that are no slower than smaller ones are measurements of the same."""
    pools: list[tuple[float, int]] = []  # mean of ln of the times, and of how many
    for seconds in known.seconds:
        pools.append((float(np.log(seconds)), 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (last, of_last), (before, of_before) = pools.pop(), pools.pop()
            count = of_before + of_last
            pools.append(((before * of_before + last * of_last) / count, count))
    times = [float(np.exp(mean)) for mean, count in pools for _ in range(count)]
    return Times(known.bytes, tuple(times))


def curve_seconds(curve: Curve, message_bytes) -> np.ndarray:
    """Time of one exchange of these sizes [s]."""
    return interpolated_seconds(curve.message_bytes, curve.seconds, message_bytes)


def message_seconds(network: Network | None, message_bytes, ranks: int, board: Board) -> np.ndarray | None:
    """Time in which every rank exchanges such messages with both neighbours [s]; None without a curve."""
    curve = None if network is None else network.curve(ranks, board.hosts)
    return None if curve is None else curve_seconds(curve, message_bytes)


def crowding(bitstream: Bitstream, board: Board, ranks: int) -> float:
    """How much slower than its short runs a copy of a CPU gets when more ranks than these share its cores."""
    known = bitstream.parameters.get("ranks", 1)
    return max(1.0, -(-ranks // board.devices) / max(known, board.get("processor.cores") or ranks))

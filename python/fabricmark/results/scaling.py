"""How metrics grow with the ranks: speed-up, parallel efficiency, and metrics normalised to compare boards.

Normalised as Meyer 2024 does in Table 3.6 ("GEMM norm") and Fig. 4.16: to one kernel replication, one
memory bank, and 100 MHz of the kernel's clock. The sum over the ranks is kept, as in that metric.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from fabricmark.results import Measurement, Result

SCHEMA = "fabricmark-scaling/1"
MODELS = ("modelled", "half_width")
LINK_OPERATIONS = ("host_to_device", "device_to_host")
LINK_AXES = ("direction", "message_bytes")


@dataclass(frozen=True)
class Design:
    """What metrics are normalised by; None where the device has no such thing or nobody said."""

    banks: int | None = None
    kernel_mhz: float | None = None


@dataclass(frozen=True)
class Run:
    """One result of a series; `value`: what the scaled parameter was set to (None: the program's default)."""

    ranks: int
    value: int | None
    result: Result


@dataclass
class Series:
    """One metric over the ranks; the lists belong together, values of `best` and those after it in `unit`.

    `modelled`: by the models, and `half_width` of its interval as a share; empty where nobody asked them.
    """

    mode: str
    benchmark: str
    operation: str
    name: str
    axes: Mapping[str, object]
    unit: str
    better: str
    kind: str
    ranks: list[int] = field(default_factory=list)
    devices: list[int] = field(default_factory=list)
    values: list[int | None] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    median: list[float] = field(default_factory=list)
    speed_up: list[float | None] = field(default_factory=list)
    efficiency: list[float | None] = field(default_factory=list)
    per_replication: list[float | None] = field(default_factory=list)
    per_bank: list[float | None] = field(default_factory=list)
    per_100_mhz: list[float | None] = field(default_factory=list)
    per_replication_100_mhz: list[float | None] = field(default_factory=list)
    per_bank_100_mhz: list[float | None] = field(default_factory=list)
    modelled: list[float | None] = field(default_factory=list)
    half_width: list[float | None] = field(default_factory=list)


def series(mode: str, runs: Sequence[Run], design: Design) -> list[Series]:
    """Every metric of the runs over their numbers of ranks (ascending), in the order of the first run."""
    found: dict[tuple, Series] = {}
    for run in sorted(runs, key=lambda run: run.ranks):
        for measurement in run.result.measurements:
            empty = _empty(mode, run.result.benchmark, measurement)
            entry = found.setdefault((empty.name, empty.operation, empty.unit, empty.kind), empty)
            if run.ranks not in entry.ranks:
                _add(entry, measurement, run, design)
    return list(found.values())


def _empty(mode: str, benchmark: str, measurement: Measurement) -> Series:
    axes = dict(measurement.axes)
    operation = " ".join(str(value) for value in axes.values()) or measurement.name
    unit, better, kind = measurement.unit, measurement.better, measurement.kind
    return Series(mode, benchmark, operation, measurement.name, axes, unit, better, kind)


def _add(entry: Series, measurement: Measurement, run: Run, design: Design) -> None:
    """Append one run to a series whose first run has the fewest ranks."""
    entry.ranks.append(run.ranks)
    entry.devices.append(devices_used(run.result))
    entry.values.append(run.value)
    entry.verdicts.append(run.result.verdict())
    entry.files.append(run.result.path.name)
    entry.best.append(measurement.best)
    entry.median.append(measurement.median)
    first, last = (Point(entry.ranks[at], entry.devices[at], entry.best[at]) for at in (0, -1))
    gained, efficiency = judged(entry.mode, entry.better, entry.kind, first, last)
    entry.speed_up.append(gained)
    entry.efficiency.append(efficiency)
    replications = run.result.document["parameters"].get("replications")
    if entry.kind == "emulated" or not is_of_kernel(measurement):
        replications, design = None, Design()
    for key, value in normalised(measurement.best, replications, design).items():
        getattr(entry, key).append(value)


def devices_used(result: Result) -> int:
    """On how many devices the ranks of a run were."""
    placement = result.document["environment"]["ranks"]["placement"]
    return len({device_of(rank) for rank in placement})


def device_of(rank: Mapping) -> tuple:
    """What tells the device of a rank, an entry of a result's placement, from those of others."""
    return rank["host"], rank.get("platform_index"), rank["device_index"]


@dataclass(frozen=True)
class Point:
    """A metric's best on so many ranks, which are on so many devices."""

    ranks: int
    devices: int
    best: float


def has_ideal(kind: str, *points: Point) -> bool:
    """Whether there is an ideal that runs of these ranks can be held against.

    Ranks on one device share what it has: ideal scaling would ask more of it than there is. A modelled time
    is that of a described system, whatever this one has; an emulator's clock says nothing about hardware.
    """
    if kind != "measured":
        return kind == "modelled"
    return all(point.devices == point.ranks for point in points)


def judged(mode: str, better: str, kind: str, first: Point, last: Point) -> tuple[float | None, float | None]:
    """(speed-up, parallel efficiency) of the last over the first, as tables, summaries, plots and pages say.

    No speed-up of emulated times, and no efficiency without an ideal.
    """
    if kind == "emulated":
        return None, None
    gained, efficiency = speed_up(mode, better, (first.ranks, last.ranks), (first.best, last.best))
    return gained, efficiency if has_ideal(kind, first, last) else None


def speed_up(
    mode: str, better: str, ranks: Sequence[int], best: Sequence[float]
) -> tuple[float | None, float | None]:
    """(speed-up, parallel efficiency) of the last entry over the first, which has the fewest ranks.

    A rate counts the work of all ranks, so its ratio is the speed-up in both modes; a time's ratio is the
    speed-up of a fixed total (strong) but already the efficiency of a fixed share (weak). None for zeros.
    """
    if best[0] <= 0 or best[-1] <= 0:
        return None, None
    more = ranks[-1] / ranks[0]
    if better == "higher":
        return best[-1] / best[0], best[-1] / best[0] / more
    ratio = best[0] / best[-1]
    return (ratio * more, ratio) if mode == "weak" else (ratio, ratio / more)


def is_of_kernel(measurement: Measurement) -> bool:
    """Whether a metric is a rate of the kernels: a link's rate has no replication, bank or kernel clock."""
    on_link = any(axis in measurement.axes for axis in LINK_AXES)
    on_link = on_link or measurement.axes.get("operation") in LINK_OPERATIONS
    return measurement.better == "higher" and measurement.work_amount is not None and not on_link


def normalised(best: float, replications: object, design: Design) -> dict[str, float | None]:
    """A rate per replication, bank and 100 MHz; None where the divisor is not known.

    Source: Meyer 2024, Table 3.6: GEMM norm = GFLOP/s / replications / (f / 100 MHz).
    """
    is_count = isinstance(replications, int) and not isinstance(replications, bool) and replications > 0
    clock = None if design.kernel_mhz is None else design.kernel_mhz / 100
    per_replication = best / replications if is_count else None
    per_bank = None if design.banks is None else best / design.banks
    return {
        "per_replication": per_replication,
        "per_bank": per_bank,
        "per_100_mhz": None if clock is None else best / clock,
        "per_replication_100_mhz": per_replication / clock if per_replication is not None and clock else None,
        "per_bank_100_mhz": per_bank / clock if per_bank is not None and clock else None,
    }


def document(benchmark: str, about: Mapping[str, object], found: Sequence[Series]) -> dict:
    """The summary that scaling.json holds (schema scaling-1); `about`: parameter, ranks_kind, banks, ..."""
    return {
        "schema": SCHEMA,
        "benchmark": benchmark,
        **about,
        "series": [
            {name: value for name, value in asdict(entry).items() if value != [] or name not in MODELS}
            for entry in found
        ],
    }

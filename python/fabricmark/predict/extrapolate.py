"""Many devices from measured runs of one: the extrapolation of Meyer 2024, Fig. 4.15 (section 4.2.3).

N devices that share out a problem do N times what one device measured with a problem of its part's size. What
they exchange is left out, so that it is the most that they can reach.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isclose, log
from pathlib import Path

from fabricmark import models, results, systems
from fabricmark.base import transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import percent
from fabricmark.models import Board, Prediction, _published
from fabricmark.predict.certainty import uncertain
from fabricmark.predict.points import STRONG, Case, Point, PredictionRequest
from fabricmark.results import published
from fabricmark.results.published import PublishedValue
from fabricmark.systems import System

SIZE, BLOCK = "size", "block_size"
OWN = "size of a device"
NEAR = 0.01  # of a published size
BEYOND = 2**20  # devices of a machine that no file describes
ADVICE = "measure one device with it, or choose another size"


@dataclass(frozen=True)
class Runs:
    """`values`: the headline metric of one device by the size of its problem, ascending. `others`: published
    values of more devices, by (devices, size of one)."""

    about: str
    unit: str
    values: Mapping[float, float]
    others: Mapping[tuple[int, float], float]
    system: System
    transport: str = transports.NONE


def case(
    benchmark: str, files: Sequence[Path], given: Mapping[str, str], counts: Sequence[int], scaling: str,
    where: Mapping[str, str | None],
) -> Case:  # fmt: skip
    """The extrapolation. `where`: system, transport and board of published rows.

    Raises FabricmarkError (2).
    """
    for name in given:
        if name not in (SIZE, BLOCK):
            raise FabricmarkError(f"--set {name}: not with --from", f"set {SIZE} or {BLOCK}")
    numbers = {name: _whole(name, text) for name, text in given.items()}
    if any(file.suffix == ".csv" for file in files):
        known = _of_rows(benchmark, files, numbers.get(BLOCK), where)
    else:
        known = _of_results(benchmark, files, numbers.get(BLOCK), where)
    size = numbers.get(SIZE, max(known.values))
    request = PredictionRequest(benchmark, known.system, known.transport, scaling)
    points = [_point(request, known, devices, float(size)) for devices in counts]
    sure = uncertain(f"extrapolated from {known.about}; what devices exchange is left out")
    return Case(request, points, sure, _beside(known, points))


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**40):
        raise FabricmarkError(f"--set {name}={text}: no size", "write a whole number above 0")
    return int(text)


def _point(request: PredictionRequest, known: Runs, devices: int, size: float) -> Point:
    """`size`: of one device, or of all together where the scaling is strong."""
    share = _published.root(devices) if request.traits.on_grid else devices
    own, total = (size / share, size) if request.scaling == STRONG else (size, size * share)
    is_rate = known.unit.endswith("/s")  # a time is that of the slowest part
    value = (devices if is_rate else 1) * between(known.values, own, request.benchmark)
    name, axes = request.traits.headline or (_name(request.benchmark), {})
    if not is_rate:
        name, axes = "time", {}
    found = Prediction(name, axes, value, known.unit, None, "-", "Meyer 2024, Fig. 4.15")
    return Point(devices, {}, {SIZE: round(total), OWN: round(own)}, found, [found])


def _name(benchmark: str) -> str:
    headline = models.traits(benchmark).headline
    return headline[0] if headline else "performance"


def between(values: Mapping[float, float], size: float, benchmark: str) -> float:
    """The value of a size: measured, or along a line of both logarithms. Raises FabricmarkError (2)."""
    sizes = sorted(values)
    for one in sizes:
        if isclose(one, size, rel_tol=1e-9):
            return values[one]
    if not sizes[0] < size < sizes[-1]:
        cause = f"{benchmark}: a device has size {size:.6g}, the runs have {sizes[0]:.6g} to {sizes[-1]:.6g}"
        raise FabricmarkError(cause, ADVICE)
    after = next(one for one in sizes if one > size)
    before = sizes[sizes.index(after) - 1]
    along = log(size / before) / log(after / before)
    return exp((1 - along) * log(values[before]) + along * log(values[after]))


def _beside(known: Runs, points: Sequence[Point]) -> list[str]:
    """Published values of as many devices and the same size, and how far off they are."""
    words = []
    for one in points:
        for (devices, own), value in known.others.items():
            if devices == one.devices and abs(own / one.sizes[OWN] - 1) <= NEAR:
                error = percent(one.headline.value / value - 1, digits=1, signed=True)
                words.append(f"{devices} devices {value:.4g} {known.unit} ({error})")
    return [f"published, and the extrapolation beside it: {', '.join(words)}"] if words else []


def _of_results(
    benchmark: str, files: Sequence[Path], block: int | None, where: Mapping[str, str | None]
) -> Runs:
    """Result files of one device. Raises FabricmarkError (2) for what is no measured run like the others."""
    if any(where.values()):
        given = next(f"--{name}" for name, value in where.items() if value)
        raise FabricmarkError(f"{given}: result files say where they ran", f"leave out {given}")
    values: dict[float, float] = {}
    like: tuple = ()
    unit = ""
    for file in files:
        one = results.load(file)
        _check(file, one, benchmark)
        parameters = dict(one.document["parameters"])
        size = float(parameters.pop(SIZE, 0))
        entry = next((each for each in one.measurements if models.traits(benchmark).is_headline(each)), None)
        if entry is None or entry.kind != "measured" or not size:
            raise FabricmarkError(f"{file}: no measured {_name(benchmark)} with a size", "leave it out")
        if block is not None and parameters.get(BLOCK) != block:
            continue
        about = (one.device["name"], one.document["run"]["variant"], parameters)
        if like and about != like:
            raise FabricmarkError(f"{file}: not like {files[0]} but for the size", "leave one of them out")
        like, unit = about, entry.unit
        values[size] = max(values.get(size, 0.0), entry.best)
    if not values:
        raise FabricmarkError(f"no run of {benchmark} has {BLOCK} {block}", "set another")
    device = like[0]
    made = System(device, "", Board(device, ""), "", 1, BEYOND, {}, ())
    return Runs(f"{len(values)} sizes that {device} measured", unit, values, {}, made)


def _check(file: Path, one: results.Result, benchmark: str) -> None:
    if one.benchmark != benchmark:
        raise FabricmarkError(f"{file} is of {one.benchmark}", f"give runs of {benchmark}")
    if one.ranks != 1:
        raise FabricmarkError(f"{file} ran on {one.ranks} ranks", "give runs of one device")
    if one.verdict() != "valid":
        raise FabricmarkError(f"{file} is {one.verdict()}", "give valid runs")


def _of_rows(
    benchmark: str, files: Sequence[Path], block: int | None, where: Mapping[str, str | None]
) -> Runs:
    """Rows of a file like data/published/hpcc_fpga_2021.csv. Raises FabricmarkError (2)."""
    own = _published.of(benchmark)
    if len(files) > 1 or where["system"] is None:
        remedy = "give one such file, and --system"
        raise FabricmarkError(f"--from {files[0]}: not enough to choose its rows", remedy)
    if own is None or not own.headline:
        cause = f"nothing says which metric of published rows stands for {benchmark}"
        raise FabricmarkError(cause, "give result files, or choose another benchmark")
    rows = [
        row
        for row in published.load(files[0])
        if (row.benchmark, row.system, row.metric) == (benchmark, where["system"], own.headline)
        and where["transport"] in (None, row.transport)
        and where["board"] in (None, row.board)
    ]
    _check_alike(benchmark, rows, "transport", "--transport")
    _check_alike(benchmark, rows, "board", "--board")
    rows = [row for row in rows if block in (None, row.block)]
    _check_alike(benchmark, rows, "block", f"--set {BLOCK}=")
    alone = {_size(row): row.value for row in rows if row.devices == 1}
    if not alone or not min(alone):
        cause = f"{files[0]} has no run of {benchmark} on one device with a size"
        raise FabricmarkError(cause, "choose other rows")
    others = {(row.devices, _size(row)): row.value for row in rows if row.devices > 1}
    system = systems.load(where["system"], "fitted", None)
    about = f"{len(alone)} sizes that one device of {system.name} was measured with"
    return Runs(about, rows[0].unit, alone, others, system, rows[0].transport)


def _check_alike(benchmark: str, rows: Sequence[PublishedValue], column: str, option: str) -> None:
    found = sorted({str(getattr(row, column)) for row in rows})
    if not found:
        raise FabricmarkError(f"no row is of {benchmark} there", "choose another system, transport or block")
    if len(found) > 1:
        space = "" if option.endswith("=") else " "
        cause = f"the runs of {benchmark} differ in {column}: {', '.join(found)}"
        raise FabricmarkError(cause, f"choose one with {option}{space}{found[0]}")


def _size(row: PublishedValue) -> float:
    """Of one device's problem."""
    size = float(_published.of(row.benchmark).size(row, {}).get(SIZE, 0))
    return size / _published.root(row.devices) if models.traits(row.benchmark).on_grid else size

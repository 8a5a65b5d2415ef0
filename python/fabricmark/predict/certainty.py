"""How sure predictions are: the error bar of each, or why there is none.

Of FPGAs from published values (validate/intervals.py), of machines that nobody measured from whole systems
that were left out (validate/unmeasured.py), of CPUs and GPUs from short runs (models/_error_bars.py).
"""

import csv
import io
from collections.abc import Sequence
from functools import cache
from typing import Any

from fabricmark import models, systems
from fabricmark.base import paths, transports
from fabricmark.base.terminal import percent
from fabricmark.models import Prediction, _published
from fabricmark.models._published import Published
from fabricmark.predict.points import SIZES, Certainty, Point, PredictionRequest

FITTED = "fitted"  # profile
LIMITS = (
    "limits, no predictions: no run says what the kernel reaches of them; `fabricmark systems new` measures "
    "the kernels of a machine"
)


def uncertain(reason: str) -> Certainty:
    return Certainty(f"error bar: none, {reason}")


def unvalidated(reason: str) -> Certainty:
    return uncertain(f"unvalidated: {reason}")


@cache
def _measured_systems() -> frozenset[str]:
    """Systems that some published value is of: they were built."""
    found = set()
    for file in sorted((paths.root() / "data" / "published").glob("*.csv")):
        for row in csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))):
            found.add(row.get("system") or "")
    return frozenset(found - {""})


def _changed(request: PredictionRequest, axes: Sequence[str]) -> list[str]:
    """What was set or swept and is not as a bitstream of the system has it; sizes are what runs choose."""
    own = [
        one
        for one in request.system.bitstreams
        if one.benchmark == request.benchmark and one.transport in (request.transport, transports.NONE)
    ]
    parameters = {name: value for name, value in request.given.items() if name not in SIZES}
    found = [
        name
        for name, value in parameters.items()
        if not any(one.parameters.get(name) == value for one in own)
    ]
    return [*request.overrides, *found, *(name for name in axes if name not in SIZES)]


def certainty_of(request: PredictionRequest, points: Sequence[Point], name: str) -> Certainty:
    """The certainty of these predictions. `name`: of the system, as it was asked for."""
    if all(one.headline.explanation == models.LIMIT_ALONE for one in points):
        return Certainty(LIMITS)
    if request.system.board.device_class != "fpga":
        return _of_short_runs(request, points)
    published = _published.of(request.benchmark)
    if published is None:
        return uncertain(f"as there are no published values of {request.benchmark}")
    if request.closed_form:
        return unvalidated("--closed-form differs from what was measured")
    alone = name == request.system.board_id
    if not alone and (name not in systems.names() or request.system.name not in _measured_systems()):
        return _of_no_machine(request, points, f"no published value is of {request.system.name}")
    return _earned(request, points, published)


def _of_short_runs(request: PredictionRequest, points: Sequence[Point]) -> Certainty:
    """Of a CPU or GPU: what short runs were off by that had no part in a fit."""
    if all(one.headline.error_bar is None for one in points):
        return uncertain("as no short run tells; `fabricmark systems new --again` makes them")

    def of_prediction(point: Point, one: Prediction) -> float | None:
        return one.error_bar and one.error_bar * wider(request, point)[0]

    line = "error bar: 90 % within the column ±, as short runs on the machine that had no part in a fit"
    return Certainty(line + said_wider(wider(request, points[0])[1]), of_prediction)


def _of_no_machine(request: PredictionRequest, points: Sequence[Point], reason: str) -> Certainty:
    """Of a system or a board without rows: as far off as whole systems were that had no part in a fit."""
    from fabricmark.validate import intervals, unmeasured

    if request.profile != FITTED:
        return unvalidated(reason)
    known = unmeasured.known()

    def of_prediction(point: Point, one: Prediction) -> float | None:
        of_copies = one.axes.get("operation") in intervals.OVER_LINK
        width = unmeasured.half_width(request.benchmark, request.transport, known, of_copies=of_copies)
        return width and width * wider(request, point)[0]

    line = (
        f"error bar: unvalidated: {reason}; within the column ± were 90 % of {len(known)} values of "
        f"{len({one.system for one in known})} machines, each predicted as if nobody had measured it"
    )
    return Certainty(line + said_wider(wider(request, points[0])[1]), of_prediction)


def over_network(request: PredictionRequest, points: Sequence[Point], reason: str) -> Certainty:
    """Of what needs a network and no kernel, of which no value is published: as of a machine that nobody
    measured. `reason`: why none is nearer."""
    if request.closed_form or request.system.board.device_class != "fpga":
        return unvalidated(reason)
    return _of_no_machine(request, points, reason)


def _doublings(request: PredictionRequest, point: Point, name: str) -> float:
    """By how many doublings a value or parameter of a point differs from that of the files; one for what is
    no number, and where the files have none."""
    from fabricmark.validate import intervals

    now = {**request.given, **request.overrides, **point.axes}.get(name)
    bitstream = request.system.designs.get(point.bitstream)
    place, _, rest = name.partition(".")
    if not rest:
        usual = bitstream.parameters.get(name) if bitstream else None
    else:
        network = request.system.networks.get(request.transport)
        of = {"board": request.system.board, "network": network, "bitstream": bitstream}[place]
        usual = None if of is None else of.get(rest)
    if isinstance(now, int | float) and isinstance(usual, int | float) and min(now, usual) > 0:
        return intervals.doublings(now, usual) or 0.0
    return float(now != usual)


def wider(request: PredictionRequest, point: Point) -> tuple[float, list[str]]:
    """(how many times as wide an error bar is as that of what was measured: by once for each doubling; the
    values and parameters that differ)"""
    other = _changed(request, list(point.axes))
    return 1 + sum(_doublings(request, point, name) for name in other), other


def said_wider(other: Sequence[str]) -> str:
    """For the end of a line on error bars."""
    what = ", ".join(other)
    return f"; wider by once as much for each doubling of {what}, which nobody measured" if other else ""


def _earned(request: PredictionRequest, points: Sequence[Point], published: Published) -> Certainty:
    from fabricmark.validate import intervals  # imported here: a refusal shall not wait for it

    found = intervals.error_bars(request.benchmark, request.transport, request.profile)
    bars: dict = {}

    def of_prediction(point: Point, prediction: Prediction) -> float | None:
        asked = _asked(request, point, prediction, published)
        if asked is None:
            return None
        bars[asked] = found.of(asked)
        width = bars[asked].half_width
        return width and width * wider(request, point)[0]

    shown = [of_prediction(point, point.headline) for point in points]
    first = next(iter(bars.values()), None)
    if first is None:
        return unvalidated("no published value is of this metric")
    if all(width is None for width in shown):
        return _of_no_machine(request, points, first.reason)
    about = f"{request.benchmark}{transports.over(request.transport)}"
    line = (
        f"error bar: median {percent(first.median, digits=1)}, 90 % within the column ±; from {first.rows} "
        f"published values of {about} that had no part in the fit"
    )
    line += said_wider(wider(request, points[0])[1])
    if points[-1].devices > request.system.most_devices:
        line += f"; {request.system.name} has {request.system.most_devices} devices (* more than that)"
    return Certainty(line, of_prediction)


def size_of(request: PredictionRequest, point: Point, prediction: Prediction) -> float:
    """As residuals have it: of a message, else of the problem of a device, 0 for all sizes."""
    from fabricmark.validate import intervals

    size: Any = prediction.axes.get("message_bytes")
    if size is None and not request.traits.is_host_code:
        size = intervals.size_of(request.benchmark, {**point.axes, **point.sizes}, point.devices)
    return float(size or 0)


def _asked(request: PredictionRequest, point: Point, prediction: Prediction, own: Published):
    """What an interval is asked for; None for a metric that no published value is of."""
    from fabricmark.validate import intervals

    operation = prediction.axes.get("operation")
    of_rows = [
        metric
        for metric, (name, wanted) in own.metrics.items()
        if name == prediction.name and wanted in (None, operation)
    ]
    of_tables = [
        metric
        for metric, one in own.printed.items()
        if one.name == prediction.name and one.axes.get("operation") == operation
    ]
    if not of_rows and not of_tables:
        return None
    return intervals.Asked(
        request.benchmark, request.system.name, request.system.board_id, request.transport, point.devices,
        size_of(request, point, prediction), operation in intervals.COPIES, [*of_rows, *of_tables][0],
        design=point.design,
    )  # fmt: skip

"""The error bar of predictions, or why they have none (validate/intervals.py)."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from fabricmark import systems
from fabricmark.base import paths, transports
from fabricmark.base.terminal import percent
from fabricmark.models import Prediction, _published
from fabricmark.predict.points import SIZES, Point, PredictionRequest


@dataclass(frozen=True)
class Certainty:
    """`line`: what is said below a table. `of(point, prediction)`: the share of a prediction that 90 % of the
    values stay within, None where that is not validated."""

    line: str
    of: Callable[[Point, Prediction], float | None] = lambda point, prediction: None


def none(reason: str) -> Certainty:
    return Certainty(f"error bar: none, {reason}")


def unvalidated(reason: str) -> Certainty:
    return none(f"unvalidated: {reason}")


@cache
def measured_systems() -> frozenset[str]:
    """Systems that some published value is of: they were built."""
    found = set()
    for file in sorted((paths.root() / "data" / "published").glob("*.csv")):
        for row in csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))):
            found.add(row.get("system") or "")
    return frozenset(found - {""})


def changed(request: PredictionRequest, axes: Sequence[str]) -> list[str]:
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


def of(request: PredictionRequest, points: Sequence[Point], name: str) -> Certainty:
    """The certainty of these predictions. `name`: of the system, as it was asked for."""
    if request.system.board.device_class != "fpga":
        return none("as the published values are of FPGAs")
    if _published.of(request.benchmark) is None:
        return none(f"as there are no published values of {request.benchmark}")
    other = changed(request, list(points[0].axes))
    if other or request.closed_form:
        what = ", ".join([*other, *(["--closed-form"] if request.closed_form else [])])
        several = len(other) + request.closed_form > 1
        return unvalidated(f"{what} {'differ' if several else 'differs'} from what was measured")
    most = request.system.most_devices
    if points[-1].devices > most:
        return unvalidated(f"{request.system.name} has {most} devices (* more than that)")
    alone = name == request.system.board_id
    if not alone and (name not in systems.names() or request.system.name not in measured_systems()):
        return unvalidated(f"no published value is of {request.system.name}")
    return _earned(request, points)


def _earned(request: PredictionRequest, points: Sequence[Point]) -> Certainty:
    from fabricmark.validate import residuals  # imported here: a refusal shall not wait for it

    found = residuals.error_bars(request.benchmark, request.transport, request.profile)
    intervals = {}

    def of_prediction(point: Point, prediction: Prediction) -> float | None:
        asked = _asked(request, point, prediction)
        if asked is None:
            return None
        intervals[asked] = found.of(asked)
        return intervals[asked].half_width

    shown = [of_prediction(point, point.headline) for point in points]
    first = next(iter(intervals.values()), None)
    if first is None or all(width is None for width in shown):
        return unvalidated(first.reason if first is not None else "no published value is of this metric")
    about = f"{request.benchmark}{transports.over(request.transport)}"
    line = (
        f"error bar: median {percent(first.median, digits=1)}, 90 % within the column ±; from {first.rows} "
        f"published values of {about} that had no part in the fit"
    )
    return Certainty(line, of_prediction)


def _asked(request: PredictionRequest, point: Point, prediction: Prediction):
    """What an interval is asked for; None for a metric that no published value is of."""
    from fabricmark.validate import residuals

    own = _published.of(request.benchmark)
    operation = prediction.axes.get("operation")
    of_rows = any(
        name == prediction.name and wanted in (None, operation) for name, wanted in own.metrics.values()
    )
    of_tables = any(
        one.name == prediction.name and one.axes.get("operation") == operation for one in own.printed.values()
    )
    if not of_rows and not of_tables:
        return None
    size = prediction.axes.get("message_bytes")
    if size is None and not request.traits.is_host_code:
        size = residuals.size_of(request.benchmark, {**point.axes, **point.sizes}, point.devices)
    return residuals.Asked(
        request.benchmark, request.system.name, request.system.board_id, request.transport, point.devices,
        float(size or 0), operation in residuals.COPIES,
    )  # fmt: skip

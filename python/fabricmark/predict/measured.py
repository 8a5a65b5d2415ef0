"""Published values of what is predicted: the points beside a line."""

from fabricmark.models import _published
from fabricmark.predict.points import Case
from fabricmark.results import published

NEAR = 0.02  # of the size of the problem on one device


def points(case: Case) -> list[tuple[float, float]]:
    """(devices, value in the unit of the headline) of rows of the same system, transport, metric and size."""
    from fabricmark.validate import intervals, residuals  # imported here: only a plot needs it
    from fabricmark.validate.metrics import FACTORS
    from fabricmark.validate.outcomes import Predictor, loaded

    request = case.request
    own = _published.of(request.benchmark)
    headline = case.points[0].headline
    if (
        own is None
        or request.overrides
        or request.system.name not in {row.system for row in published.load()}
    ):
        return []
    names = [
        metric
        for metric, (name, operation) in own.metrics.items()
        if name == headline.name and operation in (None, headline.axes.get("operation"))
    ]
    rows = [
        row
        for row in published.load()
        if row.role == "test"
        and (row.benchmark, row.system, row.transport)
        == (request.benchmark, request.system.name, request.transport)
        and row.metric in names
        and row.message_bytes is None
    ]
    predictor = Predictor(loaded("fitted"))
    sizes: dict[int, set[float]] = {}  # of one device, by how many there are
    for one in case.points:
        own = intervals.size_of(request.benchmark, {**one.axes, **one.sizes}, one.devices)
        sizes.setdefault(one.devices, set()).add(own)
    every = set().union(*sizes.values())
    common = every if all(own == every for own in sizes.values()) else set()  # as in weak scaling
    factor = FACTORS[headline.unit][1]
    return [
        (float(row.devices), row.value * FACTORS[row.unit][1] / factor)
        for row in rows
        if request.traits.is_host_code
        or any(
            abs(residuals.of_row(row, predictor) / size - 1) < NEAR
            for size in sizes.get(row.devices, common)
            if size
        )
    ]

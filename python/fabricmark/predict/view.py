"""Predictions as a table and a CSV file."""

from collections.abc import Mapping, Sequence

from fabricmark.base import cells, terminal
from fabricmark.base.terminal import Column, percent
from fabricmark.models import Prediction
from fabricmark.predict.cases import Case
from fabricmark.predict.values import key_of

MODELLED = "modelled"
BEYOND = "*"  # more devices than the system has
UNITS = {"bytes_per_second": ("GB/s", 1e9), "hertz": ("MHz", 1e6), "bytes": ("B", 1.0)}
OF_DESIGN = ("board", "bitstream", "program")
FIELDS = ("name", "operation", "message_bytes", "value", "unit", "kind", "limit", "bottleneck", "error_bar")


def show(cases: Sequence[Case]) -> None:
    """Print the headline metric of every point, and a line for all that has to be known."""
    out, first = terminal.console(), cases[0]
    what = (
        first.request.about
        if len(cases) == 1
        else f"{first.request.benchmark} on {len(cases)} systems or networks"
    )
    terminal.title(out, [what, MODELLED, metric(first.points[0].headline)])
    terminal.show(out, *_table(cases))
    said: list[str] = []
    for case in cases:
        before = f"{case.name}: " if len(cases) > 1 else ""
        said += [line for one in case.lines if (line := before + one) not in said]
    for line in said:
        terminal.say(out, line)


def _table(cases: Sequence[Case]) -> tuple[list[Column], list[list]]:
    points = [(case, point) for case in cases for point in case.points]
    axes, sizes = list(points[0][1].axes), list(points[0][1].sizes)
    names = ["system", "transport"] if len(cases) > 1 else []
    several = len({point.devices for _, point in points}) > 1
    bars = any(case.known.of(point, point.headline) for case, point in points)
    once = len(points) > 1
    columns = [Column(heading, key=True) for heading in names]
    columns += [Column(heading, right=True, key=True) for heading in ("devices", *axes)]
    columns += [Column(heading, right=True, once=once) for heading in sizes]
    columns += [*terminal.numbers("value"), *(terminal.numbers("±") if bars else []), Column("unit")]
    columns += [*terminal.numbers("limit"), *(terminal.numbers("efficiency") if several else [])]
    columns += [Column("bottleneck", once=True), *([] if names else [Column("phases", prose=True)])]
    rows = []
    for case, one in points:
        found, bar = one.headline, case.known.of(one, one.headline)
        beyond = one.devices > case.request.system.most_devices
        cells = [case.request.system.name, case.request.transport] if names else []
        cells += [
            f"{one.devices}{BEYOND if beyond else ''}",
            *(coordinate(name, one.axes[name]) for name in axes),
        ]
        cells += [number(one.sizes.get(name)) for name in sizes] + [number(found.value)]
        cells += [terminal.NOTHING if bar is None else percent(bar, digits=1)] if bars else []
        cells += [found.unit, number(found.limit)]
        cells += [percent(case.efficiency(one))] if several else []
        rows.append([*cells, found.bottleneck, *([] if names else [_phases(found.phases)])])
    return columns, rows


def number(value: object) -> str:
    """A number that is short to read; "-" where there is none."""
    if value is None:
        return terminal.NOTHING
    if isinstance(value, int | str):
        return str(value)
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def coordinate(name: str, value: object) -> str:
    """A value of an axis with its unit."""
    key = key_of(name)
    if key is None or not isinstance(value, float):
        return number(value)
    if key.dimension == "seconds":
        return _seconds(value)
    unit, factor = UNITS.get(key.dimension, ("", 1.0))
    return f"{value / factor:.4g} {unit}".strip()


def metric(found: Prediction) -> str:
    words = " ".join(str(value) for name, value in found.axes.items() if name in ("operation", "direction"))
    return f"{found.name.replace('_', ' ')} {words}".strip()


def _phases(phases: Mapping[str, float]) -> terminal.Cell:
    whole = sum(phases.values())
    if not whole:
        return terminal.NOTHING
    shares = ((name, _seconds(time), time / whole) for name, time in phases.items() if time)
    return terminal.items(f"{name} {text} ({percent(share)})" for name, text, share in shares)


def _seconds(time: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if time >= factor:
            return f"{time / factor:.3g} {unit}"
    return f"{time / 1e-9:.3g} ns"


def table_csv(cases: Sequence[Case]) -> str:
    """Every prediction of every point; phases in seconds, each in a column of its own."""
    points = [(case, point) for case in cases for point in case.points]
    axes, sizes = list(points[0][1].axes), list(points[0][1].sizes)
    every = [found for _, one in points for found in one.predictions]
    phases = list(dict.fromkeys(name for found in every for name in found.phases))
    columns = [f"{name}_seconds".replace(" ", "_") for name in phases]
    rows: list[list[object]] = [
        ["benchmark", "system", "transport", "devices", *axes, *sizes, *FIELDS, *columns, *OF_DESIGN]
    ]
    for case, one in points:
        of = case.request
        for found in one.predictions:
            operation = found.axes.get("operation", found.axes.get("direction", ""))
            size = found.axes.get("message_bytes", found.axes.get("bytes", ""))
            row = [of.benchmark, of.system.name, of.transport, one.devices, *one.axes.values()]
            row += [one.sizes.get(name) for name in sizes]
            row += [found.name, operation, size, found.value, found.unit, MODELLED, found.limit]
            row += [found.bottleneck, case.known.of(one, found), *(found.phases.get(name) for name in phases)]
            row += [of.system.board_id, one.bitstream, case.program]
            rows.append([_plain(value) for value in row])
    return cells.as_csv(rows)


def _plain(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value

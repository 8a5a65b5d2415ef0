"""`fabricmark validate --fit`: every fitted parameter, what the files have and what the rows say."""

from collections.abc import Sequence
from functools import lru_cache

from fabricmark.base import keys, terminal
from fabricmark.base.terminal import Column
from fabricmark.results.published import PublishedValue
from fabricmark.validate import fit
from fabricmark.validate.outcomes import loaded
from fabricmark.validate.parameters import GROUPS, Parameter

# Units of a dimension, the largest first.
UNITS = {
    "seconds": (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)),
    "bytes_per_second": (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0)),
    "bytes": (("KiB", 1024.0), ("B", 1.0)),
    keys.SHARE: (("", 1.0),),
    keys.NUMBER: (("", 1.0),),
}


def quantity(parameter: Parameter, value: float | None) -> str:
    """A value as systems/*.toml write it; "-" for none."""
    if value is None:
        return "-"
    units = UNITS[parameter.key.dimension]
    unit, factor = next((one for one in units if value >= one[1]), units[-1])
    return f"{value / factor:.4g} {unit}".strip()


def entries(rows: Sequence[PublishedValue]) -> list[tuple[Parameter, float | None, float, fit.Support]]:
    """(parameter, value in the files, value of a fit to these rows, rows that determine it)."""
    load = lru_cache(maxsize=None)(loaded("fitted"))
    values = fit.fit(rows, load)
    found = []
    for group in GROUPS:
        if fit.rows_of(group, rows):
            now = fit.current(group, rows, load)
            for parameter in group.parameters:
                support = fit.support(parameter, group, rows, load, values)
                found.append((parameter, now[parameter], values[parameter], support))
    return found


COLUMNS = (
    *(Column(name, key=True) for name in ("board", "parameter")),
    *terminal.numbers("in the files", "fitted", "rows"),
    Column("devices", prose=True),
    *terminal.numbers("sizes"),
)


def show(rows: Sequence[PublishedValue]) -> None:
    """Print the parameters of each board: key, value in the files, value of the fit, its rows."""
    shown = []
    for parameter, now, value, support in entries(rows):
        counts = " ".join(str(count) for count in support.devices)
        both = (quantity(parameter, now), quantity(parameter, value))
        sizes = str(len(support.sizes))
        shown.append([parameter.board, str(parameter), *both, str(support.rows), counts, sizes])
    terminal.show(terminal.console(), COLUMNS, shown)

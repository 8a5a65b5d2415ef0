"""Measurements that belong together: one metric taken at many sizes is a curve, not as many metrics."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from fabricmark.base.grouping import grouped
from fabricmark.results import Measurement

FEWEST_VALUES = 3  # of a numeric axis, to be drawn as a line
BINARY_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def distinct(values: Iterable[object]) -> list:
    """Each value once, numbers by size and the others in their order."""
    unique = list(dict.fromkeys(values))
    return sorted(unique) if all(is_number(value) for value in unique) else unique


def swept_axes(measurements: Sequence[Measurement]) -> dict[tuple[str, str], set[str]]:
    """{(name, unit): the numeric axes along which that metric was taken at three values or more}."""
    metrics = grouped(((one.name, one.unit), one.axes.items()) for one in measurements)
    return {
        key: {
            axis
            for axis, found in grouped(item for axes in several for item in axes).items()
            if all(is_number(value) for value in found) and len(set(found)) >= FEWEST_VALUES
        }
        for key, several in metrics.items()
    }


def condensed(measurements: Sequence[Measurement]) -> list[tuple[Measurement, int]]:
    """Single metrics as they are; of each curve its best point. With the number of points it stands for."""
    swept = swept_axes(measurements)

    def family(one: Measurement) -> tuple:
        axes = swept[one.name, one.unit]
        rest = tuple((axis, value) for axis, value in one.axes.items() if axis not in axes)
        return one.name, one.unit, one.kind, rest

    chosen = []
    for members in grouped((family(one), one) for one in measurements).values():
        sign = 1 if members[0].better == "higher" else -1
        chosen.append((max(members, key=lambda member: sign * member.best), len(members)))
    return chosen


def binary(count: float) -> str:
    """A number of bytes in the largest unit that it fills: `64 KiB`."""
    for unit in BINARY_UNITS:
        if abs(count) < 1024 or unit == BINARY_UNITS[-1]:
            return f"{count:.4g} {unit}"
        count /= 1024
    raise AssertionError


def number_text(value: object) -> str:
    """A number as options take it: powers of two from 1024 on as `2^10`."""
    is_power = isinstance(value, int) and value >= 1024 and value & (value - 1) == 0
    return f"2^{value.bit_length() - 1}" if is_power else str(value)


@lru_cache(maxsize=1 << 16, typed=True)
def value_text(axis: str, value: object) -> str:
    """A position on an axis: bytes in binary units, numbers with their axis, words as they are."""
    is_plain = axis.endswith("bytes") or isinstance(value, str)
    return cell_text(axis, value) if is_plain else f"{words(axis)} {cell_text(axis, value)}"


def cell_text(axis: str, value: object) -> str:
    """The same in a column that has the axis as its heading."""
    if is_number(value):
        return binary(value) if axis.endswith("bytes") else number_text(value)
    return str(value)


def words(name: str) -> str:
    """`message_bytes` as it is written in a sentence."""
    return name.replace("_", " ")


def axes_text(axes: Mapping[str, object]) -> str:
    """All positions, for example `exchange, 64 KiB`."""
    return ", ".join(value_text(axis, value) for axis, value in axes.items())


def metric_text(name: str, axes: Mapping[str, object]) -> str:
    """`bandwidth, triad`."""
    return ", ".join(filter(None, (words(name), axes_text(axes))))

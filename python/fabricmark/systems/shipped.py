"""What the repository's systems have, as a measure of one that nobody built: least and most of each value.

What is said of a described system is compared with these; no threshold stands here but by how many times.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from fabricmark.base import keys, quantities
from fabricmark.base.grouping import grouped
from fabricmark.systems import build, catalogue, files
from fabricmark.systems.changes import BITSTREAM, BOARD, DEVICES

TIMES = 4  # as much as the most, or as little as the least, is said to be beyond all that ships
BANDWIDTH = ("memory.banks", "memory.bank_bandwidth")
CAPACITY = ("memory.banks", "memory.bank_capacity")
TOTALS = {"memory bandwidth": BANDWIDTH, "memory capacity": CAPACITY}
COPIES = ("host.write_bandwidth", "host.read_bandwidth")
LINK = "host.link_bandwidth"
PERFECT = {"seconds": 0.0, keys.SHARE: 1.0, keys.COUNT: 0.0}  # of a key whose usual value this is


@dataclass(frozen=True)
class Extremes:
    """The least and the most of one value, SI units, whose they are, and in how many files it is."""

    least: float
    least_of: str
    most: float
    most_of: str
    files: int


def beyond(kind: str, device_class: str, name: str, value: float) -> str:
    """What is said of a value that is far from all that ships; "" where nothing is."""
    key = keys.VALUES[kind][name]
    found = _extremes(kind, device_class).get(name) or _of_dimension(kind, device_class, key.dimension)
    return _compared(value, found, key.dimension) if found is not None else ""


def totals(device_class: str, values: Mapping[str, float]) -> Iterator[str]:
    """What is said of products of two values of a board, such as the bandwidth of all its banks."""
    for what, (one, other) in TOTALS.items():
        if one in values and other in values:
            found = _total(device_class, one, other)
            dimension = keys.BOARD[other].dimension
            said = _compared(values[one] * values[other], found, dimension) if found is not None else ""
            if said:
                yield f"{what}: {said}"


def faster_than_the_link(values: Mapping[str, float]) -> Iterator[str]:
    """Copies that the link to the host cannot carry."""
    for name in COPIES:
        if LINK in values and values.get(name, 0.0) > values[LINK]:
            own, most = (quantities.written(values[one], "bytes_per_second") for one in (name, LINK))
            yield f"{name}: {own} is more than the link to the host carries, {LINK} {most}"


def perfect(
    kind: str, device_class: str, values: Mapping[str, float], given: Container[str]
) -> Iterator[str]:
    """Losses that are given as none, and those that nothing says of a board, as half of what ships does."""
    known = _extremes(kind, device_class)
    half = len({whose for _, whose, _ in _values(kind, device_class)}) / 2
    for name, key in keys.VALUES[kind].items():
        none = PERFECT.get(key.dimension)
        if none is None or key.usual != none:
            continue
        if name in given and values[name] == none:
            said = f"it is {quantities.written(none, key.dimension)}"
        elif kind == BOARD and name not in values and name in known and known[name].files >= half:
            said = "nothing says it"
        else:
            continue
        yield f"{name}: {said}, which is perfect{_span(known.get(name), key.dimension)} ({key.meaning})"


def _span(known: Extremes | None, dimension: str) -> str:
    """What ships, from its least to its most; "" where nothing says it."""
    if known is None:
        return ""
    ends = dict.fromkeys(quantities.written(one, dimension) for one in (known.least, known.most))
    return f": what ships has {' to '.join(ends)}"


def _compared(value: float, found: Extremes, dimension: str) -> str:
    ends = (("most", "beyond", found.most, found.most_of), ("least", "below", found.least, found.least_of))
    is_far = (value > TIMES * found.most, 0 < value < found.least / TIMES)
    for (end, where, number, whose), far in zip(ends, is_far, strict=True):
        if far:
            own, built = (quantities.written(one, dimension) for one in (value, number))
            return f"{own} is {where} anything that ships: the {end} is {built} ({whose})"
    return ""


@cache
def _entries() -> tuple[catalogue.Entry, ...]:
    """All files of the repository, none of the user's."""
    places = [(kind, files.shipped_folder() / name) for kind, name in files.FOLDERS.items()]
    return tuple(catalogue.entry(kind, path) for kind, at in places for path in sorted(at.glob("*.toml")))


@cache
def _class_of(board: str) -> str:
    return build.board(files.shipped_folder() / files.FOLDERS[BOARD] / f"{board}.toml").device_class


def _is_of(entry: catalogue.Entry, device_class: str) -> bool:
    """Whether a file says something of devices of a class; networks serve all."""
    if entry.kind == BOARD:
        return _class_of(entry.name) == device_class
    if entry.kind == "bitstreams":
        return _class_of(files.parse(entry.path)["board"]) == device_class
    return True


def _values(kind: str, device_class: str) -> Iterator[tuple[str, str, float]]:
    """(key, whose, number) of all that ships of a kind of file."""
    of_file = {BITSTREAM: "bitstreams", DEVICES: "system"}.get(kind, kind)
    for entry in _entries():
        if entry.kind == of_file and _is_of(entry, device_class):
            yield from _of_entry(kind, entry)
        elif kind == BOARD and entry.kind == "system":  # what hosts make of a board
            yield from (
                (name, of, one) for name, of, one in _of_entry(kind, entry) if name.startswith("host.")
            )


def _of_entry(kind: str, entry: catalogue.Entry) -> Iterator[tuple[str, str, float]]:
    own = f"{entry.path.stem}.toml: "
    for one in entry.sourced:
        number = one.of("fitted")
        is_own = entry.kind != "system" or one.place.startswith(f"{own}devices")
        if is_own and number is not None and one.name in keys.VALUES[kind]:
            yield one.name, entry.name, float(number)


@cache
def _extremes(kind: str, device_class: str) -> Mapping[str, Extremes]:
    found = grouped((name, (number, whose)) for name, whose, number in _values(kind, device_class))
    return {name: _of(numbers) for name, numbers in found.items()}


def _of(numbers: Iterable[tuple[float, str]]) -> Extremes:
    ordered = sorted(numbers)
    files_with = len({whose for _, whose in ordered})
    return Extremes(*ordered[0], *ordered[-1], files_with)


def _of_dimension(kind: str, device_class: str, dimension: str) -> Extremes | None:
    """Of all values of a dimension, where none has this key; plain numbers are too different for that."""
    if dimension in keys.PLAIN:
        return None
    same = [
        (number, whose)
        for name, whose, number in _values(kind, device_class)
        if keys.VALUES[kind][name].dimension == dimension and number
    ]
    return _of(same) if same else None


@cache
def _total(device_class: str, one: str, other: str) -> Extremes | None:
    """Of a product, over the boards of a class."""
    found = []
    for entry in _entries():
        if entry.kind == BOARD and _is_of(entry, device_class):
            values = {value.name: value.of("fitted") for value in entry.sourced}
            first, second = values.get(one), values.get(other)
            if first is not None and second is not None:
                found.append((first * second, entry.name))
    return _of(found) if found else None

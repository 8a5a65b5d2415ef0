"""The options of `fabricmark predict`: device counts, values that are set, values to sweep over, and whose
host program is meant.

Values are of parameters, as the programs read them, or of a system, as its files name them:
`board.memory.bank_bandwidth`, `network.latency` and `bitstream.clock`.

A closed form is of HPCC FPGA's host program, whose runs are published, or of this project's. Over some
transports both move different data (docs/simulated-time.md), which the benchmark's model says (`foreign` of
its TRAITS). Of this project's program there is no closed form then: its own host code tells the time, with
--timing-only.
"""

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabricmark import models
from fabricmark.base import kernels, keys, quantities
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import _published
from fabricmark.predict.points import PredictionRequest
from fabricmark.predict.settings import key_of

MOST_POINTS = 4096
RANGE = re.compile(r"(?P<first>[^:]+):(?P<last>[^:]+)(?::(?P<by>[^:]+))?")
DIGITS = 12
HPCC_FPGA, THIS = "hpcc-fpga-2021", "this"
PROGRAMS = (HPCC_FPGA, THIS)
BOTH = f"{HPCC_FPGA}, {THIS}"


@dataclass(frozen=True)
class Sweep:
    """One axis: its name as given, and its values as texts for `numbers`."""

    name: str
    first: str
    last: str
    step: str = ""
    factor: float = 0.0


def device_counts(text: str, benchmark: str) -> tuple[int, ...]:
    """Numbers of devices from `64`, `1,4,16` or `1..64`, ascending.

    A range stands for its powers of two, for benchmarks on a grid for its squares. Raises
    FabricmarkError (2).
    """
    counts: set[int] = set()
    squares = models.traits(benchmark).on_grid
    for word in text.split(","):
        first, dots, last = word.strip().partition("..")
        ends = [_count(end, text) for end in ((first, last) if dots else (first,))]
        if not dots:
            counts.add(ends[0])
        elif ends[0] > ends[1]:
            raise FabricmarkError(f"--devices {text}: the range falls", "swap its two ends")
        else:
            counts |= set(_between(ends[0], ends[1], squares))
    if not counts:
        kind = "square" if squares else "power of two"
        raise FabricmarkError(f"--devices {text}: no {kind} in that range", "name the numbers: 2,3,5")
    return tuple(sorted(counts))


def _between(first: int, last: int, squares: bool) -> list[int]:
    if squares:
        return [side * side for side in range(math.isqrt(first - 1) + 1, math.isqrt(last) + 1)]
    return [2**power for power in range(last.bit_length()) if first <= 2**power <= last]


def which(text: str, benchmark: str) -> str:
    """What a range was taken for, in words; "" where every number was named."""
    if ".." not in text:
        return ""
    return "squares, for the grid" if models.traits(benchmark).on_grid else "powers of two"


def _count(word: str, text: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 8 and int(word) > 0):
        raise FabricmarkError(
            f"--devices {text}: {word!r} is no number of devices", "write 8, 1,4,16 or 1..64"
        )
    return int(word)


def names(text: str | None, option: str) -> list[str | None]:
    """Names with commas between them; one None for no text. Raises FabricmarkError (2)."""
    if text is None:
        return [None]
    found: list[str | None] = [word.strip() for word in text.split(",")]
    if not all(found) or len(set(found)) < len(found):
        raise FabricmarkError(f"{option} {text}: a name is empty or stands twice", "name each once")
    return found


def settings(words: Sequence[str]) -> dict[str, str]:
    """Name to value of every --set k=v. Raises FabricmarkError (2)."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise FabricmarkError(f"--set {word}: no name and value", "write --set size=8192")
        if name.strip() in found:
            raise FabricmarkError(f"--set {name.strip()} is given twice", "leave out one")
        found[name.strip()] = value.strip()
    return found


def duration(text: str) -> float:
    """A time [s]. Raises FabricmarkError (2)."""
    try:
        return quantities.parse(text, "seconds")
    except ValueError as error:
        raise FabricmarkError(f"--budget {text}: {error}", "write for example 10min") from error


def sweeps(words: Sequence[str]) -> list[Sweep]:
    """Every --sweep k=a:b[:step|xfactor]. Raises FabricmarkError (2)."""
    found = [_sweep(word) for word in words]
    for place, one in enumerate(found):
        if one.name in {other.name for other in found[:place]}:
            raise FabricmarkError(f"--sweep {one.name} is given twice", "leave out one")
    return found


def _sweep(word: str) -> Sweep:
    example = "write --sweep size=1024:32768:x2 or --sweep size=1024:8192:1024"
    name, _, text = word.partition("=")
    match = RANGE.fullmatch(text.strip())
    if not name.strip() or match is None:
        raise FabricmarkError(f"--sweep {word}: no name and range", example)
    by = (match["by"] or "").strip()
    first, last = match["first"].strip(), match["last"].strip()
    if by and not by.startswith("x"):
        return Sweep(name.strip(), first, last, step=by)
    try:
        factor = float(by[1:] or "2")
    except ValueError:
        factor = math.nan
    if not 1 < factor < math.inf:
        raise FabricmarkError(f"--sweep {word}: {by!r} is no factor above 1", example)
    return Sweep(name.strip(), first, last, factor=factor)


def values(first: float, last: float, step: float | None, factor: float, whole: bool, name: str) -> list:
    """The values of an axis, both ends within. Raises FabricmarkError (2)."""
    wrong = first > last or (step is not None and not 0 < step < math.inf) or (step is None and first <= 0)
    if wrong:
        raise FabricmarkError(
            f"--sweep {name}: the range does not rise", "write the smaller end first, and a step above 0"
        )
    count = (last - first) / step if step is not None else math.log(last / first) / math.log(factor)
    if count + 1 > MOST_POINTS:
        raise FabricmarkError(f"--sweep {name}: more than {MOST_POINTS} values", "use a larger step")
    places = range(int(count * (1 + 1e-12) + 1e-9) + 1)
    found = [first + place * step if step is not None else first * factor**place for place in places]
    if whole:
        return sorted({round(value) for value in found})
    return [float(f"{value:.{DIGITS}g}") for value in found]


def numbers(benchmark: str, words: Sequence[tuple[str, str]]) -> list:
    """The values of parameters, or of values of the system, from (name, text). Raises FabricmarkError (2)."""
    keys_of = [key_of(name) if "." in name else None for name, _ in words]
    known = {} if all(keys_of) else kernels.kernel(benchmark).parameters
    for (name, _), key in zip(words, keys_of, strict=True):
        if key is None and name not in known:
            remedy = f"use one of {', '.join(sorted(known))}, or a value such as board.memory.bank_bandwidth"
            raise FabricmarkError(f"{benchmark} has no parameter {name}", remedy)
    kernels.ask([kernels.settings(benchmark, {name: text}) for name, text in words if name in known])
    return [
        _system_value(name, text, key)
        if key is not None
        else kernels.ask([kernels.settings(benchmark, {name: text})])[0]["parameters"][name]
        for (name, text), key in zip(words, keys_of, strict=True)
    ]


def _system_value(name: str, text: str, key: keys.Key) -> float:
    try:
        value = float(text) if key.dimension in keys.PLAIN else quantities.parse(text, key.dimension)
    except ValueError as error:
        raise FabricmarkError(f"{name}={text}: {error}", "correct the value") from None
    may_be_nothing = key.dimension == "seconds"
    if not 0 <= value < float("inf") or (value == 0 and not may_be_nothing):
        raise FabricmarkError(f"{name}={text}: without it nothing moves", "write a number above 0")
    return value


def axis(sweep: Sweep, benchmark: str) -> list:
    """The values of an axis. Raises FabricmarkError (2)."""
    first, last = numbers(benchmark, [(sweep.name, text) for text in (sweep.first, sweep.last)])
    whole = isinstance(first, int)
    if not isinstance(first, int | float) or isinstance(first, bool):
        raise FabricmarkError(f"{sweep.name} is no number", "use --set")
    step = None
    if sweep.step:
        if "." in sweep.name:
            step = _system_value(sweep.name, sweep.step, key_of(sweep.name))
        else:
            try:
                step = float(sweep.step)
            except ValueError:
                cause = f"--sweep {sweep.name}: step {sweep.step!r}"
                raise FabricmarkError(cause, "write a number") from None
    return values(first, last, step, sweep.factor, whole, sweep.name)


def check_swept(swept: Iterable[str], given: Container[str]) -> None:
    """Raises FabricmarkError (2) for a parameter that has one value and many."""
    for name in swept:
        if name in given:
            raise FabricmarkError(f"{name} is set and swept", "leave out one of them")


def check_points(counts: Sequence[int], axes: Mapping[str, Sequence]) -> None:
    """Raises FabricmarkError (2) for more points than anybody reads."""
    points = len(counts) * math.prod(len(axis) for axis in axes.values())
    if points > MOST_POINTS:
        raise FabricmarkError(f"{points} points to predict", f"choose at most {MOST_POINTS}")


def program_of(request: PredictionRequest, wanted: str | None, bitstream: str = "") -> str:
    """Whose program the figures are of. Raises FabricmarkError (2) for one that they are not of."""
    name = request.benchmark
    if wanted not in (None, *PROGRAMS):
        raise FabricmarkError(f"there is no program {wanted}", f"use --program {' or '.join(PROGRAMS)}")
    is_described = request.system.board.device_class == "fpga"
    published = _published.of(name)
    has_rows = is_described and published is not None and bool(published.metrics)
    if wanted == HPCC_FPGA and not has_rows:
        cause = f"no program of HPCC FPGA is what {request.about} predicts"
        raise FabricmarkError(cause, f"use --program {THIS}")
    if not has_rows:
        return THIS
    if request.transport not in request.traits.foreign:
        return wanted or BOTH
    if wanted == THIS:
        cause = f"{request.about}: there is a closed form of HPCC FPGA's program alone"
        other = request.traits.foreign[request.transport]
        raise FabricmarkError(cause, f"{other}: {_own_command(request, bitstream)}")
    return HPCC_FPGA


def _own_command(request: PredictionRequest, bitstream: str) -> str:
    """What tells the time of this project's program."""
    board = f" --board {request.system.board_id}" if len(request.system.boards) > 1 else ""
    own = f" --bitstream-id {bitstream}" if bitstream else ""
    place = f"--system {request.system.name}{board}{own} --transport {request.transport}"
    return f"`fabricmark run {request.benchmark} {place} -- --timing-only`"


def program_line(request: PredictionRequest, program: str, bitstream: str) -> list[str]:
    """What stands below the table; nothing where both programs do the same."""
    other = request.traits.foreign.get(request.transport)
    if program != HPCC_FPGA or other is None:
        return []
    return [f"program: {HPCC_FPGA}; {other}: {_own_command(request, bitstream)}"]

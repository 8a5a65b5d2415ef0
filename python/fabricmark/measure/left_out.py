"""How sure predictions of a measured machine are: each short run is left out once and predicted from others.

Twice: without all runs of its pass, as the machine is another one in the next minute, and without all runs of
its size, as a model of a few values is asked for other sizes than those it was measured at. What 90 % of the
errors stay within is an error bar, by kind of metric; of copies and messages by their bytes. Runs of one kind
are few, so that those of the whole machine say how far it is disturbed, and how often.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import expm1, log, log1p, sqrt
from statistics import median

from fabricmark import models
from fabricmark.base.grouping import grouped
from fabricmark.measure import fitted
from fabricmark.measure.fitted import Done, Finished, Told
from fabricmark.models import _error_bars
from fabricmark.models.machine import ErrorBars, Network
from fabricmark.systems import local_machine
from fabricmark.validate import intervals, learned

FAULTS = (models.MissingValue, LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
LEAST = 0.001  # of an error bar: nothing is timed better
NEIGHBOURS = 1  # sizes at each side whose errors count for a size, too


@dataclass(frozen=True)
class Miss:
    """`of`: the bitstream that would have predicted it. `run`: what was measured together. `bytes`: of a
    message or copy, else None. `off`: ln(measured / predicted)."""

    of: str
    kind: str
    run: tuple
    bytes: float | None
    off: float


def error_bars(
    done: Done, device_name: str, network: Network | None = None
) -> dict[str, dict[str, ErrorBars]]:
    """By bitstream and kind of metric; none of what ran once, at one size. `network`: as `told` has it."""
    alike = grouped(((one.of, one.kind), one) for one in misses(done, device_name, network))
    parts = {key: _by_size(several) for key, several in alike.items()}
    usual = median([median([_scale(own) for own in by.values()]) for by in parts.values()] or [0.0])
    scales = {key: {size: _shrunk(own, usual) for size, own in by.items()} for key, by in parts.items()}
    tail = _tail([
        [abs(one.off) / scales[key][size] for size, own in by.items() for one in own]
        for key, by in parts.items()
    ])  # fmt: skip
    found: dict[str, dict[str, ErrorBars]] = {}
    for (of, kind), by in scales.items():
        widths = tuple(max(expm1(tail * scale), LEAST) for scale in by.values())
        found.setdefault(of, {})[kind] = ErrorBars(tuple(by), widths)
    return found


def _by_size(several: Sequence[Miss]) -> dict[float, list[Miss]]:
    """What counts for each size of a message or copy, ascending: its errors and those of its neighbours. All
    of a metric of whole runs, under 1."""
    sizes = sorted({one.bytes for one in several if one.bytes is not None})
    near = [set(sizes[max(0, at - NEIGHBOURS) : at + NEIGHBOURS + 1]) for at in range(len(sizes))]
    of_sizes = zip(sizes, near, strict=True)
    found = {size: [one for one in several if one.bytes in own] for size, own in of_sizes}
    return found or {1.0: list(several)}


def _scale(several: Sequence[Miss]) -> float:
    """Standard deviation of ln from the median: a disturbed run does not move it."""
    return max(median(abs(one.off) for one in several) / learned.MIDDLE, log1p(LEAST))


def _shrunk(several: Sequence[Miss], usual: float) -> float:
    """The same, of few runs nearer to the one of all kinds: what one run measured is off together."""
    runs = len({one.run for one in several})
    return sqrt((learned.BEFORE * usual**2 + runs * _scale(several) ** 2) / (learned.BEFORE + runs))


def _tail(kinds: Sequence[Sequence[float]]) -> float:
    """How many deviations hold 90 % of the errors, each kind counted once: a machine that is disturbed now
    and then has more far ones than a normal distribution."""
    far = [(one, 1 / len(own)) for own in kinds for one in own]
    return max(intervals.weighted(far), intervals.NORMAL) if far else intervals.NORMAL


def misses(done: Done, device_name: str, network: Network | None = None) -> Iterator[Miss]:
    """Of all runs, without their pass and without their size."""
    passes = {one.number for several in done.values() for one in several}
    # One of so many passes is farther from the mean of the others than a further one from the mean of all.
    nearer = sqrt(1 - 1 / len(passes) ** 2) if passes else 1.0
    for number in sorted(passes) if len(passes) > 1 else ():
        rest = {kind: [one for one in several if one.number != number] for kind, several in done.items()}
        told = fitted.told(rest, device_name, network)
        for (name, variant), several in done.items():
            for one in several:
                if one.number == number:
                    found = _of_run(name, variant, one, told, "pass")
                    yield from (replace(miss, off=nearer * miss.off) for miss in found)
    known = fitted.told(done, device_name, network).network
    for (name, variant), several in done.items():
        yield from _without_sizes(name, variant, done, device_name, known) if not _is_curve(several) else ()


def _without_sizes(
    name: str, variant: str, done: Done, device_name: str, network: Network | None
) -> Iterator[Miss]:
    of_benchmark = {kind: several for kind, several in done.items() if kind[0] == name}
    several = done[name, variant]
    sizes = {tuple(one.chosen.items()) for one in several}
    for size in sizes if len(sizes) > 1 else ():
        rest = [one for one in several if tuple(one.chosen.items()) != size]
        told = fitted.told({**of_benchmark, (name, variant): rest}, device_name, network)
        for one in several:
            if tuple(one.chosen.items()) == size:
                yield from _of_run(name, variant, one, told, "size")


def _is_curve(several: Sequence[Finished]) -> bool:
    """Whether each run measures many sizes, so that without it hardly any is left."""
    return any(_error_bars.bytes_of(entry.axes) for one in several for entry in one.run.measurements)


def _of_run(name: str, variant: str, one: Finished, told: Told, without: str) -> Iterator[Miss]:
    """A run beside what others tell of it; nothing where they tell nothing."""
    run, model = one.run, models.find(name)
    kernel = local_machine.nearest([known for known, _ in told.bitstreams], name, variant, run.ranks)
    if kernel is None or model is None:
        return
    try:
        predicted = models.predict(
            model, run.parameters, run.board, run.ranks, measurements=run.measurements,
            network=told.network, bitstream=kernel,
        )  # fmt: skip
    except FAULTS:  # as in a report, a model that says nothing of a run has no error
        return
    known = {
        (entry.name, frozenset(entry.axes.items()), entry.unit): entry.value
        for entry in reversed(models.within_limits(predicted, run.board))
    }
    for entry in run.measurements:
        value = known.get((entry.name, frozenset(entry.axes.items()), entry.unit))
        if value and entry.best > 0:
            kind, size = _error_bars.kind_of(entry.name, entry.axes), _error_bars.bytes_of(entry.axes)
            of_run = (without, one.number, one.words)
            yield Miss(kernel.name, kind, of_run, size, log(entry.best / value))

"""Measured values beside what predicts them: result files of this suite's own runs.

Each is predicted as a report does it: by the files that `systems new` wrote of the machine, of an FPGA by
those of its system and bitstream. Of runs with the same settings the best counts, as it does within a run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabricmark import models, results
from fabricmark.base import transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.results import Measurement, Result
from fabricmark.systems import System
from fabricmark.systems.device_limits import DeviceLimits, Devices
from fabricmark.validate import intervals
from fabricmark.validate.observed import Observed
from fabricmark.validate.posterior import Place, metric_of

VALID = "valid"
MOST = 1500  # values: a posterior of more takes seconds
FAULTS = (models.MissingValue, LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


@dataclass(frozen=True)
class _Run:
    """A run that is predicted. `entries`: its measured metrics that have a prediction."""

    result: Result
    known: DeviceLimits
    system: System
    transport: str
    entries: Sequence[tuple[Measurement, models.Prediction]]

    @property
    def parameters(self) -> dict[str, object]:
        document = self.result.document
        return {**document["parameters"], "variant": document["run"]["variant"]}

    @property
    def settings(self) -> tuple:
        """What runs of the same have in common."""
        given = tuple(sorted((name, str(value)) for name, value in self.parameters.items()))
        return (self.result.benchmark, self.system.name, self.system.board_id, self.result.ranks, given)


def of_files(places: Iterable[Path]) -> tuple[list[Observed], list[str]]:
    """(the runs of result files and of folders of these, why others have no part). Raises FabricmarkError (2)
    for what is no result file, and for more values than a posterior is for."""
    devices = Devices()
    best: dict[tuple, tuple[_Run, int]] = {}
    without = []
    for file in results.find_files(places):
        found = _run(results.load(file), devices)
        if isinstance(found, str):
            without.append(f"{file.name}: {found}")
            continue
        for at, (entry, _) in enumerate(found.entries):
            key = (found.settings, entry.name, frozenset(entry.axes.items()))
            if key not in best or _is_better(entry, best[key]):
                best[key] = (found, at)
    if len(best) > MOST:
        raise FabricmarkError(f"{len(best)} measured values", f"give runs with at most {MOST}")
    chosen: dict[int, tuple[_Run, list[int]]] = {}
    for run, at in best.values():
        chosen.setdefault(id(run), (run, []))[1].append(at)
    return [_observed(run, own) for run, own in chosen.values()], without


def of_result(result: Result, devices: Devices) -> tuple[Observed, list[Measurement]] | str:
    """(a run with all its measured metrics that have a prediction, these metrics), or why there are none."""
    found = _run(result, devices, every=True)
    if isinstance(found, str):
        return found
    return _observed(found, range(len(found.entries))), [entry for entry, _ in found.entries]


def _is_better(entry: Measurement, other: tuple[_Run, int]) -> bool:
    known = other[0].entries[other[1]][0].best
    return entry.best > known if entry.better == "higher" else entry.best < known


def _run(result: Result, devices: Devices, *, every: bool = False) -> _Run | str:
    """A run, or why it tells nothing. `every`: with metrics that have the same samples as others, too."""
    if result.verdict() != VALID:
        return result.verdict()
    if result.own_kernel is not None and result.device["class"] != "fpga":
        return f"its kernel is {result.own_kernel}, not the suite's"
    measured = [one for one in result.measurements if _is_measured(one)] if every else _measured(result)
    if not measured:
        return "no measured metric"
    known = devices.of(result)
    system = None if known is None else known.system if known.fpga is None else known.fpga.system
    if known is None or system is None:
        return "nothing describes its device: `fabricmark systems new` does"
    if known.fpga is not None:
        system = replace(system, bitstreams=(known.fpga.bitstream,))
    traits = models.traits(result.benchmark)
    transport = str(result.document["parameters"].get("transport", transports.USUAL))
    run = _Run(result, known, system, transport if traits.exchanges else transports.NONE, ())
    if not _has_kernel(run):
        return "its kernel was not measured here: `fabricmark systems new --again` does it"
    try:
        found = {_key(one): one for one in reversed(_predictions(run, system)) if one.value}
    except FAULTS as error:
        return str(error)
    entries = [(entry, found[_key(entry)]) for entry in measured if _key(entry) in found]
    return replace(run, entries=entries) if entries else f"no model of {result.benchmark} has these metrics"


def _is_measured(entry: Measurement) -> bool:
    return entry.kind == "measured" and entry.best > 0


def _measured(result: Result) -> list[Measurement]:
    """Metrics that were measured, the headline first; of those with the same samples one alone."""
    is_headline = models.traits(result.benchmark).is_headline
    found: dict[tuple, Measurement] = {}
    for entry in sorted(result.measurements, key=lambda one: not is_headline(one)):
        if not _is_measured(entry) or (not entry.per_rank and not is_headline(entry)):
            continue
        samples = tuple(map(tuple, entry.per_rank)) or (entry.label,)
        found.setdefault(samples, entry)
    return list(found.values())


def _key(one: Measurement | models.Prediction) -> tuple:
    return (one.name, frozenset(one.axes.items()), one.unit)


def _has_kernel(run: _Run) -> bool:
    own = _arguments(run, run.system).get("bitstream")
    return models.is_kernel_known(run.result.benchmark, run.known.board, own)


def _arguments(run: _Run, system: System) -> Mapping:
    """What the model takes beside the board, where the system has other values."""
    fpga = run.known.fpga
    if fpga is not None:
        fpga = replace(fpga, system=system, bitstream=system.bitstreams[0])
    known = replace(run.known, system=None if fpga else system, fpga=fpga)
    return known.arguments(run.result.benchmark, run.parameters, run.result.ranks or 1)


def _predictions(run: _Run, system: System) -> list[models.Prediction]:
    model = models.find(run.result.benchmark)
    if model is None:
        raise ValueError(f"there is no model of {run.result.benchmark}")
    more = _arguments(run, system)
    old = run.known.board
    board = system.board_with(more.get("bitstream") if run.known.fpga else None, old.devices)
    board = replace(board, hosts=old.hosts)
    return models.predict(model, run.parameters, board, run.result.ranks or 1, **more)


def _observed(run: _Run, chosen: Sequence[int]) -> Observed:
    entries = [run.entries[at] for at in chosen]

    def predicted(system: System) -> list[float | None]:
        try:
            found = {_key(one): one.value for one in reversed(_predictions(run, system))}
        except FAULTS:
            return [None] * len(entries)
        return [found.get(_key(entry)) for entry, _ in entries]

    labels = [f"{run.result.path.name} {entry.label}" for entry, _ in entries]
    places = [_place(run, one) for _, one in entries]
    values = [entry.best for entry, _ in entries]
    return Observed(run.system, run.transport, places, predicted, values, labels)


def _place(run: _Run, one: models.Prediction) -> Place:
    benchmark, devices = run.result.benchmark, run.result.ranks or 1
    size = one.axes.get("message_bytes")
    if size is None and not models.traits(benchmark).is_host_code:
        size = intervals.size_of(benchmark, run.parameters, devices)
    own = _arguments(run, run.system).get("bitstream")
    return Place(
        benchmark, run.system.name, run.system.board_id, run.transport, metric_of(one), devices,
        float(str(size or 0)), "" if own is None else own.name, run.known.board.device_class,
    )  # fmt: skip

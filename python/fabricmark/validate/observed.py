"""Measured values beside what predicts them: published rows, by run."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fabricmark import models
from fabricmark.base.grouping import grouped
from fabricmark.results.published import PublishedValue
from fabricmark.systems import System
from fabricmark.validate import residuals
from fabricmark.validate.metrics import prediction_of, value_of
from fabricmark.validate.outcomes import OF_RUN, Predictor, largest_message
from fabricmark.validate.posterior import Place, metric_of
from fabricmark.validate.runs import NotPredicted, predictions, run_of, transport_of


@dataclass(frozen=True)
class Asked:
    """What one run measures together. `predicted(system)`: its values where the system has other ones."""

    system: System
    transport: str
    places: Sequence[Place]
    predicted: Callable[[System], Sequence[float | None]]

    @property
    def benchmark(self) -> str:
        return self.places[0].benchmark


@dataclass(frozen=True)
class Observed(Asked):
    """What it measured. `values`: in the units of `predicted`; `labels`: what a reader finds each by."""

    values: Sequence[float]
    labels: Sequence[str]


def of_rows(
    rows: Iterable[tuple[int, PublishedValue]], predictor: Predictor
) -> tuple[list[Observed], list[str]]:
    """(the runs of rows with the role test, why rows have no part)."""
    tests = (pair for pair in rows if pair[1].role == "test")
    runs = grouped(((*OF_RUN(row), largest_message(row)), (line, row)) for line, row in tests)
    found, without = [], []
    for members in runs.values():
        kept = []
        for line, row in members:
            one = predictor.outcome(line, row)
            if one.predicted is None or one.predicted <= 0 or row.value <= 0:
                without.append(f"line {line}: {one.reason or 'no positive value'}")
            else:
                kept.append((line, row))
        if kept:
            found.append(_of_run(kept, predictor))
    return found, without


def _of_run(members: Sequence[tuple[int, PublishedValue]], predictor: Predictor) -> Observed:
    first = members[0][1]
    system = predictor.system(first.system, first.board)

    def predicted(system: System) -> list[float | None]:
        try:
            found = predictions(run_of(first, system))
            return [value_of(row, prediction_of(row, found)) for _, row in members]
        except (NotPredicted, models.MissingValue, LookupError, TypeError, ValueError, ArithmeticError):
            return [None] * len(members)

    base = predictions(run_of(first, system))
    places = [place_of(row, prediction_of(row, base), system, predictor) for _, row in members]
    labels = [label(line) for line, _ in members]
    values = [row.value for _, row in members]
    return Observed(system, transport_of(first), places, predicted, values, labels)


def label(line: int) -> str:
    """What a reader finds a row of a file by."""
    return f"line {line}"


def place_of(row: PublishedValue, one: models.Prediction, system: System, predictor: Predictor) -> Place:
    """Of a row whose metric means this prediction."""
    size = residuals.of_row(row, predictor)
    return Place(
        row.benchmark, system.name, system.board_id, row.transport, metric_of(one), row.devices, size,
        residuals.design_of(row, predictor),
    )  # fmt: skip

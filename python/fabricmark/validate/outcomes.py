"""Every row of a published file predicted, and how far off."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from fabricmark import models, systems
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.kept import kept
from fabricmark.models import Prediction
from fabricmark.models._published import largest_message
from fabricmark.models.machine import Curve
from fabricmark.results import published
from fabricmark.results.published import PublishedValue
from fabricmark.systems import System
from fabricmark.systems.build import curves_of_rows
from fabricmark.validate.metrics import prediction_of, value_of
from fabricmark.validate.runs import NotPredicted, kind_of_device, predictions, run_of

TEST = "test"
NOT_PREDICTED = 1.0  # relative error of a row that has no prediction
# What rows of one run have in common.
OF_RUN = attrgetter(
    "benchmark", "system", "board", "transport", "devices", "nodes", "matrix_width_printed", "block",
    "replications", "dtype",
)  # fmt: skip
Load = Callable[[str, str | None], System]


@dataclass(frozen=True)
class Outcome:
    """A row and its prediction, in the unit of the row; `reason`: why there is none."""

    line: int
    row: PublishedValue
    predicted: float | None
    reason: str = ""
    bottleneck: str = ""

    @property
    def error(self) -> float:
        """|predicted / measured - 1|; 1 where nothing is predicted."""
        return NOT_PREDICTED if self.predicted is None else abs(self.predicted / self.row.value - 1)


def loaded(profile: str) -> Load:
    """Systems by name as systems/*.toml have them in a profile."""
    return lambda name, board: systems.load(name, profile, board)


class Predictor:
    """Predicts rows; runs that several rows share are worked out once.

    `load`: the system of a name and one of its boards (None: its first); raises FabricmarkError.
    `rows`: those with the role calibration are inputs: the hosts' MPI curves, which take the place of the
    systems' own of the same devices and nodes and stand beside the others.
    """

    def __init__(self, load: Load, rows: Iterable[PublishedValue] = ()) -> None:
        self._load, self._rows = load, tuple(rows)
        self._firsts: dict[tuple, PublishedValue] = {}  # of those that have a run together

    def outcome(self, line: int, row: PublishedValue) -> Outcome:
        """A row beside its prediction, or why it has none."""
        try:
            found = prediction_of(row, self._predictions(row))
            return Outcome(line, row, value_of(row, found), "", found.bottleneck)
        except NotPredicted as reason:
            return Outcome(line, row, None, str(reason))

    @kept
    def system(self, name: str, board: str) -> System:
        """The system of a row. Raises NotPredicted."""
        try:
            return with_curves(self._found(name, board), self._rows)
        except FabricmarkError as error:
            raise NotPredicted(str(error)) from error

    def parameters(self, row: PublishedValue) -> dict:
        """The parameters of a row's run; none where it cannot be predicted."""
        try:
            return dict(run_of(row, self.system(row.system, row.board)).parameters)
        except NotPredicted:
            return {}

    def _found(self, name: str, board: str) -> System:
        first = self._load(name, None)
        kind = kind_of_device(board, first.boards or (first.board_id,))
        return first if kind in (None, first.board_id) else self._load(name, kind)

    def _predictions(self, row: PublishedValue) -> list[Prediction]:
        run = (*OF_RUN(row), largest_message(row))
        return self._predict(self._firsts.setdefault(run, row))

    @kept
    def _predict(self, row: PublishedValue) -> list[Prediction]:
        run = run_of(row, self.system(row.system, row.board))
        try:
            return predictions(run)
        except (models.MissingValue, LookupError, TypeError, ValueError, ArithmeticError) as error:
            raise NotPredicted(str(error)) from error


def with_curves(system: System, rows: Iterable[PublishedValue]) -> System:
    """The system with the curves that rows of calibration give to its hosts' networks."""
    given = curves_of_rows(rows, system.name)
    if not given:
        return system
    networks = {
        transport: replace(network, curves=joined(network.curves, given))
        if network.kind == "host"
        else network
        for transport, network in system.networks.items()
    }
    return replace(system, networks=networks)


def joined(own: Sequence[Curve], given: Sequence[Curve]) -> tuple[Curve, ...]:
    """A network's curves, where given ones take the place of those of the same devices and nodes."""
    places = {(one.devices, one.nodes) for one in given}
    return (*(one for one in own if (one.devices, one.nodes) not in places), *given)


def read(path: Path | None = None) -> list[tuple[int, PublishedValue]]:
    """(line, row) of a published file. Raises FabricmarkError (2) in one line with line and remedy."""
    chosen = published.folder() / published.HPCC_FPGA if path is None else path
    if path is not None and not os.path.isfile(path):
        raise FabricmarkError(
            f"there is no file {path}", "name a CSV file with the columns of data/published"
        )
    return published.numbered(chosen)


def predict_rows(
    rows: Sequence[tuple[int, PublishedValue]], profile: str = "fitted", load: Load | None = None
) -> list[Outcome]:
    """All rows with the role test, predicted; those with the role calibration are inputs."""
    predictor = predictor_of(rows, profile, load)
    return [predictor.outcome(line, row) for line, row in rows if row.role == TEST]


def predictor_of(
    rows: Sequence[tuple[int, PublishedValue]], profile: str = "fitted", load: Load | None = None
) -> Predictor:
    """What predicts rows, with their own calibration rows as inputs."""
    return Predictor(load or loaded(profile), (row for _, row in rows))

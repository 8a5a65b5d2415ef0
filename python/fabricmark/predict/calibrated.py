"""Predictions that learn from a centre's own rows (validate/learned.py)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabricmark import models, systems
from fabricmark.models import Prediction
from fabricmark.predict import certainty, points
from fabricmark.predict.points import Case, Certainty, Point, PredictionRequest
from fabricmark.systems import System
from fabricmark.validate import calibrated as validated
from fabricmark.validate import learned, scaled
from fabricmark.validate.calibrated import Calibration
from fabricmark.validate.learned import Learned
from fabricmark.validate.observed import Asked
from fabricmark.validate.outcomes import Load
from fabricmark.validate.posterior import Place, metric_of


def loads(system: System, name: str, profile: str) -> Load:
    """Finds the systems of rows: the one that is predicted by its own name, too, wherever its file lies."""

    def load(of_row: str, board: str | None) -> System:
        return systems.load(name if of_row == system.name else of_row, profile, board)

    return load


def read(places: Sequence[Path], system: System, name: str, profile: str) -> Calibration:
    """What rows and result files tell. `name`: of the system, as it was asked for. Raises FabricmarkError
    (2)."""
    return validated.read(places, loads(system, name, profile))


def moved(known: Learned, system: System, benchmark: str, transport: str) -> System:
    """The system with the values that rows moved, where these count for the benchmark's headline over a
    transport; as it is elsewhere."""
    name, axes = models.traits(benchmark).headline or ("", {})
    metric = (name, str(axes.get("operation", "")))
    place = Place(benchmark, system.name, system.board_id, transport, metric, 1, 0.0)
    return scaled.having(system, known.factors) if known.accepted.takes(place) else system


def place_of(request: PredictionRequest, point: Point, one: Prediction) -> Place:
    """Of a prediction."""
    about = (request.benchmark, request.system.name, request.system.board_id, request.transport)
    size, device_class = certainty.size_of(request, point, one), request.system.board.device_class
    return Place(*about, metric_of(one), point.devices, size, point.design, device_class)


def learning(case: Case, calibration: Calibration) -> Case:
    """The case after the rows."""
    asked = [asked_of(case.request, point) for point in case.points]
    told = [learned.told(calibration.learned, one) for one in asked]
    found = [_with(point, one) for point, one in zip(case.points, told, strict=True)]
    lines = [*case.about, *calibration.lines]
    name = case.request.system.name
    if not any(place.system == name for place in calibration.learned.posterior.places):
        return replace(case, points=found, about=[*lines, f"no row of them is of {name}"])
    is_published = name in calibration.learned.accepted.published
    widths = {}
    for point, before, of in zip(found, case.points, told, strict=True):
        for one, old, width in zip(point.predictions, before.predictions, of.half_widths, strict=True):
            earned = case.known.of(before, old) if is_published else None
            learnt = width * certainty.wider(case.request, point)[0]
            share = calibration.learned.accepted.left(place_of(case.request, point, one))
            widths[id(one)] = validated.narrower(learnt, earned, share)
    about = "error bar: 90 % within the column ±, as these rows and the values of the system leave it"
    about += certainty.said_wider(certainty.wider(case.request, case.points[0])[1])
    known = Certainty(about, lambda point, one: widths.get(id(one)))
    return replace(case, points=found, known=known, about=lines)


def asked_of(request: PredictionRequest, point: Point, planned: tuple | None = None) -> Asked:
    """All predictions of a point."""
    plan, run = planned or points.planned(request, [(point.devices, point.axes)])[0]

    def predicted(system: System) -> list[float | None]:
        return [one.value for one in points.with_system(request, plan, run, system).predictions]

    places = [place_of(request, point, one) for one in point.predictions]
    return Asked(request.system, request.transport, places, predicted)


def _with(point: Point, told: learned.Told) -> Point:
    """With other values; phases as much longer or shorter."""
    predictions = [_having(one, value) for one, value in zip(point.predictions, told.values, strict=True)]
    return replace(point, predictions=predictions, headline=predictions[point.headline_place])


def _having(one: Prediction, value: float | None) -> Prediction:
    if not one.value or not value:
        return one
    by = one.value / value if one.unit.endswith("/s") else value / one.value
    phases = {name: seconds * by for name, seconds in one.phases.items()}
    return replace(one, value=value, phases=phases)

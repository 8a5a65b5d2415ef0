"""Rates of a benchmark's skeleton as its own model has them, of a design on a board of the system."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from fabricmark import models
from fabricmark.base import terminal
from fabricmark.base.errors import FabricmarkError
from fabricmark.predict import points
from fabricmark.predict.cables import Place
from fabricmark.predict.points import PredictionRequest
from fabricmark.systems import choice, local_machine


@dataclass(frozen=True)
class Rates:
    """`values`: of the skeleton's parameters, as --set takes them, where the model says some. `about`: lines
    on where they come from."""

    values: dict[str, str] = field(default_factory=dict)
    about: tuple[str, ...] = ()


def rates(benchmark: str, place: Place, given: Collection[str]) -> Rates:
    """For parameters that are not `given`. Of a design for the place's transport, or else for another one."""
    model = models.find(benchmark)
    if model is None or not hasattr(model, "skeleton"):
        return Rates()
    reason = f"no design of {benchmark} on {place.board.name}"
    for transport in _transports(benchmark, place):
        try:
            found, design = _of_design(benchmark, place, transport)
        except FabricmarkError as error:
            reason = str(error).partition("; ")[0]
            continue
        if not found:
            reason = f"no run says how fast {benchmark} is on {place.board.name}"
            continue
        values = {name: f"{value:.12g}" for name, value in found.items() if name not in given}
        words = ", ".join(f"{name} {terminal.number(float(text))}" for name, text in values.items())
        return Rates(values, (f"from the model of {benchmark}{design}: {words}",) if values else ())
    return Rates({}, (f"assumed: rates of the skeleton ({reason}); --set gives others",))


def _transports(benchmark: str, place: Place) -> Iterator[str]:
    """Transports of designs, the place's first."""
    known = choice.transports_of(benchmark, place.system)
    yield from sorted(known, key=lambda one: one != place.transport)


def _of_design(benchmark: str, place: Place, transport: str) -> tuple[dict[str, float], str]:
    """(values by parameter, the design in words). Raises FabricmarkError (2)."""
    system = place.system
    if system.board.device_class != choice.FPGA:
        system = local_machine.with_limits(system)
    request = PredictionRequest(benchmark, system, transport, points.WEAK)
    ((plan, run),) = points.planned(request, [(1, {})])
    name = plan.id_of_bitstream
    try:
        found = models.skeleton_rates(benchmark, run, plan.board, plan.bitstream)
    except (models.MissingValue, ValueError) as error:
        raise FabricmarkError(f"no rate of {benchmark}: {error}", "set it") from error
    return found, f", design {name}" if name else ""

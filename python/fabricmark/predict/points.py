"""One point after the other: parameters, board, network and bitstream for the model, what it predicts, and
how sure that is: the error bar, or why there is none (validate/intervals.py).

Parameters come from --set and --sweep, else from the system's bitstream, else from kernel.toml's defaults for
the class of the system's device, as the programs resolve them (base/kernels.py). Values of the system itself
are named as its files name them: `board.memory.bank_bandwidth`, `network.latency`, `bitstream.clock`.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isqrt
from typing import Any

from fabricmark import models
from fabricmark.base import kernels, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.kernels import Kernel, Parameter
from fabricmark.models import Board, Prediction, _error_bars
from fabricmark.models.machine import HOST, Bitstream, Network
from fabricmark.predict import feasible, settings
from fabricmark.systems import System, choice

WEAK, STRONG = "weak", "strong"
SCALING = (WEAK, STRONG)
SIZES = ("size", "log_size", "batch", "largest")


@dataclass(frozen=True)
class PredictionRequest:
    """All that a prediction needs to know; `given`: values of parameters, `overrides`: of the system.

    `profile`: which values of the system count. `closed_form`: networks by latency and bandwidth alone.
    `beyond`: more devices than the system has may be asked for, and fuller chips than were ever built.
    """

    benchmark: str
    system: System
    transport: str
    scaling: str
    given: Mapping[str, object] = field(default_factory=dict)
    overrides: Mapping[str, float] = field(default_factory=dict)
    profile: str = "fitted"
    closed_form: bool = False
    beyond: bool = False

    @property
    def about(self) -> str:
        """What it is about, in words."""
        return f"{self.benchmark} on {self.system.name}{transports.over(self.transport)}"

    @property
    def traits(self) -> models.Traits:
        return models.traits(self.benchmark)

    @cached_property
    def kernel(self) -> Kernel:
        """Its kernel.toml. Raises FabricmarkError (2 or 3)."""
        return kernels.kernel(self.benchmark)


@dataclass(frozen=True)
class Point:
    """Predictions for so many devices at these values of the axes. `sizes`: of the problem, as run.

    `bitstream`: FILE/NAME of the design, "" where none has a part in it.
    """

    devices: int
    axes: Mapping[str, object]
    sizes: Mapping[str, object]
    headline: Prediction
    predictions: Sequence[Prediction]
    bitstream: str = ""

    @property
    def design(self) -> str:
        """The name of the bitstream, without its file."""
        return self.bitstream.rpartition("/")[2]

    @property
    def headline_place(self) -> int:
        """Of the headline among the predictions; several may be equal."""
        return [id(one) for one in self.predictions].index(id(self.headline))


@dataclass(frozen=True)
class Certainty:
    """`line`: what is said below a table. `of(point, prediction)`: the share of a prediction that 90 % of the
    values stay within, None where that is not validated."""

    line: str
    of: Callable[[Point, Prediction], float | None] = lambda point, prediction: None


@dataclass(frozen=True)
class Case:
    """One system over one transport: its points, how sure they are, and what has to be said.

    `about`: lines for below a table, beside that of the certainty. `program`: whose (options.program_of).
    """

    request: PredictionRequest
    points: Sequence[Point]
    known: Certainty
    about: Sequence[str] = field(default=())
    program: str = ""

    @property
    def name(self) -> str:
        """In words, where there are several."""
        return f"{self.request.system.name}{transports.over(self.request.transport)}"

    def efficiency(self, one: Point) -> float | None:
        """Parallel efficiency: the headline metric of a device, over that with the fewest devices.

        Of a rate only; the points that it is compared with have the same values on all axes.
        """
        alike = [other for other in self.points if other.axes == one.axes]
        fewest = min(alike, key=lambda other: other.devices).headline
        least = min(other.devices for other in alike)
        if not one.headline.value or not fewest.value or not one.headline.unit.endswith("/s"):
            return None
        return one.headline.value / one.devices / (fewest.value / least)


def predict(
    request: PredictionRequest, counts: Sequence[int], axes: Mapping[str, Sequence]
) -> tuple[list[Point], list[str]]:
    """(all points, the devices outermost; what they take for granted). Raises FabricmarkError (2)."""
    if request.scaling == STRONG and not request.traits.is_shared:
        cause = f"{request.benchmark} has a problem of its own on each device"
        raise FabricmarkError(cause, "use --scaling weak")
    check_devices(request, counts)
    places = [
        (devices, dict(zip(axes, values, strict=True)))
        for devices in counts
        for values in itertools.product(*axes.values())
    ]
    runs = planned(request, places)
    about = _check_reads(request, runs, axes)
    points = [point(request, plan, run) for plan, run in runs]

    def predicted(overrides: Mapping[str, float]) -> list[float | None]:
        changed = replace(request, overrides=overrides)
        found = [point(changed, plan, run) for plan, run in planned(changed, settings.spread_over(places))]
        return [_figure(prediction) for one in found for prediction in one.predictions]

    return points, [*about, *not_limiting(request, points, predicted)]


def planned(request: PredictionRequest, places: Sequence[tuple[int, Mapping]]) -> list[tuple]:
    """(plan, parameters) of each point, as grown or shrunk. Raises FabricmarkError (2)."""
    plans = [_plan(request, devices, place) for devices, place in places]
    found = kernels.ask([plan.asked for plan in plans])
    grown = [_grown(request, plan, one) for plan, one in zip(plans, found, strict=True)]
    feasible.ask_of(request.benchmark, plans, grown)
    runs = [
        feasible.shrunk(request.benchmark, run, plan.given, plan.board, plan.devices)
        for plan, run in zip(plans, grown, strict=True)
    ]
    kernels.ask([kernels.settings(request.benchmark, _sizes(run)) for run in runs])
    feasible.ask_of(request.benchmark, plans, runs)
    return list(zip(plans, runs, strict=True))


def _check_reads(request: PredictionRequest, runs: Sequence[tuple], axes: Mapping) -> list[str]:
    """What the predictions take for granted. Raises FabricmarkError (2) for what they do not read or lack."""
    watched, found, in_closed_form = [], settings.Reads(), settings.Reads()
    changed = [name for name in (*request.overrides, *axes) if "." in name]
    for plan, run in settings.spread_over(runs):
        network = plan.system.networks.get(request.transport)
        of = (request.benchmark, run, plan.board, plan.devices)
        one = settings.of_run(*of, network, plan.bitstream)
        watched.append((one, plan.bitstream))
        found |= one
        if changed:
            in_closed_form |= settings.watch(*of, network and settings.closed_form(network), plan.bitstream)
    fits = [
        feasible.check(
            request.about, request.system, plan.place_of_bitstream, plan.bitstream, run, beyond=request.beyond
        )
        for plan, run in runs
    ]
    plan = runs[-1][0]
    for name in changed:
        network = plan.system.networks.get(request.transport)
        settings.check_system_value(name, request.about, found, in_closed_form, network, plan.bitstream)
    for name in (name for name in (*request.given, *axes) if "." not in name):
        if name not in SIZES:
            settings.check_parameter(name, request.about, found, list(request.kernel.parameters))
    if plan.board.device_class != "fpga":
        return []
    of_system = (request.system, request.transport, request.profile)
    assumed = settings.assumed(*of_system, changed, watched, request.about)
    return [*assumed, *([fits[-1]] if fits[-1] else [])]


def not_limiting(
    request: PredictionRequest,
    points: Sequence[Point],
    predicted: Callable[[Mapping], Sequence[float | None]],
) -> list[str]:
    """A line for what was set or swept and moves no prediction. `predicted`: all of them with these values of
    the system in place of the files'."""
    names = settings.not_limiting(list(request.overrides), predicted, request.overrides)
    for name in (name for name in points[0].axes if "." in name):
        apart: dict[tuple, set] = {}
        for one in points:
            others = (one.devices, *(value for other, value in one.axes.items() if other != name))
            apart.setdefault(others, set()).add(tuple(map(_figure, one.predictions)))
        is_swept = len({one.axes[name] for one in points}) > 1
        if is_swept and all(len(each) == 1 for each in apart.values()):
            names.append(name)
    return [f"{name} is not limiting: the figures are the same with other values of it" for name in names]


def _figure(one: Prediction) -> float | None:
    """What a prediction is; its limit where it is no more than that."""
    return one.limit if one.value is None else one.value


def check_devices(request: PredictionRequest, counts: Sequence[int]) -> None:
    """Raises FabricmarkError (2) for more devices than the system has."""
    most = request.system.most_devices
    if counts[-1] > most and not request.beyond:
        cause = f"{request.system.name} has no {counts[-1]} devices"
        raise FabricmarkError(cause, f"use at most {most}, or --beyond to predict more of them")


@dataclass(frozen=True)
class _Plan:
    """A point before its parameters are known. `stated`: those that are no defaults, `asked`: the request."""

    devices: int
    place: Mapping[str, object]
    given: Mapping[str, object]
    system: System
    board: Board
    bitstream: Bitstream | None
    stated: Mapping[str, object]
    asked: Mapping

    @property
    def place_of_bitstream(self) -> int | None:
        """Among those of the system, whatever was set in them; None where none is used."""
        every = enumerate(self.system.bitstreams)
        return next((place for place, one in every if one is self.bitstream), None)

    @property
    def id_of_bitstream(self) -> str:
        place = self.place_of_bitstream
        return "" if place is None else list(self.system.designs)[place]


def _plan(request: PredictionRequest, devices: int, place: Mapping[str, Any]) -> _Plan:
    """Raises FabricmarkError (2) where the system cannot run it."""
    overrides = {**request.overrides, **{name: value for name, value in place.items() if "." in name}}
    given = {**request.given, **{name: value for name, value in place.items() if "." not in name}}
    system = with_overrides(request.system, request.benchmark, request.transport, overrides)
    bitstream = _bitstream(system, request, given)
    board = system.board_with(bitstream, devices)
    # Designs of others may have kernels, transports and parameters that kernel.toml does not know.
    kernel = request.kernel
    stated = {**(bitstream.parameters if bitstream else {}), **request.traits.preset, **given}
    known = {name: value for name, value in stated.items() if name in kernel.parameters}
    variant = bitstream.variant if bitstream and bitstream.variant in kernel.variants else ""
    asked = kernels.wanted(
        request.benchmark,
        board.device_class,
        known,
        board.get("processor.cores"),
        banks=board["memory.banks"],
        variant=variant,
    )
    stated["transport"] = request.transport
    stated |= {"variant": bitstream.variant} if bitstream else {}
    return _Plan(devices, place, given, system, board, bitstream, stated, asked)


def with_overrides(system: System, benchmark: str, transport: str, overrides: Mapping[str, float]) -> System:
    """The system with other values, named as its files name them. Raises FabricmarkError (2)."""
    for name, value in overrides.items():
        place, _, rest = name.partition(".")
        changed = {rest: value}
        if place == "board":
            system = replace(system, board=system.board.having(changed))
        elif place == "network":
            if transport not in system.networks:
                raise FabricmarkError(f"{name}: there is no network to change", "leave it out")
            moved = system.networks[transport].having(changed)
            system = replace(system, networks={**system.networks, transport: moved})
        else:
            streams = tuple(
                one.having(changed) if one.benchmark == benchmark else one for one in system.bitstreams
            )
            system = replace(system, bitstreams=streams)
    return system


def point(request: PredictionRequest, plan: _Plan, run: Mapping) -> Point:
    """The predictions of one point. Raises FabricmarkError (2) where the system cannot run it."""
    network = plan.system.networks.get(request.transport)
    _check(request, run, plan.board, network, plan.devices)
    predictions = _modelled(request, run, plan.board, plan.devices, network=network, bitstream=plan.bitstream)
    if not models.is_kernel_known(request.benchmark, plan.board, plan.bitstream):
        predictions = models.limits_alone(predictions)
    if plan.bitstream is not None and plan.bitstream.error_bars:
        predictions = _error_bars.with_error_bars(predictions, plan.bitstream)
    sizes = {name: value for name, value in _sizes(run).items() if name not in plan.place}
    headline = _headline(request, predictions)
    return Point(plan.devices, plan.place, sizes, headline, predictions, plan.id_of_bitstream)


def with_system(request: PredictionRequest, plan: _Plan, run: Mapping, system: System) -> Point:
    """The same point where the request's system has other values. Raises FabricmarkError (2)."""
    place_of: Mapping[str, Any] = plan.place
    overrides = {**request.overrides, **{name: value for name, value in place_of.items() if "." in name}}
    system = with_overrides(system, request.benchmark, request.transport, overrides)
    place = plan.place_of_bitstream
    bitstream = None if place is None else system.bitstreams[place]
    board = system.board_with(bitstream, plan.devices)
    return point(request, replace(plan, system=system, board=board, bitstream=bitstream), run)


def _sizes(run: Mapping) -> dict[str, object]:
    return {name: run[name] for name in SIZES if name in run}


def _modelled(
    request: PredictionRequest, run: Mapping, board, devices: int, **more: object
) -> list[Prediction]:
    """What the benchmark's model says. Raises FabricmarkError (2) where there is none or it says nothing."""
    about = f"{request.benchmark} on {request.system.name}"
    model = models.find(request.benchmark)
    if model is None:
        raise FabricmarkError(
            f"{request.benchmark} has no model", f"use one of {', '.join(models.names())}, or measure it"
        )
    try:
        found = models.capped(models.predict(model, run, board, devices, **more))
    except models.MissingValue as error:
        cause = f"{about}: no model without {error.name}"
        raise FabricmarkError(cause, "set it, or use another system") from error
    except ValueError as error:  # such as a grid that the ranks do not fill
        raise FabricmarkError(f"{about}: {error}", "set others, or use another system") from error
    except (LookupError, TypeError, AttributeError, ArithmeticError) as error:
        cause = f"{about}: its model cannot use these values ({type(error).__name__}: {error})"
        raise FabricmarkError(cause, "set others, or use another system") from error
    if not found:
        raise FabricmarkError(f"{request.benchmark}: nothing to predict", "measure it with fabricmark run")
    return found


def _headline(request: PredictionRequest, predictions: Sequence[Prediction]) -> Prediction:
    """What stands for the benchmark in one number; of one that names none, its first prediction."""
    if request.traits.headline is None:
        return predictions[0]
    name = request.traits.headline[0]
    shown = [one for one in predictions if request.traits.is_headline(one)]
    shown = shown or [one for one in predictions if one.name == name]  # where other axes were asked for
    if not shown:
        raise FabricmarkError(f"{request.benchmark}: nothing to predict", "measure it with fabricmark run")
    return shown[-1]


def _bitstream(system: System, request: PredictionRequest, given: Mapping) -> Bitstream | None:
    """Of those for the transport the one that has the most of the given parameters, of equals the first.

    Raises FabricmarkError (2) where an FPGA needs one and has none.
    """
    fitting = system.designs
    ids = choice.of_transport(system, request.benchmark, request.transport)
    if not ids:
        if system.board.device_class == choice.FPGA and not request.traits.is_host_code:
            raise choice.refused(request.benchmark, choice.Wanted(system.name, transport=request.transport),
                                 [system], [system])  # fmt: skip
        return None

    def alike(name: str) -> int:
        return sum(fitting[name].parameters.get(key) == value for key, value in given.items())

    return fitting[max(ids, key=alike)]


def _grown(request: PredictionRequest, plan: _Plan, resolved: Mapping) -> dict:
    """What the model takes: all parameters, the problem grown with the devices, even beyond their memory."""
    run = {"variant": resolved["variant"], **resolved["parameters"], **plan.stated}
    for name, parameter in request.kernel.parameters.items():
        if parameter.stage == "run" and parameter.type == "int" and name in ("size", "log_size"):
            run[name] = scale_size(run[name], parameter, request.scaling, plan.devices, run)
    return run


def scale_size(value: int, parameter: Parameter, scaling: str, devices: int, known: Mapping) -> int:
    """The size for so many devices: weak scaling keeps what one device has, strong scaling the whole.

    `value` is that of one device. Rounded to whole blocks where kernel.toml says so.
    """
    total = parameter.scope == "total"
    if total == (scaling == STRONG) or devices == 1:
        return value
    if parameter.name.startswith("log_"):
        return value - (devices - 1).bit_length()
    scaled = value * devices ** ((1 if scaling == WEAK else -1) / parameter.dimensions)
    multiple = known.get(parameter.rounded_to) or 1
    return max(1, round(scaled / multiple)) * multiple


def _check(request: PredictionRequest, run: Mapping, board, network, devices: int) -> None:
    """Raises FabricmarkError (2) for what does not fit the system."""
    if request.traits.to_itself and network is None:
        raise FabricmarkError(
            f"{request.system.name} has no network", "use another system, or add one to its file"
        )
    is_of_hosts = transports.between_hosts(request.transport) and request.traits.is_host_code
    if is_of_hosts and network.curve(devices, board.hosts):
        cause = f"{request.about} is a curve that was measured, and no prediction"
        raise FabricmarkError(cause, f"use {settings.CLOSED_FORM} to predict by latency and bandwidth")
    if devices > 1 and request.traits.exchanges and network is None and board.device_class == "fpga":
        remedy = "use one device, or another system"
        raise FabricmarkError(f"{request.system.name} has no network for {devices} devices", remedy)
    check_grid(request.benchmark, request.transport, network, devices)
    feasible.check_memory(request.benchmark, run, board, devices)


def check_grid(benchmark: str, transport: str, network: Network | None, devices: int) -> None:
    """Raises FabricmarkError (2) for devices that are no square, where links join a square grid of them."""
    is_torus = network is not None and network.kind != HOST and models.traits(benchmark).on_grid
    if is_torus and isqrt(devices) ** 2 != devices:
        cause = f"{benchmark} over {transport} needs a square grid of devices, not {devices}"
        raise FabricmarkError(cause, f"use {isqrt(devices) ** 2} or {(isqrt(devices) + 1) ** 2}")

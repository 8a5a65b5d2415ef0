"""A call of all ranks over a network of a described system: closed form, own ports, all cables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fabricmark.base import kernels
from fabricmark.base.errors import FabricmarkError
from fabricmark.models.machine import Network
from fabricmark.predict import application, cables
from fabricmark.predict.application import Application, Phase
from fabricmark.predict.cables import Call, Closed, Place, Setting

LEAF_SPINE = "leaf-spine:"
MOST_LINKS = 10_000


@dataclass(frozen=True)
class Found:
    """Seconds of a call, or of an application with its calls. `closed`: by closed forms, None without one.
    `alone`: where ranks share their own ports only; `shared`: where they share all cables. `about`: the
    answer to `request`, with `links`: what went over cables, the busiest first. `simgrid`: what SimGrid says,
    None where it was not asked or has no answer. `parts`: whose time is told, with how often a rank comes to
    each."""

    setting: Setting
    name: str
    algorithm: str
    sent: int
    closed: float | None
    about: Mapping
    request: Mapping
    simgrid: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def alone(self) -> float:
        return self.about["own_ports_seconds"]

    @property
    def shared(self) -> float:
        return self.about["seconds"]

    @property
    def links(self) -> Sequence[Mapping]:
        return self.about["links"]

    @property
    def bound(self) -> float:
        """What the busiest cable alone takes for its bytes [s]; 0 where others use it, too."""
        return self.links[0]["busy_seconds"] if self.links and not self.request.get("background") else 0.0


def simulate(call: Call, settings: Sequence[Setting], network: Network, **more: object) -> list[Found]:
    """The call in each of these settings. `more`: of the request: `links`, so many of the busiest cables,
    `background` and `activities`. Raises FabricmarkError (2: what there is not, 3: nothing is built)."""
    known = cables.closed([(call, setting) for setting in settings], network)
    played = [
        setting.request(network, calls=[one.call.request()], **more)
        for setting, one in zip(settings, known, strict=True)
    ]
    return [
        Found(setting, one.call.operation, one.call.algorithm, one.call.sent, one.seconds, answer, asked)
        for setting, one, asked, answer in zip(settings, known, played, kernels.ask(played), strict=True)
    ]


def simulate_application(
    file: Application, settings: Sequence[Setting], place: Place, *, by_phase: bool = False, **more: object
) -> list[Found]:
    """The same of all phases of an application, each told by itself where `by_phase`."""
    found = []
    parts = _times(file.phases) if by_phase else {}
    for setting in settings:
        known = application.in_closed_form(file, place, setting)
        calls = list(_requests(file.phases, known, list(parts)))
        told = {"parts": len(parts)} if parts else {}
        request = setting.request(place.network, calls=calls, **told, **more)
        (answer,) = kernels.ask([request])
        closed = application.total(application.spent(file, place, setting))
        found.append(Found(setting, file.name, "", 0, closed, answer, request, parts=parts))
    return found


def _times(phases: Sequence[Phase], *, turns: int = 1) -> dict[str, float]:
    """How often each phase is done that is no loop; phases of one name are one."""
    found: dict[str, float] = {}
    for one in phases:
        own = _times(one.phases, turns=turns * one.repeat) if one.phases else {one.name: turns * one.repeat}
        for name, times in own.items():
            found[name] = found.get(name, 0) + times
    return found


def _requests(
    phases: Sequence[Phase], known: Mapping[Call, Closed], parts: Sequence[str] = ()
) -> Iterator[dict]:
    """Phases as a request has them."""
    for one in phases:
        if one.call is not None:
            inner = [known[one.call].call.request()]
        elif one.phases:
            inner = list(_requests(one.phases, known, parts))
        else:
            inner = [{"work": one.work}]
        if parts and not one.phases:
            inner[0]["part"] = parts.index(one.name)
        yield from inner if one.repeat == 1 else [{"repeat": one.repeat, "calls": inner}]


def oversubscribed(topology: str, factor: int) -> str:
    """The same leaves with so many times fewer cables to spines than devices. Raises FabricmarkError (2)."""
    sizes, _, lanes = topology.removeprefix(LEAF_SPINE).partition("*")
    parts = sizes.split("x")
    if not topology.startswith(LEAF_SPINE) or len(parts) != 3 or not "".join(parts).isdecimal():
        cause = f"--oversubscription over {topology or 'a network without leaves'}"
        raise FabricmarkError(cause, "use --topology leaf-spine:LxSxN, or leave it out")
    devices, rest = int(parts[2]), f"*{lanes}" if lanes else ""
    cables = factor * (int(lanes) if lanes.isdecimal() else 1)
    if factor < 1 or devices % cables:
        cause = f"--oversubscription {factor}: {devices} devices of a leaf do not share {factor} to a cable"
        raise FabricmarkError(cause, f"use a divisor of {devices}")
    return f"{LEAF_SPINE}{parts[0]}x{devices // cables}x{devices}{rest}"

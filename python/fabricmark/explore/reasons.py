"""Why the next larger design is no better: it does not fit, waits for something, or takes more boards."""

from dataclasses import dataclass

from fabricmark.base.terminal import percent
from fabricmark.explore.cascades import AXES, Exploration
from fabricmark.predict.feasible import NAMES

GROWTH = {"cascaded": "m", "pipelines": "n", "boards": "M"}


@dataclass(frozen=True)
class Step:
    """The next value of an axis. `gain`: share of the time that it saves; None where it does not fit."""

    axis: str
    value: object
    gain: float | None
    reason: str

    def __str__(self) -> str:
        return f"{GROWTH[self.axis]} {self.value}: {self.reason}"


def steps(found: Exploration, place: tuple[int, ...]) -> list[Step]:
    """Of a design, one for each axis along which it could grow."""
    made = []
    for axis in GROWTH:
        at = AXES.index(axis)
        values = found.space.values[at]
        if place[at] + 1 < len(values):
            made.append(_step(found, place, axis, (*place[:at], place[at] + 1, *place[at + 1 :])))
    return made


def _step(found: Exploration, place: tuple[int, ...], axis: str, larger: tuple[int, ...]) -> Step:
    value = found.space.values[AXES.index(axis)][larger[AXES.index(axis)]]
    if not found.fits[larger]:
        if axis == "pipelines" and (fewer := _with_fewer_stages(found, larger)):
            gain = 1 - float(found.seconds[fewer] / found.seconds[place])
            stages = found.space.cascaded[fewer[AXES.index("cascaded")]]
            words = f"with m {stages} {percent(-gain, signed=True)} time, {lost_to(found, fewer)}"
            return Step(axis, value, gain, words)
        return Step(
            axis, value, None, ", ".join(_refusal(found, name, larger) for name in found.why_not(larger))
        )
    gain = 1 - float(found.seconds[larger] / found.seconds[place])
    return Step(axis, value, gain, f"{percent(-gain, signed=True)} time, {lost_to(found, larger)}")


def _with_fewer_stages(found: Exploration, place: tuple[int, ...]) -> tuple[int, ...] | None:
    """The same with the most stages that fit; None where not even one does."""
    at = AXES.index("cascaded")
    for stages in reversed(range(place[at])):
        fewer = (*place[:at], stages, *place[at + 1 :])
        if found.fits[fewer]:
            return fewer
    return None


def _refusal(found: Exploration, name: str, place: tuple[int, ...]) -> str:
    if name not in found.needs:
        return name
    return f"{found.need(name, place):.0f} of {found.resources[name]:.0f} {NAMES[name]}"


def lost_to(found: Exploration, place: tuple[int, ...]) -> str:
    """What costs a design most, in words."""
    one = found.one(place)
    passes = one.cascaded * one.boards
    if found.problem.steps < passes:
        return f"{found.problem.steps} steps are fewer than a pass of {passes}"
    return one.costliest

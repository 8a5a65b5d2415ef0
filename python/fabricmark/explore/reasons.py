"""Why the next larger design is no better: it does not fit, waits for something, or takes more boards."""

from fabricmark.base.terminal import percent
from fabricmark.explore.cascades import AXES, Exploration
from fabricmark.predict.feasible import NAMES

GROWTH = {"cascaded": "m", "pipelines": "n", "boards": "M"}


def steps(found: Exploration, place: tuple[int, ...]) -> list[str]:
    """Of a design, the next value of each axis along which it could grow, and what it brings."""
    made = []
    for axis, letter in GROWTH.items():
        at = AXES.index(axis)
        values = found.space.values[at]
        if place[at] + 1 < len(values):
            larger = (*place[:at], place[at] + 1, *place[at + 1 :])
            made.append(f"{letter} {values[larger[at]]}: {_reason(found, place, axis, larger)}")
    return made


def _reason(found: Exploration, place: tuple[int, ...], axis: str, larger: tuple[int, ...]) -> str:
    if found.fits[larger]:
        return _change(found, place, larger)
    if axis == "pipelines" and (fewer := _with_fewer_stages(found, larger)):
        stages = found.space.cascaded[fewer[AXES.index("cascaded")]]
        return f"with m {stages} {_change(found, place, fewer)}"
    return ", ".join(_refusal(found, name, larger) for name in found.why_not(larger))


def _change(found: Exploration, place: tuple[int, ...], other: tuple[int, ...]) -> str:
    """Of the time, and what costs most of it then."""
    gain = 1 - float(found.seconds[other] / found.seconds[place])
    return f"{percent(-gain, signed=True)} time, {lost_to(found, other)}"


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

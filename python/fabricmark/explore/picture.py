"""The Pareto set as pictures: time over boards, and the share of the peak over boards."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fabricmark.base import paths, transports
from fabricmark.explore.designs import Answer as DesignAnswer
from fabricmark.explore.stencils import Answer, Found

SHARE_FILE = "-efficiency"  # between the name and the ending of the second picture
MOST_LINES = 7


def save(answer: Answer, file: Path) -> list[Path]:
    """Writes FILE.svg and FILE-efficiency.svg (or .png). Raises FabricmarkError where it cannot."""
    from fabricmark.report import pictures

    other = file.with_name(f"{file.stem}{SHARE_FILE}{file.suffix}")
    kind = file.suffix.removeprefix(".")
    about = f"{answer.asked.benchmark} on {answer.system.name}"
    drawn = {
        file: (f"{about}: Pareto set", "time [s]", lambda one: one.seconds),
        other: (f"{about}: share of the peak", "share of the peak [%]", lambda one: 100 * one.efficiency),
    }
    for path, (title, label, value) in drawn.items():
        paths.write_atomically(path, pictures.picture(_plot(answer, title, label, value), kind))
    return list(drawn)


def save_designs(answer: DesignAnswer, file: Path) -> list[Path]:
    """The same two pictures of a benchmark's designs: the rate over devices, and that of a device as a share
    of the rate of the fewest. Raises FabricmarkError where it cannot write."""
    from fabricmark.report import pictures
    from fabricmark.report.plots import Plot

    other = file.with_name(f"{file.stem}{SHARE_FILE}{file.suffix}")
    about = f"{answer.asked.benchmark} on {answer.system.name}"
    lines = _best_of_devices(answer)
    shares = {
        name: {at: 100 * rate / at / (of[min(of)] / min(of)) for at, rate in of.items()}
        for name, of in lines.items()
    }
    labels = f"{answer.metric} [{answer.unit}]", "of the rate of a device on the fewest [%]"
    for path, label, of in zip((file, other), labels, (lines, shares), strict=True):
        drawn = Plot("exploration", f"{about}: designs", "devices", label, _series(of))
        paths.write_atomically(path, pictures.picture(drawn, file.suffix.removeprefix(".")))
    return [file, other]


def _best_of_devices(answer: DesignAnswer) -> dict[str, dict[int, float]]:
    """Rates by devices: of the best design over each transport, and of each published one."""
    found: dict[str, dict[int, float]] = {}
    for one in answer.found:
        of = found.setdefault(f"best{transports.over(one.case.transport)} (modelled)", {})
        of[one.devices] = max(one.rate, of.get(one.devices, 0.0))
    for one in answer.published:
        found.setdefault(f"{one.published} (modelled)", {})[one.devices] = one.rate
    return {name: dict(sorted(of.items())) for name, of in list(found.items())[:MOST_LINES]}


def _series(lines: Mapping[str, Mapping[int, float]]) -> list:
    from fabricmark.report.plots import Series

    return [
        Series(name, [float(at) for at in of], list(of.values()), "line", number)
        for number, (name, of) in enumerate(lines.items())
    ]


def _plot(answer: Answer, title: str, label: str, value: Callable[[Found], float]):
    from fabricmark.report.plots import Plot, Series, wants_log

    lines = _lines(answer.found)
    series = []
    for number, (name, designs) in enumerate(lines[:MOST_LINES]):
        boards = [float(one.values["boards"]) for one in designs]
        series.append(Series(f"{name} (modelled)", boards, [value(one) for one in designs], "line", number))
    across = [at for one in series for at in one.x]
    high = [at for one in series for at in one.y]
    left_out = "" if len(lines) <= MOST_LINES else f"{len(lines) - MOST_LINES} more kinds are not drawn."
    return Plot(
        "exploration", title, "boards", label, series, wants_log(across), wants_log(high), left_out=left_out
    )


def _lines(found: Sequence[Found]) -> list[tuple[str, list[Found]]]:
    """Designs of the same pipelines, orientation and compression, of each number of boards the fastest; the
    kinds that are fastest somewhere first."""
    kinds: dict[str, dict[int, Found]] = {}
    for one in sorted(found, key=lambda one: one.seconds):
        values = one.values
        name = f"n {values['pipelines']}, along {values['orientation']}, compression {values['compression']}"
        kinds.setdefault(name, {}).setdefault(values["boards"], one)
    return [(name, [of[boards] for boards in sorted(of)]) for name, of in kinds.items()]

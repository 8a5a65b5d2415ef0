"""The Pareto set as pictures: time over boards, and the share of the peak over boards."""

from collections.abc import Callable, Sequence
from pathlib import Path

from fabricmark.base import paths
from fabricmark.explore.stencils import Answer, Found

SHARE_FILE = "-efficiency"  # between the name and the ending of the second picture
LOG_FROM = 20.0  # times the least value
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


def _plot(answer: Answer, title: str, label: str, value: Callable[[Found], float]):
    from fabricmark.report.plots import Plot, Series

    lines = _lines(answer.found)
    series = []
    for number, (name, designs) in enumerate(lines[:MOST_LINES]):
        boards = [float(one.values["boards"]) for one in designs]
        series.append(Series(f"{name} (modelled)", boards, [value(one) for one in designs], "line", number))
    across = [at for one in series for at in one.x]
    high = [at for one in series for at in one.y]
    left_out = "" if len(lines) <= MOST_LINES else f"{len(lines) - MOST_LINES} more kinds are not drawn."
    return Plot(
        "exploration", title, "boards", label, series, max(across) >= LOG_FROM * min(across),
        min(high) > 0 and max(high) >= LOG_FROM * min(high), left_out=left_out,
    )  # fmt: skip


def _lines(found: Sequence[Found]) -> list[tuple[str, list[Found]]]:
    """Designs of the same pipelines, orientation and compression, of each number of boards the fastest; the
    kinds that are fastest somewhere first."""
    kinds: dict[str, dict[int, Found]] = {}
    for one in sorted(found, key=lambda one: one.seconds):
        values = one.values
        name = f"n {values['pipelines']}, along {values['orientation']}, compression {values['compression']}"
        kinds.setdefault(name, {}).setdefault(values["boards"], one)
    return [(name, [of[boards] for boards in sorted(of)]) for name, of in kinds.items()]

"""The page's tables as HTML. Whatever comes from a file or a driver passes through `text`."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape

from fabricmark import report
from fabricmark.errors import printable
from fabricmark.judgement import INVALID
from fabricmark.reporting import families
from fabricmark.reporting.bars import share
from fabricmark.reporting.groups import Figure, Group

MOST_OPEN_ROWS = 80
MOST_ROWS = 3000
# A user's own meter knows best, then the device's, then the host's. Domains of one source can be added up.
SOURCES = ("command", "xrt", "nvml", "rapl", "hwmon")
VERDICT_CLASSES = {"valid": "good", INVALID: "bad"}


@lru_cache(maxsize=1 << 16, typed=True)
def text(value: object) -> str:
    """A value as text: no markup, no control characters."""
    return escape(printable(value))


def cell(value: object, kind: str = "td", classes: str = "", title: str = "", scope: str = "") -> str:
    attributes = "".join(
        f' {name}="{text(given)}"'
        for name, given in (("class", classes), ("title", title), ("scope", scope))
        if given
    )
    return f"<{kind}{attributes}>{text(value)}</{kind}>"


def table(caption: str, headings: Sequence[str], rows: Iterable[str], numbers: Sequence[int] = ()) -> str:
    """A table in a frame that scrolls by itself on narrow screens. `numbers`: columns that hold figures."""
    head = "".join(
        cell(name, "th", "number" if i in numbers else "", scope="col") for i, name in enumerate(headings)
    )
    return (
        f'<div class="frame" tabindex="0" role="region" aria-label="{text(caption)}"><table>'
        f"<caption>{text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
        "</table></div>"
    )


def percent(value: float | None) -> str:
    return report.NOTHING if value is None else f"{value:.0f} %"


def power(group: Group) -> tuple[str, float, float] | None:
    """(source, watts, joules a repetition) over a source's domains, averaged over the runs; None without."""
    found: dict[str, list[tuple[float, float]]] = {}
    for run in group.runs:
        sums: dict[str, tuple[float, float]] = {}
        for entry in run.document.get("energy", []):
            watts, joules = sums.get(entry["source"], (0.0, 0.0))
            sums[entry["source"]] = (watts + entry["watts"], joules + entry["joules_per_repetition"])
        for source, pair in sums.items():
            found.setdefault(source, []).append(pair)
    for source in SOURCES:
        if source in found:
            pairs = found[source]
            return source, *(sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    return None


def power_cells(figure: Figure, sampled: tuple[str, float, float] | None) -> str:
    """Watts, joules a repetition, figure per watt (rates only); absent rather than zero."""
    if sampled is None:
        return cell(report.NOTHING, classes="number") * 3
    source, watts, joules = sampled
    per_watt = report.NOTHING
    if figure.measurement.better == "higher" and watts > 0 and figure.row.kind != "emulated":
        per_watt = f"{report.figure(figure.row.best / watts)} {figure.row.unit}/W"
    shown = (f"{report.figure(watts)} ({source})", report.figure(joules), per_watt)
    return "".join(cell(value, classes="number") for value in shown)


def summary(groups: Sequence[Group]) -> str:
    """The summary: what was measured beside what is modelled and possible."""
    with_power = any(run.document.get("energy") for group in groups for run in group.runs)
    headings = ["operation", "kind", "best", "median", "modelled", "limit", "unit", "of model", "of limit"]
    headings += ["bottleneck", "verdict"] + (["power [W]", "J/repetition", "per watt"] if with_power else [])
    numbers = (2, 3, 4, 5, 7, 8, 11, 12, 13)
    rows: list[str] = []
    left = 0
    for group in groups:
        if len(rows) >= MOST_ROWS:
            left += len(group.condensed)
            continue
        runs = "" if len(group.runs) == 1 else f" ({len(group.runs)} runs)"
        heading = f"{group.benchmark}: {group.label}{runs}"
        rows.append(f'<tr><th colspan="{len(headings)}" scope="rowgroup">{text(heading)}</th></tr>')
        rows += [summary_row(group, *entry, with_power) for entry in group.condensed]
    shown = table("Measured beside modelled and limit", headings, rows[:MOST_OPEN_ROWS], numbers)
    if len(rows) > MOST_OPEN_ROWS:
        rest = table("Summary, continued", headings, rows[MOST_OPEN_ROWS:], numbers)
        words = f"{len(rows) - MOST_OPEN_ROWS} further rows"
        shown += f"<details><summary>{words}</summary>{rest}</details>"
    if left:
        shown += f'<p class="left">{left} further rows are left out; give fewer files to see them.</p>'
    return shown


def summary_row(group: Group, figure: Figure, points: int, with_power: bool) -> str:
    """One figure of the summary."""
    row, entry = figure.row, figure.measurement
    what = families.axes_text(entry.axes) or families.words(entry.name)
    names = {other.measurement.name for other in group.figures}
    if len(names) > 1 and entry.axes:
        what = f"{families.words(entry.name)}, {what}"
    what += f" (best of {points})" if points > 1 else ""
    what += f" ({entry.derived})" if entry.derived else ""
    verdict = group.verdict()
    cells = [cell(what, "th", scope="row"), cell(row.kind, classes=row.kind)]
    cells += [
        cell(report.figure(value), classes="number")
        for value in (row.best, row.median, row.modelled, row.limit)
    ]
    cells.append(cell(row.unit))
    cells += [cell(percent(share(figure, value)), classes="number") for value in (row.modelled, row.limit)]
    cells.append(cell(row.bottleneck))
    cells.append(cell(verdict, classes=VERDICT_CLASSES.get(verdict.split()[0], "doubt")))
    return f"<tr>{''.join(cells)}{power_cells(figure, power(group)) if with_power else ''}</tr>"


def verdicts(group: Group) -> str:
    """Every check of the group's runs that is not like another."""
    rows: list[str] = []
    for run in group.runs:
        for entry in run.document["verdicts"]:
            worst = entry["worst"]
            where = report.NOTHING
            if worst is not None:
                where = (
                    f"{worst['place']} of rank {worst['rank']}: {worst['actual']}, not {worst['expected']}"
                )
            style = {"passed": "good", "failed": "bad", "skipped": "doubt"}[entry["status"]]
            shown = [
                entry["measure"],
                *(_number(entry[key]) for key in ("error", "threshold")),
                entry["checked"],
            ]
            cells = [cell(entry["name"], "th", scope="row"), cell(entry["status"], classes=style)]
            rows.append(f"<tr>{''.join([*cells, *map(cell, shown), cell(where)])}</tr>")
    headings = ["check", "status", "measure", "error", "threshold", "values", "worst"]
    return table("Verdicts", headings, dict.fromkeys(rows)) if rows else ""


def _number(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else report.NOTHING if value is None else str(value)


def pairs(caption: str, entries: Iterable[tuple[str, object]]) -> str:
    """A table of names and values."""
    rows = [f"<tr>{cell(name, 'th', scope='row')}{cell(_plain(value))}</tr>" for name, value in entries]
    return table(caption, ["name", "value"], rows)


def _plain(value: object) -> str:
    return "not set" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def all_figures(group: Group) -> str:
    """Each figure of curves too, with its extremes."""
    rows = []
    for figure in group.figures[:MOST_ROWS]:
        entry, row = figure.measurement, figure.row
        shown = (row.best, row.median, entry.minimum, entry.maximum, row.modelled, row.limit)
        what = ", ".join(
            [families.words(entry.name), *([families.axes_text(entry.axes)] if entry.axes else [])]
        )
        cells = [cell(what, "th", scope="row"), cell(row.kind)]
        cells += [cell(report.figure(value), classes="number") for value in shown]
        rows.append(f"<tr>{''.join(cells)}{cell(row.unit)}{cell(row.bottleneck)}</tr>")
    headings = ["figure", "kind", "best", "median", "minimum", "maximum", "modelled", "limit", "unit"]
    return table("All figures", [*headings, "bottleneck"], rows, range(2, 8))

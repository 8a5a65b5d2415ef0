"""The page's tables as HTML. Whatever comes from a file or a driver passes through `svg.text`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from fabricmark.base.grouping import grouped
from fabricmark.base.terminal import NOTHING, number, percent
from fabricmark.report import families
from fabricmark.report.groups import Group, Metric
from fabricmark.report.headlines import Headline, run_text
from fabricmark.report.plots import slug
from fabricmark.report.svg import text
from fabricmark.results import Result, disturbances
from fabricmark.results.inner import PERCENTILES
from fabricmark.results.judgement import INVALID

MOST_ROWS = 3000
OPTIONAL_ENDS = re.compile("</(?:td|th|tr|thead|tbody)>")
LONGEST_LINE = 30
POWER_COLUMNS = 4
NUMERIC = ("best", "median", "modelled", "±", "error", "limit", "efficiency")
MOST_ROWS_OF_ONE = 500  # benchmark
# A user's own meter knows best, then the device's, then the host's. Domains of one source can be added up.
SOURCES = ("command", "xrt", "nvml", "rapl", "hwmon")
VERDICT_CLASSES = {"valid": "good", INVALID: "bad"}


def compact(html: str) -> str:
    """A page without the end tags of cells and rows, which HTML lets one leave out: a tenth of its bytes."""
    return OPTIONAL_ENDS.sub("", html)


def cell(value: object, kind: str = "td", classes: str = "", scope: str = "") -> str:
    attributes = "".join(
        f' {name}="{text(given)}"' for name, given in (("class", classes), ("scope", scope)) if given
    )
    return f"<{kind}{attributes}>{text(value)}</{kind}>"


def numbers(values: Iterable[float | None]) -> str:
    """Cells of values."""
    return "".join(cell(number(value), classes="n") for value in values)


def table(caption: str, headings: Sequence[str], rows: Iterable[str], numeric: Sequence[int] = ()) -> str:
    """A table in a frame that scrolls by itself on narrow screens. `numeric`: columns that hold numbers."""
    head = "".join(
        cell(name, "th", "n" if i in numeric else "", scope="col") for i, name in enumerate(headings)
    )
    return (
        f'<div class="frame" tabindex="0" role="region" aria-label="{text(caption)}"><table>'
        f"<caption>{text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
        "</table></div>"
    )


def signed(value: float | None) -> str:
    """An error: `+3 %`."""
    return NOTHING if value is None else f"{100 * value:+.0f} %"


def bar(share: float | None, more: str = "") -> str:
    """A share as a number over a bar, whose cell marks 100 %. `more`: a class of its own."""
    if share is None:
        return cell(NOTHING, classes="n")
    classes = f"n bar {more}".strip()
    return f'<td class="{classes}" style="--w:{min(100 * share, 125):.0f}">{percent(share)}</td>'


def verdict_cell(verdict: str, is_off: bool) -> str:
    """`is_off`: the values are right, but the model is not, which no green shall hide."""
    style = VERDICT_CLASSES.get(verdict.split()[0].rstrip(","), "doubt")
    return cell(verdict, classes="doubt" if is_off and style == "good" else style)


def _verdict_beside(verdict: str, group: Group) -> str:
    """With what disturbed the runs."""
    said = disturbances.beside(verdict, group.runs)
    return verdict_cell(said, said != verdict)


@dataclass(frozen=True)
class Power:
    """What a source's domains took together; `peak_watts`: None in files of earlier versions."""

    source: str
    watts: float
    peak_watts: float | None
    joules: float  # a repetition


def power_of(run: Result) -> dict[str, Power]:
    """{source: the sum of its domains} of one run; the sum of their peaks is at most too large."""
    sums: dict[str, Power] = {}
    for entry in run.document.get("energy", []):
        name, peak = entry["source"], entry.get("peak_watts")
        one = Power(name, entry["watts"], peak, entry["joules_per_repetition"])
        if name in sums:
            before = sums[name]
            known = peak is not None and before.peak_watts is not None
            together = before.peak_watts + peak if known else None
            one = Power(name, before.watts + one.watts, together, before.joules + one.joules)
        sums[name] = one
    return sums


def power(group: Group) -> Power | None:
    """Of the first source that any run has, the means over the runs, but the largest peak; None without."""
    found = grouped(named for run in group.runs for named in power_of(run).items())
    for source in SOURCES:
        if source in found:
            all_runs = found[source]
            peaks = [one.peak_watts for one in all_runs]
            peak = None if None in peaks else max(peaks)
            watts = fmean(one.watts for one in all_runs)
            return Power(source, watts, peak, fmean(one.joules for one in all_runs))
    return None


def power_cells(metric: Metric, sampled: Power | None) -> str:
    """Mean and peak watts, joules a repetition, and of rates the best per peak watt; absent rather than zero.

    So have Tables 3.11 and 3.12 of Meyer 2024.
    """
    if sampled is None:
        return cell(NOTHING, classes="n") * POWER_COLUMNS
    per_watt, peak = NOTHING, NOTHING
    if sampled.peak_watts is not None:
        peak = number(sampled.peak_watts)
        if metric.measurement.better == "higher" and metric.row.kind == "measured":
            per_watt = f"{number(metric.row.best / sampled.peak_watts)} {metric.row.unit}/W"
    shown = (f"{number(sampled.watts)} ({sampled.source})", peak, number(sampled.joules), per_watt)
    return "".join(cell(value, classes="n") for value in shown)


def headlines(found: Sequence[Headline]) -> str:
    """One line for each benchmark and device; a single device stands in the caption."""
    devices = list(dict.fromkeys(entry.device for entry in found))
    several = len(devices) > 1
    rows = []
    for entry in found:
        row = entry.metric.row
        link = f'<th scope="row"><a href="#{anchor(entry.benchmark)}">{text(entry.benchmark)}</a></th>'
        cells = [cell(entry.device)] if several else []
        cells += [run_cell(run_text(entry))]
        cells += [cell(_text(entry.metric)), cell(row.kind, classes=row.kind)]
        cells += [cell(number(row.best), classes="n big"), cell(row.unit), bar(row.efficiency)]
        cells += [cell(signed(row.error), classes="n"), _verdict_beside(entry.verdict, entry.group)]
        rows.append(f"<tr>{link}{''.join(cells)}</tr>")
    headings = ["benchmark"] + ["device"] * several + ["run", "metric", "kind", "best", "unit", "efficiency"]
    headings += ["error", "verdict"]
    caption = "The best of each benchmark " + ("and device" if several else f"on {devices[0]}")
    numeric = [headings.index(name) for name in ("best", "efficiency", "error")]
    return table(caption, headings, rows, numeric)


def _text(metric: Metric) -> str:
    return families.metric_text(metric.measurement.name, metric.measurement.axes)


def run_cell(label: str) -> str:
    """What tells runs apart: in one line where it is short."""
    return cell(label, classes="w" if len(label) <= LONGEST_LINE else "")


def anchor(benchmark: str) -> str:
    """Where a benchmark's part of the page begins."""
    return f"of-{slug(benchmark)}"


def summary(groups: Sequence[Group]) -> str:
    """One benchmark: what was measured beside what is modelled and possible."""
    with_power = any(run.document.get("energy") for group in groups for run in group.runs)
    several = len(groups) > 1
    with_bars = any(one.row.error_bar is not None for group in groups for one, _ in group.condensed)
    headings = ["run"] * several + ["metric", "kind", "best", "median", "modelled", *["±"] * with_bars]
    headings += ["error", "limit", "unit"]
    headings += ["efficiency", "bottleneck", "verdict"]
    headings += ["power [W]", "peak [W]", "J/repetition", "best per peak watt"] if with_power else []
    also = (several, with_bars, with_power)
    rows = [summary_row(group, *entry, *also) for group in groups for entry in group.condensed]
    numeric = [headings.index(name) for name in NUMERIC if name in headings]
    numeric += range(len(headings) - POWER_COLUMNS, len(headings)) if with_power else []
    caption = f"{groups[0].benchmark}: {len(groups)} groups of runs" if several else groups[0].name
    shown = table(caption, headings, rows[:MOST_ROWS_OF_ONE], numeric)
    derived = {
        _text(metric): metric.measurement.derived
        for group in groups
        for metric in group.metrics
        if metric.measurement.derived
    }
    shown += "".join(f"<p>{text(f'{name}: {formula}')}</p>" for name, formula in derived.items())
    if len(rows) > MOST_ROWS_OF_ONE:
        left = len(rows) - MOST_ROWS_OF_ONE
        shown += f'<p class="left">{left} further rows are left out; give fewer files to see them.</p>'
    return shown


def summary_row(
    group: Group, metric: Metric, points: int, several: bool, with_bars: bool, with_power: bool
) -> str:
    """One metric of the summary."""
    row, entry = metric.row, metric.measurement
    what = families.axes_text(entry.axes) or families.words(entry.name)
    if group.several_names and entry.axes:
        what = f"{families.words(entry.name)}, {what}"
    what += f" (best of {points})" if points > 1 else ""
    what += " (derived)" if entry.derived else ""
    runs = "" if len(group.runs) == 1 else f" ({len(group.runs)} runs)"
    cells = [run_cell(group.label + runs)] if several else []
    cells += [cell(what, "th", scope="row"), cell(row.kind, classes=row.kind)]
    cells += [numbers((row.best, row.median, row.modelled))]
    cells += [cell(percent(row.error_bar), classes="n")] if with_bars else []
    cells += [cell(signed(row.error), classes="n")]
    cells += [numbers((row.limit,)), cell(row.unit), bar(row.efficiency), cell(row.bottleneck)]
    cells += [_verdict_beside(group.verdict(), group)]
    return f"<tr>{''.join(cells)}{power_cells(metric, power(group)) if with_power else ''}</tr>"


def verdicts(group: Group) -> str:
    """Every check of the group's runs that is not like another."""
    rows: list[str] = []
    for run in group.runs:
        for entry in run.document["verdicts"]:
            worst = entry["worst"]
            where = NOTHING
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
    return table(f"Checks of {group.name}", headings, dict.fromkeys(rows)) if rows else ""


def _number(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else NOTHING if value is None else str(value)


def pairs(caption: str, entries: Iterable[tuple[str, object]]) -> str:
    """A table of names and values."""
    rows = [f"<tr>{cell(name, 'th', scope='row')}{cell(_plain(value))}</tr>" for name, value in entries]
    return table(caption, ["name", "value"], rows)


def _plain(value: object) -> str:
    return "not set" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def all_metrics(group: Group) -> str:
    """Each metric of curves too, with its extremes."""
    rows = []
    for metric in group.metrics[:MOST_ROWS]:
        entry, row = metric.measurement, metric.row
        shown = (row.best, row.median, entry.minimum, entry.maximum, row.modelled, row.limit)
        cells = [cell(_text(metric), "th", scope="row"), cell(row.kind)]
        rows.append(f"<tr>{''.join(cells)}{numbers(shown)}{cell(row.unit)}{cell(row.bottleneck)}</tr>")
    headings = ["metric", "kind", "best", "median", "minimum", "maximum", "modelled", "limit", "unit"]
    return table(f"All metrics of {group.name}", [*headings, "bottleneck"], rows, range(2, 8))


def percentiles(group: Group) -> str:
    """Of every single time of parts that repeat the same thing, a row a run; nothing where none was kept."""
    rows = []
    for metric in group.metrics:
        for entry in metric.of_runs:
            if entry.percentiles:
                cells = [cell(_text(metric), "th", scope="row"), cell(entry.kind)]
                cells.append(numbers(entry.percentiles[name] for name in PERCENTILES))
                rows.append(f"<tr>{''.join(cells)}{cell(entry.unit)}</tr>")
    headings = ["metric", "kind", *PERCENTILES, "unit"]
    return table(f"Single times of {group.name}", headings, rows[:MOST_ROWS], range(2, 6)) if rows else ""

"""Efficiency: what was measured as a share of what the model expects and of what the limit allows."""

from collections.abc import Sequence

from fabricmark.report import families
from fabricmark.report.groups import Group, Metric
from fabricmark.report.plots import Plot, Series, not_drawn, slug

MOST_ROWS = 24


def share(metric: Metric, reference: float | None) -> float | None:
    """Best as a share of the reference in per cent, 100 being the reference itself, also for times."""
    best = metric.row.best
    if not reference or best <= 0 or reference <= 0:
        return None
    return 100 * (best / reference if metric.measurement.better == "higher" else reference / best)


def plots(groups: Sequence[Group]) -> list[Plot]:
    """One plot for the groups of one benchmark; none where nothing is modelled."""
    several = len(groups) > 1
    entries = []
    for group in groups:
        for metric, points in group.condensed:
            of_model, of_limit = share(metric, metric.row.modelled), share(metric, metric.row.limit)
            if of_model is None and of_limit is None:
                continue
            what = families.axes_text(metric.measurement.axes) or families.words(metric.measurement.name)
            what += f" (best of {points})" if points > 1 else ""
            entries.append((f"{what}, {group.label}" if several else what, of_model, of_limit))
    if not entries:
        return []
    shown = entries[:MOST_ROWS]
    left = not_drawn(len(entries) - MOST_ROWS, "{} further metrics are in the table only.")
    series = []
    for column, (name, colour) in enumerate((("of the model", 0), ("of the limit", 5))):
        known = [(row, entry[1 + column]) for row, entry in enumerate(shown) if entry[1 + column] is not None]
        hover = [f"{shown[row][0]}: {value:.1f} % {name}" for row, value in known]
        lengths, places = [value for _, value in known], [row for row, _ in known]
        series.append(Series(f"measured, in % {name}", lengths, places, "bars", colour, hover))
    benchmark = groups[0].benchmark
    return [
        Plot(
            slug=slug(benchmark, "efficiency"),
            title=f"{benchmark}: efficiency against model and limit",
            x_label="measured best [% of model or limit]",
            series=[entry for entry in series if entry.x],
            rows=[entry[0] for entry in shown],
            left_out=left,
            unit="%",
            family="efficiency",
            reference=100,
        )
    ]

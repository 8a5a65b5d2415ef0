"""The kernel timeline: when each kernel ran, a row for each replication of each rank."""

from collections.abc import Sequence

from fabricmark.reporting.groups import Group
from fabricmark.reporting.plots import MOST_SERIES, Plot, Series, slug
from fabricmark.results import Result

MOST_EVENTS = 1500
MOST_ROWS = 64
MOST_PLOTS = 6  # a benchmark


def plots(groups: Sequence[Group]) -> list[Plot]:
    """Timelines of the runs that have one, the first of each group."""
    found = []
    for group in groups:
        with_events = [run for run in group.runs if run.document.get("timeline")]
        found += [(group, with_events[0], len(with_events) - 1)] if with_events else []
    drawn = []
    for number, (group, run, more) in enumerate(found[:MOST_PLOTS]):
        left = [f"{more} further runs with these settings have a timeline too."] if more else []
        if number == MOST_PLOTS - 1 and len(found) > MOST_PLOTS:
            left.append(f"The timelines of {len(found) - MOST_PLOTS} further groups are left out.")
        drawn.append(timeline(group, run, left))
    return drawn


def timeline(group: Group, run: Result, left: list[str]) -> Plot:
    """One run: whole repetitions from the first on, as many as can be drawn."""
    events = sorted(run.document["timeline"], key=lambda event: (event["repetition"], event["started"]))
    places = sorted({(event["rank"], event["replication"]) for event in events})
    rows = {place: number for number, place in enumerate(places[:MOST_ROWS])}
    here = [event for event in events if (event["rank"], event["replication"]) in rows]
    shown = here[:MOST_EVENTS]
    if len(places) > MOST_ROWS:
        left.append(f"{len(places) - MOST_ROWS} further replications are left out.")
    if len(here) > len(shown):
        left.append(f"The first {len(shown)} kernels of {len(here)}; the rest is in the result file.")
    operations = list(dict.fromkeys(event["operation"] for event in shown))
    start = min(event["queued"] for event in shown)
    series = []
    for colour, operation in enumerate(operations):
        mine = [event for event in shown if event["operation"] == operation]
        series.append(
            Series(
                f"{operation} ({run.measurements[0].kind if run.measurements else 'measured'})",
                [1e3 * (event["ended"] - event["started"]) for event in mine],
                [rows[event["rank"], event["replication"]] for event in mine],
                "bars",
                colour % MOST_SERIES,
                [event_text(event) for event in mine],
                [1e3 * (event["started"] - start) for event in mine],
            )
        )
    return Plot(
        slug=slug(group.benchmark, "timeline", group.label),
        title=f"{group.benchmark}: kernel timeline, {group.label}",
        x_label="time since the first kernel was queued [ms]",
        y_label="",
        series=series,
        rows=[f"rank {rank}, replication {replication}" for rank, replication in rows],
        overlaid=True,
        left_out=" ".join(left),
    )


def event_text(event: dict) -> str:
    """What the reader sees when pointing at a bar."""
    waited = 1e3 * (event["started"] - event["queued"])
    return (
        f"{event['operation']} ({event['kernel']}), repetition {event['repetition']}: "
        f"{1e3 * (event['ended'] - event['started']):.4g} ms, {waited:.4g} ms after it was queued"
    )

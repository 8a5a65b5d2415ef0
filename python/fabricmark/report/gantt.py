"""The kernel timeline: when each kernel ran, a row for each replication of each rank.

Where operations of one replication overlap, each has a row of its own: that is what such a timeline is for.
"""

from collections.abc import Mapping, Sequence

from fabricmark.report.groups import Group, firsts_with
from fabricmark.report.plots import MOST_SERIES, Plot, Series, slug
from fabricmark.results import Result

MOST_EVENTS = 1500
MOST_ROWS = 64
JITTER = 0.05  # of the shorter of two events: so much of an overlap is none


def plots(groups: Sequence[Group]) -> list[Plot]:
    """Timelines of the runs that have one, the first of each group."""
    found = firsts_with("timeline", groups, ("a timeline too", "timelines"))
    return [timeline(group, run, left) for group, run, left in found]


def timeline(group: Group, run: Result, left: list[str]) -> Plot:
    """One run: whole repetitions from the first on, as many as can be drawn."""
    events = sorted(run.document["timeline"], key=lambda event: (event["repetition"], event["started"]))
    operations = list(dict.fromkeys(event["operation"] for event in events))
    apart = operations_overlap(events)
    places = sorted(
        {row_of(event, apart) for event in events},
        key=lambda place: (*place[:2], operations.index(place[2]) if apart else 0),
    )
    rows = {place: number for number, place in enumerate(places[:MOST_ROWS])}
    here = [event for event in events if row_of(event, apart) in rows]
    shown = here[:MOST_EVENTS]
    if len(places) > MOST_ROWS:
        left.append(f"{len(places) - MOST_ROWS} further {'rows' if apart else 'replications'} are left out.")
    if len(here) > len(shown):
        left.append(f"The first {len(shown)} kernels of {len(here)}; the rest is in the result file.")
    start = min(event["queued"] for event in shown)
    series = []
    for colour, operation in enumerate(operations):
        mine = [event for event in shown if event["operation"] == operation]
        if not mine:
            continue
        series.append(
            Series(
                f"{operation} ({'emulated' if run.device['emulated'] else 'measured'})",
                [1e3 * (event["ended"] - event["started"]) for event in mine],
                [rows[row_of(event, apart)] for event in mine],
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
        series=series,
        rows=[row_text(place, apart) for place in rows],
        overlaid=True,
        left_out=" ".join(left),
        unit="ms",
        family="kernel timeline",
        part=group.label,
    )


def row_of(event: Mapping, apart: bool) -> tuple[int, int, str]:
    """Where an event is drawn: rank, replication, and where these are told `apart` the operation."""
    return event["rank"], event["replication"], event["operation"] if apart else ""


def row_text(place: tuple[int, int, str], apart: bool) -> str:
    """The label of a row; where operations have rows, only further replications need a number."""
    rank, replication, operation = place
    if not apart:
        return f"rank {rank}, replication {replication}"
    return f"rank {rank}, {operation}" + (f" {replication}" if replication else "")


def operations_overlap(events: Sequence[Mapping]) -> bool:
    """Whether two operations of one replication ran at the same time."""
    last: dict[tuple[int, int], list[Mapping]] = {}
    for event in sorted(events, key=lambda event: event["started"]):
        open_ones = last.setdefault((event["rank"], event["replication"]), [])
        open_ones[:] = [other for other in open_ones if other["ended"] > event["started"]]
        for other in open_ones:
            shorter = min(other["ended"] - other["started"], event["ended"] - event["started"])
            common = min(other["ended"], event["ended"]) - event["started"]
            if other["operation"] != event["operation"] and common > JITTER * shorter:
                return True
        open_ones.append(event)
    return False


def event_text(event: dict) -> str:
    """What the reader sees when pointing at a bar."""
    waited = 1e3 * (event["started"] - event["queued"])
    return (
        f"{event['operation']} ({event['kernel']}), repetition {event['repetition']}: "
        f"{1e3 * (event['ended'] - event['started']):.4g} ms, {waited:.4g} ms after it was queued"
    )

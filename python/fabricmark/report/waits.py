"""The modelled timeline: who computed and who waited for what, a row for each kernel and link.

Activities too close to be seen apart are drawn as one bar, as high as the part of the time that they took:
what computes hangs from the top of a row, all else stands at its bottom.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fabricmark.report import scales
from fabricmark.report.groups import Group, firsts_with
from fabricmark.report.plots import Plot, slug
from fabricmark.report.plots import Series as Bars
from fabricmark.results import timeline
from fabricmark.results.timeline import Activity, Series, Timeline

MOST_BARS = 1500
MOST_LANES = 100
MOST_SAID = 3  # of those who waited
FINEST = 4000  # parts of the axis that can be told apart
LEAST_HEIGHT = 0.12  # of a row, that it can be seen and pointed at
# {kind: (its name, its colour, what an activity does)}. Hosts that send messages wait for none of an engine.
KINDS: Mapping[str, tuple[str, int | None, str]] = {
    "compute": ("computes", 0, "computes"),
    "wait-for-word": ("waits for a word", 1, "waits for a word of {what}"),
    "wait-for-space": ("waits for space", 5, "waits for space in {what}"),
    "wait-for-link": ("waits for a busy link", 3, "waits for {what}, which is busy"),
    "wait-for-memory": ("waits for memory", 7, "waits for memory"),
    "wait-for-message": ("waits for a message", 2, "waits for a message: {what}"),
    "launch": ("launch", None, "launches {what}"),
    "copy": ("copy", 4, "copies {what}"),
    "message": ("message", 2, "sends or receives {what}"),
    "link": ("link carries words", 6, "carries words"),
}

Lane = tuple[int, str]


def plots(groups: Sequence[Group]) -> list[Plot]:
    """Those of the runs that have one, the first of each group."""
    found = firsts_with(timeline.PROPERTY, groups, ("one too", "modelled timelines"))
    return [
        plot(timeline.made(run.path, run.document[timeline.PROPERTY]), group.benchmark, group.label, left)
        for group, run, left in found
    ]


def of_file(found: Timeline) -> Plot:
    """The plot of a file that is a timeline and nothing else."""
    return plot(found, found.program, found.title or found.path.name, [])


def plot(found: Timeline, name: str, label: str, left: list[str]) -> Plot:
    """One timeline: its lanes, and in sentences who waited most and what is not drawn."""
    lanes = lanes_of(found.series)
    drawn_lanes = {lane: row for row, lane in enumerate(most_telling(found.series, lanes))}
    shown = [entry for entry in found.series if (entry.device, entry.lane) in drawn_lanes]
    before = sum(len(entry.activities) for entry in shown)
    shown = coarser(shown)
    if len(lanes) > len(drawn_lanes):
        left = [*left, f"{len(lanes) - len(drawn_lanes)} further rows, which waited less, are left out."]
    if sum(len(entry.activities) for entry in shown) < before or found.resolution > 0:
        left = [*left, "Where bars are not as high as their row, they stand for that part of the time."]
    if found.left_out:
        left = [*left, f"{found.left_out} activities were not recorded by the run."]
    return Plot(
        slug=slug(name, "modelled-timeline", label),
        title=f"{name}: modelled timeline, {label}",
        x_label="modelled time",
        series=bars(shown, drawn_lanes),
        rows=[f"device {device}, {lane}" for device, lane in drawn_lanes],
        overlaid=True,
        left_out=" ".join([*most_waited(found), *left]),
        unit="s",
        family="modelled timeline",
        part=label,
        has_own_colours=True,
    )


def lanes_of(series: Sequence[Series]) -> list[Lane]:
    """By device: what acts on it in the order in which each begins to do something, its links last."""
    first: dict[Lane, tuple] = {}
    for entry in series:
        lane = (entry.device, entry.lane)
        key = (entry.device, entry.kind == "link", entry.is_wait, entry.activities[0].start, entry.lane)
        first[lane] = min(first.get(lane, key), key)
    return sorted(first, key=lambda lane: (*first[lane][:2], *first[lane][3:]))


def most_telling(series: Sequence[Series], lanes: Sequence[Lane]) -> list[Lane]:
    """At most so many lanes as are drawn: those that did most beside computing."""
    took: dict[Lane, float] = dict.fromkeys(lanes, 0.0)
    for entry in series:
        took[entry.device, entry.lane] += entry.seconds if entry.kind != "compute" else 0
    kept = set(sorted(lanes, key=lambda lane: -took[lane])[:MOST_LANES])
    return [lane for lane in lanes if lane in kept]


def coarser(series: Sequence[Series]) -> list[Series]:
    """The same with the shortest gaps joined, until there are not too many bars."""
    shown = list(series)
    span = max((entry.activities[-1].end for entry in shown), default=0.0)
    gap = span / FINEST
    while True:
        shown = [replace(entry, activities=joined(entry.activities, gap)) for entry in shown]
        if gap > span or sum(len(entry.activities) for entry in shown) <= MOST_BARS:
            return shown
        gap *= 2


def joined(activities: Sequence[Activity], gap: float) -> list[Activity]:
    """Activities with those as one that are not further apart than `gap` [s]."""
    found: list[Activity] = []
    for activity in activities:
        if found and activity.start - found[-1].end <= gap:
            last = found[-1]
            busy, count = last.busy + activity.busy, last.count + activity.count
            found[-1] = Activity(last.start, max(last.end, activity.end), busy, count)
        else:
            found.append(activity)
    return found


def bars(series: Sequence[Series], rows: Mapping[Lane, int]) -> list[Bars]:
    """Bars of each kind, in the order of the kinds."""
    heights = placed(series)
    found = []
    for kind, (name, colour, _) in KINDS.items():
        mine = [(entry, activity) for entry in series if entry.kind == kind for activity in entry.activities]
        if not mine:
            continue
        found.append(
            Bars(
                f"{name} (modelled)",
                [activity.end - activity.start for _, activity in mine],
                [rows[entry.device, entry.lane] for entry, _ in mine],
                "bars",
                colour,
                [said(entry, activity) for entry, activity in mine],
                [activity.start for _, activity in mine],
                bands=[heights[id(entry), activity.start] for entry, activity in mine],
            )
        )
    return found


def placed(series: Sequence[Series]) -> dict[tuple[int, float], tuple[float, float]]:
    """{(identity of a series, start): (bottom, top) of a bar in its row}, 0 to 1."""
    found: dict[tuple[int, float], tuple[float, float]] = {}
    open_ones: dict[Lane, list[tuple[float, float]]] = {}  # (end, top) of what stands at the bottom
    every = [
        (activity.start, entry.kind, entry, activity) for entry in series for activity in entry.activities
    ]
    for start, kind, entry, activity in sorted(every, key=lambda each: each[:2]):
        span = activity.end - activity.start
        height = min(1.0, max(LEAST_HEIGHT, activity.busy / span if span > 0 else 1.0))
        if kind == "compute":
            found[id(entry), start] = (1 - height, 1.0)
            continue
        below = open_ones.setdefault((entry.device, entry.lane), [])
        below[:] = [(end, top) for end, top in below if end > start]
        bottom = min(1 - height, max((top for _, top in below), default=0.0))
        below.append((activity.end, bottom + height))
        found[id(entry), start] = (bottom, bottom + height)
    return found


def doing(entry: Series) -> str:
    """What a series does, as `waits for a word of words from produce`."""
    words = KINDS[entry.kind][2].format(what=entry.what or "something")
    if not entry.whom:
        return words
    if entry.kind == "wait-for-space":
        return f"{words}, which {entry.whom} reads"
    return f"{words} {'from' if entry.kind == 'wait-for-word' else 'of'} {entry.whom}"


def said(entry: Series, activity: Activity) -> str:
    """What the reader sees when pointing at a bar."""
    times = f"{scales.text(activity.start, 's')} to {scales.text(activity.end, 's')}"
    much = scales.text(activity.busy, "s")
    often = f" in {activity.count} pieces" if activity.count > 1 else ""
    return f"{entry.lane} of device {entry.device} {doing(entry)}: {much}{often}, {times}"


def most_waited(found: Timeline) -> list[str]:
    """Who waited most for what, in one sentence; one, too, where nobody waited."""
    waits = sorted((entry for entry in found.series if entry.is_wait), key=lambda entry: -entry.seconds)
    if not waits:
        return ["Nobody waited."]
    spans = spans_of(found.series)
    parts = []
    for entry in waits[:MOST_SAID]:
        share = 100 * entry.seconds / spans[entry.device, entry.lane]
        much = f"{scales.text(entry.seconds, 's')}, {share:.3g} % of its time"
        parts.append(f"{entry.lane} of device {entry.device} {doing(entry)} ({much})")
    return [f"Longest waits: {'; '.join(parts)}."]


def spans_of(series: Iterable[Series]) -> dict[Lane, float]:
    """From the first to the last activity of each lane [s]."""
    times: dict[Lane, list[float]] = {}
    for entry in series:
        lane = times.setdefault((entry.device, entry.lane), [])
        lane += [entry.activities[0].start, entry.activities[-1].end]
    return {lane: max(found) - min(found) for lane, found in times.items()}

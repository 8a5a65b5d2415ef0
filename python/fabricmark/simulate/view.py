"""A simulated call as a table and lines, CSV and a picture."""

from collections.abc import Sequence
from pathlib import Path

from fabricmark.base import cells, paths, terminal
from fabricmark.base.terminal import Column, percent
from fabricmark.simulate.calls import Found

HOLDS = 0.01  # a closed form that is no further off
MODELLED = "modelled"
CLOSED, ALONE, SHARED, BOUND = "closed form", "own ports alone", "own network", "busiest cable alone"
SIMGRID = "SimGrid"
FIELDS = (
    "operation", "algorithm", "ranks", "bytes", "topology", "placement", "model", "time", "unit", "kind",
)  # fmt: skip


def models_of(found: Found) -> dict[str, float | None]:
    """Seconds by model."""
    other = {} if found.simgrid is None else {SIMGRID: found.simgrid}
    bound = {BOUND: found.bound} if found.bound else {}
    return {CLOSED: found.closed, ALONE: found.alone, SHARED: found.shared, **other, **bound}


def show(found: Sequence[Found], where: str, lines: Sequence[str]) -> None:
    """Print the table, then why the closed form parts, and what else has to be known."""
    out, first = terminal.console(), found[0]
    size = [f"{first.sent} B of a rank"] if first.sent else []
    by = [first.algorithm] if first.algorithm else []
    terminal.title(out, [f"{first.name} {where}", f"{first.setting.ranks} ranks", *size, *by, MODELLED])
    several = len(found) > 1
    columns = [
        *([Column("topology", key=True)] if several else []), Column("model", key=True),
        *terminal.numbers("time [us]", "to closed form"),
    ]  # fmt: skip
    rows = []
    for one in found:
        for model, seconds in models_of(one).items():
            ratio = None if not one.closed or seconds is None else seconds / one.closed
            place = [one.about["topology"]] if several else []
            rows.append([*place, model, terminal.number(None if seconds is None else seconds * 1e6),
                         terminal.number(ratio)])  # fmt: skip
    terminal.show(out, columns, rows)
    for one in found:
        before = f"{one.about['topology']}: " if several else ""
        for line in reasons(one):
            terminal.say(out, before + line)
    for line in lines:
        terminal.say(out, line)


def reasons(found: Found) -> list[str]:
    """The busiest cable, and where and why the closed form parts from the network."""
    if not found.shared:
        return ["it takes no time: the network has no latency, and nothing to move"]
    lines = []
    if found.links:
        link = found.links[0]
        busy = percent(link["busy_seconds"] / found.shared)
        lines.append(
            f"busiest cable: {link['from']} to {link['to']}, of {link['pairs']} pairs of ranks, {busy} of "
            f"the time ({found.about['used_links']} of the network's cables carry something)"
        )
    if found.closed is None:
        lines.append(f"no closed form: of {found.name} {found.algorithm}".rstrip())
    else:
        lines += _partings(found, found.closed)
    if found.about["burst_frames"] > 1:
        lines.append(f"packets pass cables in bursts of {found.about['burst_frames']}")
    return lines


def _partings(found: Found, closed: float) -> list[str]:
    steps, cables = (found.alone - closed) / closed, (found.shared - found.alone) / closed
    if abs(found.shared / closed - 1) <= HOLDS:
        return [f"the closed form holds within {percent(HOLDS)}: nobody waits for a cable that others use"]
    lines = []
    if abs(steps) > HOLDS:
        why = "ranks go on without waiting for the slowest way of each step" if steps < 0 else (
            "messages to one rank come one after the other, and ranks wait for each other"
        )  # fmt: skip
        lines.append(f"the closed form parts by {percent(steps, signed=True)}: {why}")
    if abs(cables) > HOLDS and found.links:
        link = found.links[0]
        lines.append(
            f"the closed form parts by {percent(cables, signed=True)}: messages share cables, most of all "
            f"from {link['from']} to {link['to']}, whose bytes alone take "
            f"{link['busy_seconds'] / closed:.3g} times as long"
        )
    return lines


def write_csv(found: Sequence[Found], file: Path) -> None:
    """A row for each model."""
    rows: list[Sequence[object]] = [FIELDS]
    for one in found:
        place = (
            one.name, one.algorithm, one.setting.ranks, one.sent, one.about["topology"],
            one.setting.placement,
        )  # fmt: skip
        for model, seconds in models_of(one).items():
            rows.append([*place, model, None if seconds is None else seconds * 1e6, "us", MODELLED])
    paths.write_atomically(file, cells.as_csv(rows))


def save_plot(found: Sequence[Found], factors: Sequence[int], file: Path) -> None:
    """Time against oversubscription, or of one setting the load of cables."""
    from fabricmark.report import pictures
    from fabricmark.report.plots import Plot, Series, wants_log

    about = f"{found[0].name} {found[0].algorithm}".rstrip() + f", {found[0].setting.ranks} ranks"
    if len(found) > 1:
        x = [float(factor) for factor in factors]
        lines = {model: [models_of(one)[model] for one in found] for model in models_of(found[0])}
        series = [
            Series(
                f"{model} ({MODELLED})",
                x,
                [value * 1e6 for value in y if value is not None],
                "dashed" if model in (CLOSED, BOUND) else "line",
                number,
            )
            for number, (model, y) in enumerate(lines.items())
            if None not in y
        ]
        every = [value for one in series for value in one.y]
        drawn = Plot(
            "oversubscription", f"{about}: time", "oversubscription of the leaves", "time [us]", series,
            log_x=True, log_y=min(every) > 0 and wants_log(every),
            x_ticks=[(value, f"{value:g}") for value in x],
        )  # fmt: skip
    else:
        one = found[0]
        loads = [100 * link["busy_seconds"] / one.shared for link in one.links if one.shared]
        hover = [f"{link['from']} to {link['to']}" for link in one.links]
        series = [Series(f"cables ({MODELLED})", list(map(float, range(1, len(loads) + 1))), loads, "line",
                         0, hover)]  # fmt: skip
        drawn = Plot(
            "links", f"{about}: load of cables", "cables, the busiest first", "busy [% of the time]", series
        )
    paths.write_atomically(file, pictures.picture(drawn, file.suffix.removeprefix(".")))

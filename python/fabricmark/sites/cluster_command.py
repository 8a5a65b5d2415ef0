"""`fabricmark cluster`: options in, one call, exit code out."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fabricmark.base import choices, paths, terminal
from fabricmark.base.errors import FabricmarkError, printable
from fabricmark.base.terminal import NOTHING, Column, counted, number, percent
from fabricmark.sites import cluster, nights, view
from fabricmark.sites.check import Settings
from fabricmark.sites.cluster import Place, View
from fabricmark.sites.command import TOLERANCES, tolerances
from fabricmark.sites.nights import Night, Series

FALSE_ALARMS = 0.01  # a look: somebody looks now and then, not every night
MOST_ROWS = 60
MOST_NAMES = 8  # of slow places in the closing line


def cluster_command(
    places: Annotated[
        list[Path], typer.Argument(metavar="RESULTS", help="Result files of all nodes, or a folder of them.")
    ],
    metric: Annotated[
        str, typer.Option(metavar="WORDS", help="Only metrics whose names have all of these.")
    ] = "",
    tolerance: Annotated[list[str] | None, TOLERANCES] = None,
    false_alarms: Annotated[
        float, typer.Option(min=1e-12, max=1.0, help="Accepted a look, among all nodes, pairs and metrics.")
    ] = FALSE_ALARMS,
    svg: Annotated[
        Path | None, choices.document("--svg", "Also a heat map of the pairs, of the slowest metric.")
    ] = None,
) -> None:
    """Nodes and pairs of nodes beside their peers: the slow ones, how far and how sure; exit code 1 if
    any."""
    night = nights.tonight(places)
    words = metric.split()
    night.values = {
        series: value for series, value in night.values.items() if all(word in series.label for word in words)
    }
    if not night.values and not night.broken:
        raise FabricmarkError(
            f"no metric is called {metric or 'anything'}", "leave --metric out, or name others"
        )
    found = cluster.view(night, Settings(tolerances(tolerance or []), false_alarms=false_alarms))
    if svg is not None:
        paths.write_atomically(svg, picture(night, found))
    show(found)
    raise typer.Exit(found.exit_code)


def picture(night: Night, found: View) -> str:
    """The heat map of the metric of pairs that lost most, of equal ones the last by name. Raises
    FabricmarkError (2)."""
    from fabricmark.sites import heatmap

    by_metric: dict[str, list[Series]] = {}
    for series in night.values:
        if len(cluster.split(series.node)) == 2:
            by_metric.setdefault(series.metric, []).append(series)
    if not by_metric:
        raise FabricmarkError("no result is of a pair of nodes, so there is no heat map", "leave --svg out")
    losses = {metric: cluster.loss_of(night, series) for metric, series in by_metric.items()}
    worst = max(losses, key=lambda metric: (max(losses[metric].values()), by_metric[metric][0].label))
    label = by_metric[worst][0].label
    slow = {
        frozenset(pair)
        for pair in losses[worst]
        for one in found.slow
        if one.series.metric == worst and set(cluster.split(one.name)) <= set(pair)
    }
    title = f"{label}: slower than the median of {len(by_metric[worst])} pairs"
    return heatmap.draw(title, found.nodes, losses[worst], slow)


COLUMNS = (
    Column("metric", key=True),
    Column("slow", key=True),
    Column("what", once=True),
    *terminal.numbers("slower by", "95 % interval", "value", "usual"),
    Column("unit", once=True),
    *terminal.numbers("by chance once in"),
)


def show(found: View) -> None:
    """The slow ones, the surest first, what is broken, and one closing line."""
    out = terminal.console()
    slow = found.slow
    terminal.show(out, COLUMNS, [_cells(one) for one in slow[:MOST_ROWS]])
    if len(slow) > MOST_ROWS:
        terminal.say(out, f"and {len(slow) - MOST_ROWS} more: --metric chooses")
    for (benchmark, node), why in sorted(found.broken.items()):
        terminal.say(out, f"broken: {benchmark} on {node}: {why}")
    suspects = {(one.series.benchmark, one.name) for one in slow}
    for (benchmark, node), what in sorted(found.disturbed.items()):
        if (benchmark, node) in suspects:
            terminal.say(out, f"disturbed: {benchmark} on {node}: {what}")
    out.print(Text(closing(found)), soft_wrap=True)


def _cells(one: Place) -> list[terminal.Cell]:
    kind = "link" if one.is_link else "node" if one.value is not None else "pairs of a node"
    value = NOTHING if one.value is None else number(one.value)
    return [
        one.series.label, one.name, kind, percent(one.loss, digits=1), view.interval(one.interval), value,
        number(one.usual), one.series.unit, view.nights(one.chance).replace("nights", "looks"),
    ]  # fmt: skip


def closing(found: View) -> str:
    """`slow nodes 1 of 8 (n3), slow links 0 of 28, broken 0; ...`."""
    told = []
    for kind, is_link, count in (("nodes", False, len(found.nodes)), ("links", True, len(found.pairs))):
        names = list(dict.fromkeys(one.name for one in found.slow if one.is_link == is_link))
        some = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
        told.append(f"slow {kind} {len(names)} of {count}{f' ({some})' if names else ''}")
    told.append(f"broken {len(found.broken)}")
    parts = [", ".join(told), counted(found.metrics, "metric")]
    return printable("; ".join([*parts, *view.losses_found(one.found for one in found.places)]))

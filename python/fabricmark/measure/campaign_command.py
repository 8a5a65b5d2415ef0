"""`fabricmark campaign`: options in, one call, exit code out."""

import shlex
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from fabricmark.base import choices, help, terminal
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import NOTHING, Column
from fabricmark.measure import campaign_run, schedulers, submit
from fabricmark.measure import site as sites
from fabricmark.measure.launch import MOST_RANKS
from fabricmark.measure.schedulers import MOST_TASKS
from fabricmark.measure.submit import Wanted

FILE = typer.Argument(metavar="FILE.toml", help="The campaign.")
OUTPUT = typer.Option(help="Folder for the folder of results.")
NODES = typer.Option(metavar="NODE,NODE", help="The whole campaign on each of these, in a folder of its own.")
SITE = typer.Option(metavar="FILE[:ALLOCATION]", help="A site file: modules, links, hooks, bitstreams.")

app = help.App(
    help=f"Campaigns as jobs of a scheduler ({schedulers.TITLES}); `fabricmark run FILE.toml` runs one here."
)


@app.command("submit")
def submit_command(
    file: Annotated[Path, FILE],
    output: Annotated[Path, OUTPUT] = campaign_run.OUTPUT,
    tasks: Annotated[int, typer.Option(min=1, max=MOST_TASKS, help="Tasks, at most.")] = MOST_TASKS,
    at_once: Annotated[
        int | None, typer.Option(min=1, help="So many tasks at a time.", rich_help_panel="Jobs")
    ] = None,
    nodes: Annotated[str, NODES] = "",
    scheduler: Annotated[
        str | None, choices.one_of(list(schedulers.EVERY), "Default: the one that is here.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            "--sbatch",
            metavar="OPTION",
            help="For the scheduler: --option=--partition=NAME; may be repeated.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Leave points to the jobs that still wait or run.")
    ] = False,
    site: Annotated[str | None, SITE] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the scripts, and submit none.")] = False,
) -> None:
    """Submit the points that have no result yet; the same command goes on after jobs that were cancelled."""
    chosen = sites.load(site) if site else None
    wanted = Wanted(output, tasks, at_once, names(nodes), tuple(option or ()), scheduler, resume, chosen)
    if dry_run:
        print("".join(submit.scripts(file, wanted)), end="")
        return
    for line in submit.submit(file, wanted):
        print(line)


@app.command("cancel")
def cancel_command(
    file: Annotated[Path, FILE],
    output: Annotated[Path, OUTPUT] = campaign_run.OUTPUT,
    nodes: Annotated[str, NODES] = "",
) -> None:
    """End the jobs of a campaign that wait or run; results that are there stay, and `submit` goes on."""
    for line in submit.cancel(file, Wanted(output, nodes=names(nodes))):
        print(line)


@app.command("status")
def status_command(
    file: Annotated[Path, FILE],
    output: Annotated[Path, OUTPUT] = campaign_run.OUTPUT,
    nodes: Annotated[str, NODES] = "",
) -> None:
    """What became of each point; exit code 1 where one is INVALID or its task ended without a result."""
    found = submit.states(file, Wanted(output, nodes=names(nodes)))
    open_ones = [one for one in found if one.state != "finished"]
    columns = [Column("point", key=True), Column("node", key=True), Column("state"), Column("log")]
    rows = [
        [one.point.label(), one.node or NOTHING, one.state, NOTHING if one.log is None else str(one.log)]
        for one in open_ones
    ]
    terminal.show(terminal.console(), columns, rows)
    counts = Counter(one.state for one in found)
    print(
        f"{terminal.counted(len(found), 'point')}: "
        + ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
    )
    raise typer.Exit(1 if counts["INVALID"] + counts["lost"] else 0)


@app.command("points")
def points_command(
    file: Annotated[Path, FILE],
    identities: Annotated[
        list[str], typer.Argument(metavar="IDENTITY", help="The points, as their result files end.")
    ],
    output: Annotated[Path, OUTPUT] = campaign_run.OUTPUT,
    site: Annotated[str | None, SITE] = None,
) -> None:
    """Run only these points of a campaign: what a task of `submit` does."""
    only = frozenset(identities)
    raise typer.Exit(campaign_run.main(file, output, again=False, full=False, only=only, site=site))


@app.command("links")
def links_command(
    site: Annotated[str, typer.Argument(metavar="FILE[:ALLOCATION]", help="A site file.")],
    topology: Annotated[str, typer.Argument(metavar="TOPOLOGY", help="ring*2, torus:2x3, pairs, transpose.")],
    ranks: Annotated[int, typer.Argument(min=1, max=MOST_RANKS, help="One a board.")],
) -> None:
    """Where a site puts the ranks, and how its switch is told to join their boards."""
    here = sites.load(site)
    words = here.link_words(topology, ranks)
    columns = [Column("rank", key=True), Column("node"), Column("board"), Column("ports lead to")]
    rows = []
    ends = [pair for cable in here.cables(topology, ranks) for pair in (cable, cable[::-1])]
    for rank in range(ranks):
        node, board = here.place(rank, ranks)
        to = sorted({(own[1], other) for own, other in ends if own[0] == rank})
        rows.append([str(rank), str(node), str(board), ", ".join(f"{p}: {o[0]}:{o[1]}" for p, o in to)])
    terminal.show(terminal.console(), columns, rows)
    print(shlex.join([*(here.links.command if here.links else ()), *words]))


def names(text: str) -> tuple[str, ...]:
    """Nodes between commas. Raises FabricmarkError (2) for a name that cannot be a folder's."""
    found = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in found:
        if "/" in name or name[0] in ".-" or not name.isprintable():
            raise FabricmarkError(f"--nodes: {name!r} is no name of a node", "write --nodes n1,n2")
    return found

"""The report as one HTML file that needs nothing else: plots, tables, style and plotly's JavaScript."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path

from fabricmark import __version__, paths
from fabricmark.report import FOOTNOTE, NOTHING, failures
from fabricmark.reporting import bars, curves, gantt, interactive, samples, speedups, tables
from fabricmark.reporting.groups import Group
from fabricmark.reporting.inputs import Inputs, Scaling
from fabricmark.reporting.plots import Plot, unique_slugs
from fabricmark.reporting.tables import text

MOST_ERRORS = 50
MOST_DETAILED = 60  # groups whose parameters, environment and figures the page holds
MOST_ROWS_OF_FIGURES = 6000  # of all groups together
# No request may leave the page, whatever the library would like: the browser sees to it.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
SECTIONS = (
    ("curves", "Over sizes and parameters", "A line a series; modelled lines are dashed, limits dotted."),
    ("scaling", "Scaling", "Rates on more ranks against the fewest; emulated runs are not compared."),
    ("efficiency", "Efficiency", "The best repetition as a share of what is modelled and of the limit."),
    ("timeline", "Kernel timeline", "When each kernel ran on the device, a row for each replication."),
    ("samples", "Samples", "Every repetition as a point; the slowest rank counts."),
)
FOLDED = ("timeline", "samples")


@cache
def part(name: str) -> str:
    """A file that lies beside this module."""
    return files("fabricmark.reporting").joinpath(name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Report:
    """All that the page shows: groups of runs, {section: plots}, and the files behind them."""

    groups: Sequence[Group]
    plots: Mapping[str, Sequence[Plot]]
    files: Inputs


def all_plots(groups: Sequence[Group], scalings: Sequence[Scaling] = ()) -> dict[str, list[Plot]]:
    """{section: its plots}, every plot with a name of its own."""
    made: dict[str, list[Plot]] = {key: [] for key, _, _ in SECTIONS}
    makers = {"curves": curves, "efficiency": bars, "timeline": gantt, "samples": samples}
    summed_up = {file for scaling in scalings for file in scaling.files()}
    for benchmark in dict.fromkeys(group.benchmark for group in groups):
        mine = [group for group in groups if group.benchmark == benchmark]
        for key, module in makers.items():
            made[key] += module.plots(mine)
        alone = [g for g in mine if not all(run.path.resolve() in summed_up for run in g.runs)]
        made["scaling"] += speedups.plots(alone) if alone else []
    made["scaling"] += [plot for scaling in scalings for plot in speedups.of_document(scaling)]
    named = iter(unique_slugs([plot for plots in made.values() for plot in plots]))
    return {key: [next(named) for _ in plots] for key, plots in made.items()}


def save(report: Report, path: Path) -> None:
    """Write the page. Raises FabricmarkError (2) when the place cannot be written, (3) without plotly."""
    paths.write_atomically(path, html(report))


def html(report: Report) -> str:
    """The whole page."""
    sections = [head(report.groups, report.files), section("Summary", summary(report.groups))]
    plots = report.plots
    for key, title, meaning in SECTIONS:
        if plots[key]:
            drawn = "".join(figure(plot, key) for plot in plots[key])
            body = f"<p>{text(meaning)}</p>{folded(key, drawn, len(plots[key]))}"
            if key == "scaling":
                body += "".join(speedups.table(entry) for entry in report.files.scalings)
            sections.append(section(title, body))
    sections.append(section("Runs in detail", details(report.groups)))
    library = f"<script>{interactive.library()}</script>" if any(plots.values()) else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Fabricmark report</title><style>{part('page.css')}</style></head>\n<body><main>"
        + "\n".join(sections)
        + f"</main>\n{library}<script>{part('page.js')}</script></body></html>\n"
    )


def section(title: str, body: str) -> str:
    return f"<section><h2>{text(title)}</h2>{body}</section>"


def folded(key: str, body: str, count: int) -> str:
    """Long sections are closed at first; their plots are drawn when they are opened."""
    if key not in FOLDED:
        return f'<div class="plots">{body}</div>'
    words = "1 plot" if count == 1 else f"{count} plots"
    opened = " open" if key == "timeline" and count <= 2 else ""
    return f'<details{opened}><summary>{words}</summary><div class="plots">{body}</div></details>'


def figure(plot: Plot, key: str) -> str:
    """One plot: its place, its data, and itself in words."""
    height = interactive.layout(plot)["height"]
    left = f' <span class="left">{text(plot.left_out)}</span>' if plot.left_out else ""
    return (
        f'<figure id="{plot.slug}" class="{key}"><figcaption>{text(plot.title)}{left}</figcaption>'
        f'<div class="plot" role="img" aria-label="{text(plot.alternative())}" style="min-height:{height}px" '
        f'data-inside="{interactive.inside_height(plot)}">'
        f'</div><script type="application/json">{interactive.data(plot)}</script></figure>'
    )


def listed(values: Iterable[object], most: int = 6) -> str:
    """Each value once, in a line."""
    unique = list(dict.fromkeys(str(value) for value in values))
    more = f" and {len(unique) - most} more" if len(unique) > most else ""
    return "; ".join(unique[:most]) + more


def head(groups: Sequence[Group], files_read: Inputs) -> str:
    """Where, on what and with what was measured; what could not be read."""
    documents = [run.document for group in groups for run in group.runs]
    hosts = [document["environment"]["host"] for document in documents]
    devices = [document["environment"]["device"] for document in documents]
    runs = [document["run"] for document in documents]
    times = sorted(run["started"] for run in runs)
    emulated = {True: ", emulated", False: ""}
    facts = [
        ("Runs", f"{len(runs)}, in {len(groups)} groups with the same settings"),
        ("Started", listed([times[0], times[-1]]) if times else NOTHING),
        ("Machine", listed(f"{h['name']}: {h['cpu']}, {h['logical_cores']} logical cores" for h in hosts)),
        ("System", listed(f"{h['operating_system']}, {h['kernel']}" for h in hosts)),
        ("Devices", listed(f"{d['name']} ({d['class']}{emulated[d['emulated']]})" for d in devices)),
        (
            "Drivers",
            listed(f"{d['platform']}, {d['platform_version']}, driver {d['driver']}" for d in devices),
        ),
        ("Programs", listed(f"{r['program']} {r['version']} ({r['git']})" for r in runs)),
        ("Report", f"fabricmark {__version__}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
    ]
    rows = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in facts)
    errors = files_read.errors
    lost = "".join(f"<li>{text(error)}</li>" for error in errors[:MOST_ERRORS])
    count = "1 file is" if len(errors) == 1 else f"{len(errors)} files are"
    warning = f'<div class="lost"><p>{count} not in this report:</p><ul>{lost}</ul></div>'
    tools = '<p class="tools"><button type="button" id="open">Open and draw everything</button></p>'
    script = "<noscript><p>The plots need JavaScript; the tables hold the same figures.</p></noscript>"
    lost = warning if errors else ""
    return f"<header><h1>Fabricmark report</h1><dl>{rows}</dl>{tools}{script}{lost}</header>"


def summary(groups: Sequence[Group]) -> str:
    """The table with its explanation, and what failed."""
    wrong = [
        f"{group.benchmark}, {group.label}: {line.plain}"
        for group in groups
        for run in group.runs
        for line in failures(run)
    ]
    unique = list(dict.fromkeys(wrong))
    failed = "".join(f"<li>{text(line)}</li>" for line in unique[:MOST_ERRORS])
    if len(unique) > MOST_ERRORS:
        failed += f"<li>and {len(unique) - MOST_ERRORS} more</li>"
    alarm = f'<ul class="lost">{failed}</ul>' if failed else ""
    return f"{alarm}{tables.summary(groups)}<p>{text(FOOTNOTE)}</p>"


def details(groups: Sequence[Group]) -> str:
    """One folded part a group, those with a wrong result first."""
    ordered = sorted(groups, key=lambda group: group.verdict() == "valid")
    shown: list[str] = []
    budget = MOST_ROWS_OF_FIGURES
    for group in ordered[:MOST_DETAILED]:
        run = group.runs[0].document
        environment = run["environment"]
        facts = [
            *environment["host"].items(),
            *environment["device"].items(),
            *environment["toolchain"].items(),
        ]
        ranks = environment["ranks"]
        facts += [("ranks", f"{ranks['count']} ({ranks['kind']})"), ("MPI library", ranks["mpi_library"])]
        facts += [("repetitions", run["repetitions"]["count"]), ("warm-up", run["repetitions"]["warmup"])]
        facts += [
            ("command", " ".join(run["run"]["command"])),
            ("files", listed(r.path.name for r in group.runs)),
        ]
        parts = [f"<p>{text(line)}</p>" for line in group.hints]
        parts.append(tables.verdicts(group))
        budget -= len(group.figures)
        if budget >= 0:
            parts.append(tables.all_figures(group))
        parts.append(tables.pairs("Parameters", run["parameters"].items()))
        parts.append(tables.pairs("Environment", facts))
        parts.append(tables.pairs("Variables", environment["variables"].items()))
        title = f"{group.benchmark}: {group.label} ({group.verdict()})"
        shown.append(f"<details><summary>{text(title)}</summary>{''.join(parts)}</details>")
    if len(groups) > MOST_DETAILED:
        words = f"{len(groups) - MOST_DETAILED} further groups are in the result files only."
        shown.append(f'<p class="left">{words}</p>')
    return "".join(shown)

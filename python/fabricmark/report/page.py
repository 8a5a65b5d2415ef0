"""The report as one HTML file that needs nothing else: headlines, tables, plots, style, a little script."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path

from fabricmark import __version__
from fabricmark.base.terminal import counted
from fabricmark.report import (
    answer_page,
    bars,
    curves,
    details,
    fields,
    gantt,
    headlines,
    samples,
    sections,
    speedups,
    stations,
    tables,
    waits,
)
from fabricmark.report.answer import Answer
from fabricmark.report.details import listed
from fabricmark.report.fields import Drawn
from fabricmark.report.groups import Group
from fabricmark.report.inputs import Inputs, Scaling
from fabricmark.report.plots import Plot, unique_slugs
from fabricmark.report.run_tables import FOOTNOTE, NOTHING, failures
from fabricmark.report.svg import text
from fabricmark.report.tables import anchor
from fabricmark.results.timeline import Timeline

MOST_ERRORS = 50
FIRST_ERRORS = 4  # more are folded: headlines come first
# The page asks nothing of anybody: the browser sees to it.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
MAKERS = {
    "curves": curves, "scaling": speedups, "efficiency": bars, "timeline": gantt, "waits": waits,
    "samples": samples,
}  # fmt: skip

Plots = dict[str, dict[str, list[Plot]]]


@cache
def part(name: str) -> str:
    """A file that lies beside this module."""
    return files("fabricmark.report").joinpath(name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Report:
    """All that the page shows: groups of runs, {benchmark: {kind: plots}}, the files behind them, the answer
    (None where no run was read), and {benchmark: pictures of fields}."""

    groups: Sequence[Group]
    plots: Mapping[str, Mapping[str, Sequence[Plot]]]
    files: Inputs
    answer: Answer | None
    drawn: Mapping[str, Drawn] = field(default_factory=dict)


def all_plots(
    groups: Sequence[Group], scalings: Sequence[Scaling] = (), timelines: Sequence[Timeline] = (),
    reference: Path | None = None,
) -> Plots:  # fmt: skip
    """{benchmark: {kind: its plots}}, every plot with a name of its own.

    `reference`: curves at stations that those of runs are shown beside. Raises FabricmarkError (2).
    """
    made: Plots = {}
    summed_up = {file for scaling in scalings for file in scaling.files()}
    for benchmark in dict.fromkeys(group.benchmark for group in groups):
        mine = [group for group in groups if group.benchmark == benchmark]
        alone = [g for g in mine if not all(run.path.resolve() in summed_up for run in g.runs)]
        made[benchmark] = {
            kind: module.plots(shown) if (shown := alone if kind == "scaling" else mine) else []
            for kind, module in MAKERS.items()
        }
        made[benchmark]["stations"] = stations.plots(mine, reference)
    for scaling in scalings:
        kinds = made.setdefault(scaling.document["benchmark"], {kind: [] for kind in MAKERS})
        kinds["scaling"] += speedups.of_document(scaling)
    for found in timelines:
        kinds = made.setdefault(found.program, {kind: [] for kind in MAKERS})
        kinds["waits"].append(waits.of_file(found))
    named = iter(
        unique_slugs([plot for kinds in made.values() for plots in kinds.values() for plot in plots])
    )
    return {
        benchmark: {kind: [next(named) for _ in plots] for kind, plots in kinds.items()}
        for benchmark, kinds in made.items()
    }


def html(report: Report) -> str:
    """The whole page."""
    scalings = report.files.scalings
    body = head(report) + "".join(
        section(
            benchmark,
            [group for group in report.groups if group.benchmark == benchmark],
            kinds,
            [scaling for scaling in scalings if scaling.document["benchmark"] == benchmark],
            report.drawn.get(benchmark, Drawn()),
        )
        for benchmark, kinds in report.plots.items()
    )
    about = f'<section id="about" class="rest"><h2>About these runs</h2>{facts(report.groups)}</section>'
    return frame("Fabricmark report", tables.compact(body + about))


def frame(title: str, body: str) -> str:
    """A page with this content, which needs nothing else."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(title)}</title><style>{part('page.css')}</style></head>\n"
        f'<body><main>{body}</main><div id="tip" role="status" hidden></div>'
        f"<script>{part('page.js')}</script></body></html>\n"
    )


def head(report: Report) -> str:
    """Title, the answer, what is missing or wrong, contents, headlines."""
    groups = report.groups
    errors = [str(error) for error in report.files.errors]
    count = "1 file is" if len(errors) == 1 else f"{len(errors)} files are"
    lost = alarm(f"{count} not in this report:", errors)
    lost += alarm("Not every result is right:", wrong(groups))
    links = "".join(
        f'<li><a href="#{anchor(benchmark)}">{text(benchmark)}</a></li>' for benchmark in report.plots
    )
    contents = (
        f'<nav aria-label="Contents"><ul>{links}<li><a href="#about">about these runs</a></li></ul>'
        '<button type="button" id="open" aria-pressed="false">Open everything</button></nav>'
    )
    found = headlines.make(groups)
    reasons = "".join(f'<p class="left">{text(why)}</p>' for why in map(headlines.reason, found) if why)
    table = f"{tables.headlines(found)}{reasons}<p>{text(FOOTNOTE)}</p>" if found else ""
    said = report.answer
    first = f"{answer_page.verdict(said)}{answer_page.section(said)}" if said is not None else ""
    return (
        f"<header><h1>Fabricmark report</h1><p>{text(written(groups))}</p></header>{first}{lost}{contents}"
        f'<section id="headlines"><h2>Headlines</h2>{table}</section>'
    )


def written(groups: Sequence[Group]) -> str:
    """Of how many runs, of when, on what machines."""
    documents = [run.document for group in groups for run in group.runs]
    hosts = listed(
        (f"{host['name']}, {host['cpu']}" for host in (d["environment"]["host"] for d in documents)), most=2
    )
    times = sorted({document["run"]["started"][:10] for document in documents})
    when = f" of {times[0]}" + (f" to {times[-1]}" if len(times) > 1 else "") if times else ""
    runs = counted(len(documents), "run")
    return f"{runs}{when}, in {len(groups)} groups with the same settings" + (f"; {hosts}" if hosts else "")


def alarm(title: str, lines: Sequence[str]) -> str:
    """What the reader must not miss: the first lines, the others folded; nothing of no lines."""
    if not lines:
        return ""
    items = [f"<li>{text(line)}</li>" for line in lines[:MOST_ERRORS]]
    if len(lines) > MOST_ERRORS:
        items.append(f"<li>and {len(lines) - MOST_ERRORS} more</li>")
    rest = "".join(items[FIRST_ERRORS:])
    more = len(lines) - FIRST_ERRORS
    folded = f"<details><summary>{more} more</summary><ul>{rest}</ul></details>" if rest else ""
    return f'<div class="lost"><p>{title}</p><ul>{"".join(items[:FIRST_ERRORS])}</ul>{folded}</div>'


def wrong(groups: Sequence[Group]) -> list[str]:
    """Each failure once."""
    lines = [
        f"{group.benchmark}, {group.label}: {line.plain}"
        for group in groups
        for run in group.runs
        for line in failures(run)
    ]
    return list(dict.fromkeys(lines))


def section(
    benchmark: str,
    groups: Sequence[Group],
    kinds: Mapping[str, Sequence[Plot]],
    scalings: Sequence[Scaling],
    drawn: Drawn,
) -> str:
    """One benchmark."""
    summary = sections.summary(groups) if groups else ""
    sums = "".join(speedups.table(scaling) for scaling in scalings)
    return (
        f'<section id="{anchor(benchmark)}" class="rest"><h2>{text(benchmark)}</h2>'
        f"{summary}{fields.html(drawn)}{sections.plots(kinds)}{sums}{details.of_groups(groups)}</section>"
    )


def machine(host: Mapping) -> str:
    """A host in words; a log says at most its name."""
    if host["logical_cores"] is None:
        return f"{host['name']}, of which nothing is known"
    return f"{host['name']}: {host['cpu']}, {host['logical_cores']} logical cores"


def facts(groups: Sequence[Group]) -> str:
    """Where, on what and with what was measured."""
    documents = [run.document for group in groups for run in group.runs]
    hosts = [document["environment"]["host"] for document in documents]
    devices = [document["environment"]["device"] for document in documents]
    runs = [document["run"] for document in documents]
    times = sorted(filter(None, (run["started"] for run in runs)))  # a log does not say it
    emulated = {True: ", emulated", False: ""}
    entries: Iterable[tuple[str, str]] = (
        ("Started", listed([times[0], times[-1]]) if times else NOTHING),
        ("Machine", listed(map(machine, hosts))),
        ("System", listed(f"{h['operating_system']}, {h['kernel']}" for h in hosts)),
        ("Devices", listed(f"{d['name']} ({d['class']}{emulated[d['emulated']]})" for d in devices)),
        (
            "Drivers",
            listed(f"{d['platform']}, {d['platform_version']}, driver {d['driver']}" for d in devices),
        ),
        ("Programs", listed(f"{r['program']} {r['version']} ({r['git']})" for r in runs)),
        ("Report", f"fabricmark {__version__}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
    )
    return f"<dl>{''.join(f'<dt>{text(name)}</dt><dd>{text(value)}</dd>' for name, value in entries)}</dl>"

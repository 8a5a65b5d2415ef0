"""`fabricmark bitstreams`: what the tools' reports say of bitstreams, in their sidecars and as tables."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from fabricmark import systems
from fabricmark.base import cells, choices, help, paths, terminal
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import NOTHING, Column
from fabricmark.build import reports_aoc, reports_vitis, sidecars, tool_reports
from fabricmark.build.sidecars import Sidecar
from fabricmark.build.tool_reports import RESOURCES, Report
from fabricmark.systems import catalogue

PARSERS = [*reports_vitis.PARSERS, *reports_aoc.PARSERS]
# In folders these are looked for; a file that is named may have any name.
PATTERNS = (
    "*_csynth.xml", "system_estimate*.xtxt", "kernel_util_routed.rpt", "*.xclbin.info", "*.link_summary",
    "v++*.log",
    "acl_quartus_report.txt", "quartus_sh_compile.log", "*.fit.summary", "lib/json/info.json",
    "lib/json/loops.json", "lib/json/area.json",
)  # fmt: skip
HEADINGS = {"logic": "logic", "registers": "registers", "bram": "BRAM", "uram": "URAM", "dsps": "DSPs"}
MEASURED = ("quartus", "xclbin", "kernel_util", "fit.summary")  # go before what is estimated

app = help.App(help="What the tools' reports say of bitstreams.", no_args_is_help=False)


@app.command("import")
def import_command(
    files: Annotated[list[Path], typer.Argument(help="Reports of v++ or aoc, or folders with such.")],
    bitstream: Annotated[
        Path | None, typer.Option(help="Write it to the sidecar of this bitstream (default: show it only).")
    ] = None,
) -> None:
    """Read what v++, HLS, xclbinutil, aoc and Quartus report: clock, resources, intervals of loops, time."""
    found = [(file, tool_reports.read(file, PARSERS)) for file in _named(files)]
    found.sort(key=lambda pair: pair[1].kind not in MEASURED)
    report = tool_reports.merged([one for _, one in found])
    _show_report(report)
    if bitstream is not None:
        for file in sidecars.write(bitstream, report):
            print(f"written: {file}")


def _named(files: Sequence[Path]) -> Iterator[Path]:
    """The files, and of each folder the reports below it. Raises FabricmarkError (2) for a folder without."""
    for file in files:
        if not file.is_dir():
            yield file
            continue
        below = sorted({one for pattern in PATTERNS for one in file.rglob(pattern)})
        if not below:
            raise FabricmarkError(f"{file}: no report in this folder", "name the folder that the tool wrote")
        yield from below


def _show_report(report: Report) -> None:
    facts = {
        "made by": report.tools, "board": report.shell,
        "clock": f"{terminal.number(report.clock_hz / 1e6)} MHz" if report.clock_hz else "",
        "clock asked for": f"{terminal.number(report.asked_hz / 1e6)} MHz" if report.asked_hz else "",
        "time": _hours(report.seconds) if report.seconds else "",
    }  # fmt: skip
    out = terminal.console()
    terminal.title(out, [f"{name} {value}" for name, value in facts.items() if value] or [report.kind])
    if report.resources:
        columns = [Column("of the chip"), *terminal.numbers(*(HEADINGS[name] for name in RESOURCES))]
        rows = [["taken", *_counts(report.resources)], ["there", *_counts(report.available)]]
        terminal.show(out, columns, rows if report.available else rows[:1])
    kernels = dict.fromkeys([*report.estimated, *report.estimated_hz])
    kinds = list(dict.fromkeys(kind for one in report.estimated.values() for kind in one))
    columns = [Column("kernel, as estimated", key=True), *terminal.numbers("MHz", *kinds)]
    rows = [
        [kernel, _mhz(report.estimated_hz.get(kernel, 0)),
         *(str(report.estimated.get(kernel, {}).get(kind, NOTHING)) for kind in kinds)]
        for kernel in kernels
    ]  # fmt: skip
    if rows:
        terminal.show(out, columns, rows)
    if report.loops:
        columns = [Column("loop", key=True), Column("kernel"), *terminal.numbers("II", "II asked for")]
        terminal.show(
            out,
            columns,
            [[one.name, one.kernel, *_or_nothing(one.interval, one.wanted)] for one in report.loops],
        )


@app.command("table")
def table_command(
    files: Annotated[list[Path] | None, typer.Argument(help="Bitstreams with their sidecars.")] = None,
    published: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            autocompletion=choices.completed(lambda: _published_files()),
            help="Those of a file of systems/bitstreams, too.",
        ),
    ] = None,
    csv_file: Annotated[Path | None, choices.document("--csv", "Write every row.")] = None,
) -> None:
    """Show clock and resources of bitstreams, with their shares of the board's, as publications do."""
    if not files and published is None:
        raise FabricmarkError("no bitstream", "name some, or a file of systems by --published")
    rows = [_row(sidecars.load(file)) for file in files or []]
    rows += _published_rows(published) if published is not None else []
    headings = ["bitstream", "benchmark", "board", *(HEADINGS[name] for name in RESOURCES), "MHz", "time"]
    columns = [Column("bitstream", key=True), Column("benchmark"), Column("board", once=True)]
    terminal.show(terminal.console(), [*columns, *terminal.numbers(*headings[3:])], rows)
    if csv_file is not None:
        paths.write_atomically(csv_file, cells.as_csv([headings, *rows]))


def _published_files() -> list[str]:
    return [one.name for one in catalogue.everything() if one.kind == "bitstreams"]


def _row(sidecar: Sidecar) -> list[str]:
    """A row for a bitstream that was built."""
    named = {name: str(sidecar.values.get(name) or NOTHING) for name in ("benchmark", "board")}
    name = sidecar.bitstream.name.removesuffix(sidecars.ENDING)
    taken = _shares(sidecar.resources(), named["board"])
    return [name, *named.values(), *taken, _mhz(sidecar.number("clock_hz")), _hours(sidecar.seconds)]


def _published_rows(file: str) -> Iterator[list[str]]:
    """Those that others built and published."""
    for name, one in systems.bitstreams(file).items():
        known = one.values.known
        counts = {kind: int(known.get(f"resources.{kind}", 0)) for kind in RESOURCES}
        taken = _shares({kind: number for kind, number in counts.items() if number}, one.board)
        hertz, seconds = known.get("clock", 0), known.get("synthesis_time", 0)
        yield [f"{file}/{name}", one.benchmark, one.board, *taken, _mhz(hertz), _hours(seconds)]


def _shares(counts: Mapping[str, int], board: str) -> list[str]:
    """Each number with its share of what the board's chip has, where that is known: `659200 (51 %)`."""
    try:
        there = systems.board(board).values.known
    except FabricmarkError:  # of a board that no file describes
        there = {}
    found = []
    for kind in RESOURCES:
        all_of = there.get(f"resources.{kind}", 0)
        share = f" ({terminal.percent(counts[kind] / all_of)})" if counts.get(kind) and all_of else ""
        found.append(f"{counts[kind]}{share}" if kind in counts else NOTHING)
    return found


def _counts(counts: Mapping[str, int]) -> list[str]:
    return [str(counts.get(kind, NOTHING)) for kind in RESOURCES]


def _or_nothing(*numbers: int | None) -> list[str]:
    return [NOTHING if one is None else str(one) for one in numbers]


def _mhz(hertz: float) -> str:
    return f"{hertz / 1e6:.2f}" if hertz else NOTHING


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.2f} h" if seconds else NOTHING

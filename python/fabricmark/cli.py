"""The command `fabricmark`: options in, one call, exit code out."""

import codecs
import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

import fabricmark.base.start as start  # before the others
from fabricmark import __version__
from fabricmark.base import choices, help, micro, paths, runtimes, terminal, xrt
from fabricmark.base.errors import BAD_USE, ENVIRONMENT, INTERRUPTED, FabricmarkError, in_lines
from fabricmark.base.terminal import NOTHING, Column
from fabricmark.build import bitstreams as bitstreams_command
from fabricmark.build import emulate as emulation
from fabricmark.build.command import build
from fabricmark.build.design import LANGUAGES
from fabricmark.codec import command as codec_command
from fabricmark.compare import ab, arguments, comparison, resampling
from fabricmark.compare import view as compare_view
from fabricmark.explore.command import explore
from fabricmark.grids import command as grids_command
from fabricmark.inspect.command import inspect
from fabricmark.measure import (
    calibrate,
    campaign_command,
    campaign_run,
    launch,
    launchers,
    listing_view,
    micro_jobs,
    new_network,
    new_system,
    passing,
    record,
    run_shown,
    running,
    scale_run,
    tune,
    tune_kernels,
    verify,
)  # fmt: skip
from fabricmark.measure.scale import MODES, SCOPES
from fabricmark.mesh import command as mesh_command
from fabricmark.predict.command import CALIBRATE, predict
from fabricmark.report import answer, chosen, examples, outputs, run_tables
from fabricmark.simulate.command import simulate
from fabricmark.sites import cluster_command, history_command
from fabricmark.sites import command as sites_command
from fabricmark.systems import calibration, choice, option_types
from fabricmark.systems import command as systems_command
from fabricmark.validate.command import validate

Platform = Annotated[
    str | None, typer.Option(help="Only this OpenCL platform: its index, or part of its name.")
]
Device = Annotated[str | None, typer.Option(help="Only this device: its index, or part of its name.")]
LAUNCHER = typer.Option(
    metavar="NAME",
    autocompletion=choices.completed(launchers.names),
    help="What starts MPI processes, of `fabricmark list --launchers` (default: the first that can be used).",
)
STATISTIC = choices.one_of(list(resampling.LEVELS), "What stands for a run.")
REST = {"allow_extra_args": True, "ignore_unknown_options": True}  # what follows ` -- ` is another's
READER_GONE = 141  # what a shell says of a program that SIGPIPE ended
NO_OUTPUT = "send the output elsewhere; results that are already in files are kept"


class OneLineErrors(help.App):
    """A Typer application whose every error is one line `fabricmark: error: cause; remedy`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115 (None where it was closed)
        if sys.stdout is None:
            sys.exit(fail(FabricmarkError("standard output is closed", NO_OUTPUT, ENVIRONMENT)))
        for stream in (sys.stdout, sys.stderr):
            _speak_utf8(stream)
        words = (args[0] if args else kwargs.get("args")) or sys.argv[1:]
        try:
            with contextlib.ExitStack() as stack:
                if _is_for_a_document(words):  # which is written past what follows (`paths.write_atomically`)
                    nothing = open(os.devnull, "w", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
                    stack.enter_context(contextlib.redirect_stdout(stack.enter_context(nothing)))
                code = super().__call__(*args, standalone_mode=False, **kwargs)
            sys.stdout.flush()
        except TyperException as error:
            help_line = "see `fabricmark --help`; a program's own options go after ` -- `"
            code = fail(FabricmarkError(error.format_message().rstrip("."), help_line))
        except FabricmarkError as error:
            code = fail(error)
        except (KeyboardInterrupt, typer.Abort):
            code = fail(FabricmarkError("interrupted", "start it again", INTERRUPTED))
        except SystemExit as ended:  # rich's, where a reader such as `head` has gone
            code = READER_GONE if isinstance(ended.__context__, BrokenPipeError) else ended.code
        except OSError as error:
            code = unwritten(error)
        except Exception as error:
            if os.environ.get("FABRICMARK_DEBUG"):
                raise
            code = fail(internal(error))
        sys.exit(code if isinstance(code, int) else 0)


def _is_for_a_document(words: Sequence[str]) -> bool:
    """Whether an option's file is standard output: tables and lines beside the document would corrupt it."""
    own = words[: words.index("--")] if "--" in words else words
    apart = [part for word in own for part in (word.split("=", 1) if word.startswith("--") else [word])]
    return any(
        option.startswith("--") and paths.is_standard_output(Path(file)) for option, file in pairwise(apart)
    )


def _speak_utf8(stream: Any) -> None:
    """Without a locale Python may know ASCII only; names are bytes, which terminals show as UTF-8."""
    if codecs.lookup(stream.encoding or "utf-8").name == "ascii" and hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")


def internal(error: Exception) -> FabricmarkError:
    """What no check has foreseen, as one line; bad input shall not get here."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "scipy":
        remedy = "take an installation of Fabricmark (`make install`): a bundle brings no SciPy"
        return FabricmarkError("this needs SciPy, which is not here", remedy, ENVIRONMENT)
    cause = f"internal error: {type(error).__name__}: {error}"
    remedy = "please report it with what FABRICMARK_DEBUG=1 in the environment prints"
    return FabricmarkError(cause, remedy, ENVIRONMENT)


def fail(error: FabricmarkError) -> int:
    """Print the line of an error, of several errors one each, and hand back the exit code."""
    print(in_lines(error), file=sys.stderr)
    return error.exit_code


def unwritten(error: OSError) -> int:
    """Say what could not be written and hand back the exit code; a reader that has gone knows it already."""
    # What is left in the buffer must not fail once more at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return READER_GONE
    cause = f"cannot write {error.filename or 'standard output'}: {error.strerror}"
    return fail(FabricmarkError(cause, NO_OUTPUT, ENVIRONMENT))


app = OneLineErrors(
    help="Measure, model and predict FPGA systems and the accelerators beside them.",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"fabricmark {__version__}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Measure, model and predict FPGA systems and the accelerators beside them."""


@app.command("list")
def list_command(
    name: Annotated[str | None, choices.program("Show the kernels and parameters of this benchmark.")] = None,
    devices: Annotated[bool, typer.Option("--devices", help="Show the devices of every runtime.")] = False,
    of_mpi: Annotated[
        bool, typer.Option("--launchers", help="Show what can start MPI processes, and what does.")
    ] = False,
) -> None:
    """List the benchmarks, their parameters, the devices, or the launchers."""
    if devices:
        listing_view.show_devices()
    elif of_mpi:
        listing_view.show_launchers()
    elif name is not None:
        listing_view.show_benchmark(name)
    else:
        listing_view.show_benchmarks()


@app.command("run", cls=passing.Command, context_settings=passing.SETTINGS)
def run_command(
    context: typer.Context,
    name: Annotated[
        str,
        choices.program(
            f"A name of `fabricmark list`, {running.ALL} (benchmarks), {micro.GROUP} (a short set of "
            "micro-benchmarks), or a campaign.toml.",
            running.ALL,
            micro.GROUP,
        ),
    ],
    extra: Annotated[
        list[str] | None, typer.Argument(help="After ` -- `: options for the program, for example --size.")
    ] = None,
    runtime: Annotated[str | None, choices.runtime("Only on this runtime.", every=True)] = None,
    ranks: Annotated[
        int | None,
        typer.Option(
            min=1, max=launch.MOST_RANKS, help="Ranks in one process (default: 1; micro-benchmarks: 2)."
        ),
    ] = None,
    mpi: Annotated[
        int | None, typer.Option(min=1, max=launch.MOST_PROCESSES, help="MPI processes, by a launcher.")
    ] = None,
    launcher: Annotated[str | None, LAUNCHER] = None,
    platform: Platform = None,
    device: Device = None,
    system: Annotated[str | None, option_types.system("Banks and bitstreams of this system")] = None,
    board: option_types.Board = None,
    bitstream_id: option_types.BitstreamId = None,
    transport: option_types.Transport = None,
    emulate: Annotated[bool, typer.Option("--emulate", help="On emulated cards, under AMD's XRT.")] = False,
    backend: Annotated[
        str | None, choices.one_of(list(xrt.NAMES), "With --emulate: XRT by OpenCL or natively (default).")
    ] = None,
    language: Annotated[
        str | None,
        choices.one_of(list(LANGUAGES), "Of the kernels: hls with --emulate, sycl on SYCL's devices."),
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder for the result files.")] = campaign_run.OUTPUT,
    both: Annotated[
        bool,
        typer.Option(
            "--both", help="On CPUs the design for FPGAs and the optimized kernel, where both are quick."
        ),
    ] = False,
    with_pictures: Annotated[
        bool,
        typer.Option("--pictures", help="A short run of each application, too, for pictures in the report."),
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="A campaign: run also what has a result.")] = False,
    site: Annotated[
        str | None,
        typer.Option(
            metavar="FILE[:ALLOCATION]",
            help="A campaign: links, hooks, bitstreams of this site.",
            rich_help_panel="Measurement",
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Of several runs, too, all tables.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the closing line and errors.")] = False,
) -> None:
    """Run a benchmark on every device found, or what is left of a campaign, and report."""
    if campaign_run.is_campaign(name):
        given = (
            extra or None, runtime, ranks, mpi, launcher, platform, device,
            system, board, bitstream_id, transport, emulate or None, backend, language, both or None,
            with_pictures or None,
        )  # fmt: skip
        raise typer.Exit(_run_campaign(name, given, output, again, full, quiet, site))
    if again:
        raise FabricmarkError("--again is for campaigns", "leave it out: a benchmark always runs")
    if site is not None:
        raise FabricmarkError("--site is for campaigns", "write a campaign file, or leave it out")
    emulation.check(emulate, backend, language, (runtime, platform, device, both or None))
    words = passing.checked(context, name, extra or [])
    words += _words({"--platform": platform, "--device": device, "--language": None if emulate else language})
    launch.check_ranks(ranks, mpi, launcher)
    programs = micro_jobs.wanted(name)
    names = [one.name for one in programs] or running.names_of(name)
    wanted = choice.wanted(system, board, bitstream_id, transport)
    shown = run_shown.Shown(output, system, full, quiet)
    if emulate:
        job = launch.Job(name, runtimes.SYSTEM, None, ranks or 1, mpi, output, launcher=launcher)
        emulated = emulation.run(job, wanted, words, backend, language, running.of_system, shown.jobs)
        raise typer.Exit(emulated)
    words += running.of_system(wanted, names, words, output) or _words({"--transport": transport})
    paths.make_folder(output)
    places = micro_jobs.Places(runtime, words, is_group=name == micro.GROUP)
    found = _jobs(programs, names, places, ranks, mpi, output)
    found = running.with_optimized(found) if both and not programs else found
    todo = [replace(job, launcher=launcher) for job in found]
    illustrations = list(running.illustrations(todo)) if with_pictures else []
    code = shown.jobs(todo)
    in_short = replace(shown, full=False, quiet=True)
    raise typer.Exit(max(code, in_short.jobs(illustrations)) if illustrations else code)


def _run_campaign(
    name: str, given: Sequence[Any], output: Path, again: bool, full: bool, quiet: bool, site: str | None
) -> int:  # fmt: skip
    """What is left of a campaign; the exit code. `given`: options that its file has, which none may be."""
    if any(one is not None for one in given):
        raise FabricmarkError("a campaign has its options in its file", f"write them into {name}")
    return campaign_run.main(Path(name), output, again, full, quiet=quiet, site=site)


def _words(given: Mapping[str, str | None]) -> list[str]:
    """Options and their values, of those that have one."""
    return [word for option, value in given.items() if value is not None for word in (option, value)]


def _jobs(
    programs: Sequence[micro.Micro],
    names: Sequence[str],
    places: micro_jobs.Places,
    ranks: int | None,
    mpi: int | None,
    output: Path,
) -> Iterator[launch.Job]:
    """Of these micro-benchmarks; where there are none, of benchmarks with these names."""
    if programs:
        return micro_jobs.jobs(programs, places, ranks, mpi, output)
    return running.jobs(names, places.runtime, ranks or 1, mpi, output, places.extra)


@app.command("scale")
def scale_command(
    name: Annotated[str, choices.benchmark("A benchmark or micro-benchmark (fm_...) of `fabricmark list`.")],
    devices: Annotated[str, typer.Option(help="Numbers of ranks, one device each, for example 1,2,4.")],
    extra: Annotated[
        list[str] | None, typer.Argument(help="After ` -- `: options for the program, for example --size.")
    ] = None,
    mode: Annotated[
        str, choices.one_of(list(MODES), "What stays the same: a rank's share or the total.")
    ] = "weak",
    mpi: Annotated[
        bool | None,
        typer.Option("--mpi/--in-process", help="Kind of ranks (default: MPI where found)."),
    ] = None,
    launcher: Annotated[str | None, LAUNCHER] = None,
    parameter: Annotated[str | None, typer.Option(help="What is scaled (default: size).")] = None,
    parameter_is: Annotated[
        str | None, choices.one_of(SCOPES, "How the program takes it (default: as the benchmark says).")
    ] = None,
    runtime: Annotated[str | None, choices.runtime("The OpenCL runtime.")] = None,
    platform: Platform = None,
    device: Device = None,
    banks: Annotated[
        int | None, typer.Option(min=1, help="Memory banks of a device (default: of the program's --system).")
    ] = None,
    kernel_mhz: Annotated[float | None, typer.Option(help="Clock of the kernels, to normalise.")] = None,
    calibrate: Annotated[list[Path] | None, typer.Option(metavar="ROWS", help=CALIBRATE)] = None,
    output: Annotated[Path, typer.Option(help="Folder for the folder of results.")] = Path("results"),
) -> None:
    """Run a benchmark on several numbers of ranks: speed-up and parallel efficiency."""
    words = list(extra or []) + _words({"--platform": platform, "--device": device})
    code = scale_run.main(
        name, devices, mode, mpi, parameter, parameter_is, runtime, banks, kernel_mhz, output, words,
        launcher, calibrate or (),
    )  # fmt: skip
    raise typer.Exit(code)


@app.command("report")
def report_command(
    places: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILES|FOLDERS", help="Result files, or logs of other benchmarks."),
    ] = None,
    of_examples: Annotated[
        bool, typer.Option("--examples", help="Of results that come with Fabricmark, to see what it says.")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Also save a page of tables and plots.")] = None,
    png: Annotated[Path | None, typer.Option(help="Also save the plots, into this folder.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Also save what the terminal shows as a picture.")] = None,
    csv: Annotated[Path | None, choices.document("--csv", "Every metric as a row of CSV.")] = None,
    markdown: Annotated[Path | None, choices.document("--markdown", "The same as Markdown.")] = None,
    reference: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Curves at stations, which those of runs are drawn beside."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="All tables, a run each, in place of the answer.")
    ] = False,
    sizes: Annotated[
        bool,
        typer.Option(
            "--sizes",
            rich_help_panel="Output",
            help="The same with all sizes: bytes, time, bandwidth, limit, #wrong.",
        ),
    ] = False,
    benchmark: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this benchmark, with its tables.")
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--filter", metavar="TEXT", help="Only results with this text: a name, verdict or name=value."
        ),
    ] = None,
    order: Annotated[
        str, choices.one_of(list(answer.ORDERS), "What comes first.", "--sort")
    ] = chosen.DEFAULT_ORDER,
) -> None:
    """Show what result files say, beside models and physical limits: an answer first, tables on request."""
    wanted = chosen.Wanted(full, benchmark, text, order, sizes)
    with contextlib.ExitStack() as stack:
        given = list(places or [])
        if of_examples == bool(given):
            cause = "--examples with other results" if given else "Missing argument FILES|FOLDERS"
            raise FabricmarkError(cause, "name files or folders, such as results, or --examples alone")
        given = given or [stack.enter_context(examples.at_their_machine())]
        found = outputs.main(given, html, png, svg, csv, markdown, reference, wanted)
    for error in found.errors:
        fail(error)
    failed = max((failure.exit_code for failure in found.failures), default=0)
    raise typer.Exit(BAD_USE if found.errors else max(failed, run_tables.exit_code(found.results)))


@app.command("calibrate")
def calibrate_command(
    again: Annotated[bool, typer.Option("--again", help="Measure even what is known.")] = False,
    runtime: Annotated[str, choices.runtime("Devices of this runtime.", every=True)] = "all",
) -> None:
    """Measure the limits of each device once: copies, transfers, launch, arithmetic, random updates."""
    rows: list[list[object]] = []
    for runtime_name, device in running.each_real_device(runtime):
        known, now = calibrate.ensure(runtime_name, device, again=again)
        board = calibration.board(known)
        copies = [known[f"{way}_bytes_per_second"] for way in ("write", "read")]
        # Floats, and the largest table: what most programs are about.
        updates = board.updates_per_second[-1][1] if board.updates_per_second else None
        rates = (board.memory_bytes_per_second, *copies, board.get("arithmetic.float"), updates)
        shown = [NOTHING if rate is None else f"{rate / 1e9:.4g}" for rate in rates]
        state = "measured now" if now else "known"
        rows.append([runtime_name, board.name, *shown, f"{board['host.launch_latency'] * 1e6:.3g}", state])
    columns = [Column("runtime", key=True), Column("device", key=True)]
    columns += terminal.numbers("memory GB/s", "to device GB/s", "from device GB/s", "float GFLOP/s")
    columns += [*terminal.numbers("random GUOP/s", "launch us"), Column("state")]
    terminal.show(terminal.console(), columns, rows)


@app.command("tune", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def tune_command(
    context: typer.Context,
    runtime: Annotated[str, choices.runtime("Devices of this runtime.", every=True)] = "all",
    ranks: Annotated[int, typer.Option(help="Ranks in one process; 0: none.", min=0)] = 2,
    mpi: Annotated[int, typer.Option(help="MPI processes; 0: none.", min=0)] = 2,
    names: Annotated[
        str, typer.Option("--kernels", help="Kernels of these benchmarks instead, or all.")
    ] = "",
    shown: Annotated[bool, typer.Option("--show", help="Show what is kept, and measure nothing.")] = False,
) -> None:
    """Measure once in which way messages of each size travel the fastest; later runs take that.

    What follows ` -- ` are options of fm_tune, such as `--transport host` or `--rounds 50`. With --kernels:
    the fastest values of kernels' parameters; what follows ` -- ` are options of the benchmarks.
    """
    ways, of_kernels = [], []
    if not names:
        ways = tune.known() if shown else tune.run(tune.Wanted(runtime, ranks, mpi, tuple(context.args)))
    if names or shown:
        chosen = tune_kernels.Wanted(tuple(names.split(",")), runtime, tuple(context.args))
        of_kernels = tune_kernels.known() if shown else tune_kernels.run(chosen)
    if ways:
        tune.show(ways)
    if of_kernels:
        tune_kernels.show(of_kernels)
    if not ways and not of_kernels:
        print(f"nothing is kept in {tune.folder()}")


@app.command("verify", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def verify_command(
    context: typer.Context,
    benchmark: Annotated[str, choices.benchmark("The application.")],
    case: Annotated[str, typer.Argument(metavar="[CASE,CASE|all]", help="Its cases.")] = verify.ALL,
    runtime: Annotated[str, choices.runtime("The first device of this runtime.")] = runtimes.SYSTEM,
    ranks: Annotated[int, typer.Option(help="Ranks in one process.", min=1)] = 1,
) -> None:
    """Run the cases of an application whose solution is known, and print what they reach and have to.

    What follows ` -- ` are more options for the program. The exit code is 1 where something is not reached.
    """
    cases = () if case == verify.ALL else tuple(case.split(","))
    if not verify.verify(verify.Wanted(benchmark, cases, runtime, ranks, tuple(context.args))):
        raise typer.Exit(1)


@app.command("runtimes")
def runtimes_command(
    action: Annotated[str | None, typer.Argument(metavar="[install", help="Install a runtime.")] = None,
    name: Annotated[str | None, typer.Argument(metavar="NAME]", help="Its name.")] = None,
) -> None:
    """List the runtimes, or install one from PyPI or Debian (no root needed)."""
    if action is None:
        print(f"{runtimes.SYSTEM}: whatever the OpenCL loader finds")
        for runtime in runtimes.INSTALLABLE.values():
            state = "installed" if runtime.installed() else "not installed"
            print(f"{runtime.name}: {runtime.meaning}, {state} ({', '.join(runtime.packages)} from PyPI)")
        state = "installed" if xrt.find() is not None else "not installed"
        print(f"{xrt.INSTALLED}: AMD's runtime for --emulate, {state} ({xrt.PACKAGE} of Debian)")
    elif action != "install" or name is None:
        raise FabricmarkError("bad use of `runtimes`", "write `fabricmark runtimes install NAME`")
    else:
        installed_now = xrt.install() if name == xrt.INSTALLED else runtimes.install(name)
        print(f"{name}: {'installed' if installed_now else 'was already installed'}")


@app.command("compare", context_settings={"ignore_unknown_options": True})
def compare_command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="--base FILES|FOLDERS --new FILES|FOLDERS | FOLDER_A FOLDER_B",
            help="Result files of the two sides.",
        ),
    ],
    threshold: Annotated[str, typer.Option(help="Differences up to this share do not matter.")] = "5%",
    statistic: Annotated[str, STATISTIC] = "median",
    ignore: Annotated[str, typer.Option(help="Conditions that may differ: device,size,...")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resampling.")] = resampling.SEED,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the comparison here.")] = None,
) -> None:
    """Compare runs of two sides; exit code 1 when a metric got worse."""
    settings = arguments.settings(arguments.share(threshold, "--threshold"), statistic, ignore, seed)
    found = comparison.compare(*arguments.load_sides(words), settings)
    raise typer.Exit(compare_view.finish(found, json_file))


@app.command("ab")
def ab_command(
    command_a: Annotated[str, typer.Argument(help="The base, quoted: 'fm_stream --size 1000'.")],
    command_b: Annotated[str, typer.Argument(help="What is compared with it, quoted.")],
    pairs: Annotated[int, typer.Option(min=2, max=ab.MOST_PAIRS, help="Runs of each command.")] = 10,
    metric: Annotated[
        list[str] | None, typer.Option(help="Only this metric: NAME[,axis=value]; may be repeated.")
    ] = None,
    min_effect: Annotated[str, typer.Option(help="Differences up to this share do not matter.")] = "2%",
    statistic: Annotated[str, STATISTIC] = "median",
    ignore: Annotated[str, typer.Option(help="Conditions that may differ: size,vector_width,...")] = "",
    until_clear: Annotated[bool, typer.Option("--until-clear", help="Add pairs until it is clear.")] = False,
    max_pairs: Annotated[
        int | None, typer.Option(max=ab.MOST_PAIRS, help="... but no more (default: 8 times --pairs).")
    ] = None,
    runtime: Annotated[str | None, choices.runtime("The OpenCL runtime.")] = None,
    output: Annotated[Path, typer.Option(help="Folder for the folder of results.")] = Path("results"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resampling.")] = resampling.SEED,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the comparison here.")] = None,
) -> None:
    """Run two commands interleaved and compare them pair by pair; exit code 1 when a metric got worse."""
    settings = arguments.settings(arguments.share(min_effect, "--min-effect"), statistic, ignore, seed)
    planned = ab.plan(
        (command_a, command_b), ab.looks(pairs, until_clear, max_pairs), metric or [], output, runtime
    )
    try:
        found, is_interrupted = ab.run_pairs(planned, settings)
    except KeyboardInterrupt:
        kept = f"finished results are in {planned.folder}"
        raise FabricmarkError("interrupted", kept, INTERRUPTED) from None
    code = compare_view.finish(found, json_file)
    print(ab.closing_line(planned, found))
    if is_interrupted:
        raise FabricmarkError("interrupted", "what is shown compares the whole pairs", INTERRUPTED)
    raise typer.Exit(code)


systems_command.app.command("new")(new_system.new_command)
systems_command.app.command("network", context_settings=REST)(new_network.network_command)
app.command("record", context_settings=REST)(record.record_command)
app.command("check")(sites_command.check_command)
app.add_typer(sites_command.baseline_app, name="baseline")
app.add_typer(history_command.app, name="history")
app.command("cluster")(cluster_command.cluster_command)
app.command("reframe")(sites_command.reframe_command)
app.add_typer(campaign_command.app, name="campaign")
app.add_typer(mesh_command.app, name="mesh")
app.add_typer(systems_command.app, name="systems")
app.command("bathymetry")(grids_command.bathymetry)
app.command("maps")(grids_command.maps)
app.command("compress")(codec_command.compress)
app.command("decompress")(codec_command.decompress)
app.command("build")(build)
app.add_typer(bitstreams_command.app, name="bitstreams")
app.command("inspect")(inspect)
app.command("validate")(validate)
app.command("predict")(predict)
app.command("simulate")(simulate)
app.command("explore")(explore)

start.done()

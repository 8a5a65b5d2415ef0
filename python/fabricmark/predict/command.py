"""`fabricmark predict`: options in, table, CSV and plot out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from fabricmark import models, systems
from fabricmark.base import choices, kernels, paths, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.micro import PREFIX
from fabricmark.predict import (
    application,
    application_view,
    certainty,
    collectives,
    credit_link,
    extrapolate,
    micro,
    options,
    picture,
    points,
    settings,
    view,
)
from fabricmark.predict.points import Case
from fabricmark.systems import choice, files, local_machine, option_types
from fabricmark.validate.calibrated import HELP as CALIBRATE

BUDGET = "1h"
HELP = {
    "devices": "Numbers of devices: 16, 1,4,16 or 1..64 (powers of two; on a grid: squares).",
    "set": "A parameter (size=2^27) or a value of the system (network.latency=1us); may be repeated.",
    "sweep": "Values of one, as a:b[:step] or a:b:xFACTOR (default x2); may be repeated.",
    "closed_form": "Networks by latency and bandwidth alone, without measured curves.",
    "sensitivity": "Which values of the system move the prediction most, 10 % more of each.",
    "reach": 'The fewest devices that reach this much, as "20 TFLOP/s".',
    "enough": "A value of the system: from where on more of it brings less than 1 %; may be repeated.",
    "beyond": "Predict more devices than the system has, marked with *, and fuller chips than were built.",
    "mesh": "The mesh of an application, as --set mesh=bay:27136 says it, too.",
    "program": "Whose host program: the figures are refused where the closed form is of another one.",
    "from": "Runs of one device to extrapolate from: result files, or published rows; may be repeated.",
    "next_run": "Name so many runs that would narrow the error bar most, within --budget.",
    "budget": f"Of --next-run: for a repetition of all its runs, {BUDGET} by default.",
    "scaling": "weak: sizes are those of one device; strong: of all together.",
}


@dataclass(frozen=True)
class Given:
    """What the command says of where it is predicted for, and how."""

    system: str | None
    transport: str | None
    board: str | None
    bitstream_id: str | None
    program: str | None
    scaling: str
    profile: str
    closed_form: bool
    sensitivity: bool
    reach: str | None
    enough: tuple[str, ...]
    beyond: bool
    from_files: tuple[Path, ...]
    calibrate: tuple[Path, ...] = ()
    next_run: int | None = None
    budget: str | None = None

    @property
    def more(self) -> dict:
        """For a request."""
        return {"profile": self.profile, "closed_form": self.closed_form, "beyond": self.beyond}

    @property
    def learns(self) -> bool:
        return bool(self.calibrate) or self.next_run is not None

    def check_learns_not(self, what: str) -> None:
        """Raises FabricmarkError (2)."""
        if self.learns:
            option = "--calibrate" if self.calibrate else "--next-run"
            raise FabricmarkError(f"{option} with {what}", f"leave out {option}: no rows tell of it")

    @property
    def asked(self) -> tuple[bool, str | None, list[str], bool]:
        """What the lines below a table are about."""
        return (self.sensitivity, self.reach, list(self.enough), self.beyond)

    @property
    def option_of_programs(self) -> str:
        """That names a bitstream or a program; "" for none."""
        if self.bitstream_id is not None:
            return "--bitstream-id"
        return "--program" if self.program is not None else ""

    def options(self) -> dict[str, object]:
        """By their names on the command line, those of systems."""
        names = ("system", "transport", "board", "bitstream_id", "program", "reach", "enough", "closed_form",
                 "sensitivity", "beyond")  # fmt: skip
        found = {f"--{name.replace('_', '-')}": getattr(self, name) for name in names}
        return {
            **found,
            "--from": self.from_files,
            "--calibrate": self.calibrate,
            "--next-run": self.next_run,
        }


def predict(
    name: Annotated[
        str,
        choices.program(
            "The benchmark, collective operation, micro-benchmark (fm_...), credit_link, or a FILE.toml of "
            "your own.",
            credit_link.NAME,
        ),
    ],
    system: Annotated[str | None, option_types.system(more="; several with commas between them")] = None,
    devices: Annotated[str, typer.Option(help=HELP["devices"])] = "1",
    given_words: Annotated[list[str] | None, typer.Option("--set", help=HELP["set"])] = None,
    sweep: Annotated[list[str] | None, typer.Option(help=HELP["sweep"])] = None,
    mesh: Annotated[str | None, typer.Option(help=HELP["mesh"])] = None,
    transport: Annotated[str | None, typer.Option(help=f"{transports.SOME}; several with commas.")] = None,
    board: option_types.Board = None,
    bitstream_id: option_types.BitstreamId = None,
    program: Annotated[str | None, choices.one_of(list(options.PROGRAMS), HELP["program"])] = None,
    scaling: Annotated[str, choices.one_of(points.SCALING, HELP["scaling"])] = points.WEAK,
    profile: option_types.Profile = "fitted",
    closed_form: Annotated[bool, typer.Option("--closed-form", help=HELP["closed_form"])] = False,
    sensitivity: Annotated[bool, typer.Option(help=HELP["sensitivity"])] = False,
    reach: Annotated[str | None, typer.Option(help=HELP["reach"])] = None,
    enough: Annotated[list[str] | None, typer.Option(help=HELP["enough"])] = None,
    beyond: Annotated[bool, typer.Option("--beyond", help=HELP["beyond"])] = False,
    from_files: Annotated[list[Path] | None, typer.Option("--from", help=HELP["from"])] = None,
    calibrate: Annotated[list[Path] | None, typer.Option(metavar="ROWS", help=CALIBRATE)] = None,
    next_run: Annotated[int | None, typer.Option("--next-run", min=1, max=50, help=HELP["next_run"])] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", rich_help_panel="Model", help=HELP["budget"])
    ] = None,
    csv_file: Annotated[Path | None, choices.document("--csv", "Write every prediction.")] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help="Draw it: FILE.png or FILE.svg.")] = None,
) -> None:
    """Predict a benchmark or a collective operation on a described system: metric, limit, time by phase."""
    given = Given(
        system, transport, board, bitstream_id, program, scaling, profile, closed_form, sensitivity, reach,
        tuple(enough or ()), beyond, tuple(from_files or ()), tuple(calibrate or ()),
        next_run, budget,
    )  # fmt: skip
    if budget is not None and next_run is None:
        raise FabricmarkError("--budget without --next-run", "say how many runs are wanted")
    if name == credit_link.NAME:
        others = {**given.options(), "--mesh": mesh, "--plot": plot_file}
        for option in (one for one, value in others.items() if value):
            raise FabricmarkError(
                f"{option} with {name}", "its values are given by --set, --sweep and --profile"
            )
        credit_link.show(options.settings(given_words or []), options.sweeps(sweep or []), profile, csv_file)
        return
    if name.endswith(application.ENDING):
        _show_application(Path(name), given, devices, given_words, [("--mesh", mesh), ("--plot", plot_file),
                          ("--sweep", sweep)], csv_file)  # fmt: skip
        return
    program_name, collective = _meant(name)
    if scaling not in points.SCALING:
        raise FabricmarkError(f"there is no scaling {scaling}", f"use {' or '.join(points.SCALING)}")
    if plot_file is not None:
        picture.check_picture(plot_file)
    name = collective or name
    words = options.settings([*(given_words or []), *([f"mesh={mesh}"] if mesh is not None else [])])
    axes_of = options.sweeps(sweep or [])
    counts = options.device_counts(devices, name)
    cases = _cases(name, program_name, collective, given, words, axes_of, counts)
    if taken := options.which(devices, name):
        cases[0] = replace(cases[0], about=[f"devices {devices}: {taken}", *cases[0].about])
    view.show(cases)
    if csv_file is not None:
        paths.write_atomically(csv_file, view.table_csv(cases))
    if plot_file is not None:
        picture.save_plot(cases, plot_file)


def _show_application(
    file: Path, given: Given, devices: str, words: Sequence[str] | None, others: Sequence[tuple[str, object]],
    csv_file: Path | None,
) -> None:  # fmt: skip
    """A program of the user's. Raises FabricmarkError (2)."""
    takes = ("--system", "--transport", "--board", "--beyond")
    refused = [*given.options().items(), *others]
    for option in (one for one, value in refused if value and one not in takes):
        raise FabricmarkError(f"{option} with {file}", f"use --devices, --set, {', '.join(takes)}")
    where = {"system": given.system, "transport": given.transport, "board": given.board}
    counts = options.device_counts(devices, str(file))
    application_view.show(
        file, where, counts, options.settings(words or []), csv_file, beyond=given.beyond,
        profile=given.profile,
    )  # fmt: skip


def _meant(name: str) -> tuple[str, str | None]:
    """(the micro-benchmark's program, "" for none; the collective operation, None for none). Raises
    FabricmarkError (2) for what is neither nor a benchmark."""
    if name.startswith(PREFIX) and micro.is_one(name):
        return name, micro.operation(name)
    collective = collectives.operation(name) if models.find(name) is None else None
    if collective is None:
        check_benchmark(name)
    return "", collective


def _cases(
    name: str, program_name: str, collective: str | None, given: Given, words: Mapping[str, str],
    axes_of: Sequence[options.Sweep], counts: Sequence[int],
) -> list[Case]:  # fmt: skip
    """Of a benchmark, an operation or a micro-benchmark. Raises FabricmarkError (2)."""
    if given.from_files:
        return [_extrapolated(name, given, words, axes_of, counts, collective)]
    if given.system is None:
        raise FabricmarkError(f"nothing says on which system {name} runs", "give --system, or --from")
    if collective is not None:
        is_program = bool(program_name)
        all_parts = is_program and collective in micro.ALL_PARTS
        predicted = partial(collectives.cases, of_ranks=is_program, all_parts=all_parts)
        found = _of_network(predicted, name, given, words, axes_of, counts)
        return micro.of_operation(program_name, name, found) if program_name else found
    if program_name:
        return _of_network(micro.cases, name, given, words, axes_of, counts)
    return list(_of_systems(name, given, words, axes_of, counts))


def _extrapolated(
    name: str, given: Given, words: Mapping[str, str], sweeps: Sequence[options.Sweep], counts: Sequence[int],
    collective: str | None,
) -> Case:  # fmt: skip
    """From measured runs. Raises FabricmarkError (2)."""
    given.check_learns_not("--from")
    if collective is not None or micro.is_one(name) or sweeps or any(given.asked) or given.closed_form:
        raise FabricmarkError("--from takes --devices, --set size, --scaling", "leave out the others")
    if option := given.option_of_programs:
        raise FabricmarkError(f"{option} with --from", "leave it out: runs were measured")
    where = {"system": given.system, "transport": given.transport, "board": given.board}
    return extrapolate.case(name, list(given.from_files), words, counts, given.scaling, where)


def _of_network(
    predicted: Callable[..., list[Case]], name: str, given: Given, words: Mapping[str, str],
    sweeps: Sequence[options.Sweep], counts: Sequence[int],
) -> list[Case]:  # fmt: skip
    """Of an operation of all ranks, or of messages between two. Raises FabricmarkError (2)."""
    if given.scaling != points.WEAK or given.reach or given.enough:
        cause = f"{name} is no benchmark: it has no --scaling, --reach and --enough"
        raise FabricmarkError(cause, "use --devices, --set and --sweep")
    given.check_learns_not(name)
    if option := given.option_of_programs:
        raise FabricmarkError(f"{name} has no kernel and no program", f"leave out {option}")
    return predicted(
        name, given.system, given.transport, counts, words, sweeps, given.board,
        sensitive=given.sensitivity, **given.more,
    )  # fmt: skip


def _of_systems(
    name: str, given: Given, words: Mapping[str, str], sweeps: Sequence[options.Sweep], counts: Sequence[int]
) -> Iterator[Case]:
    """Of a benchmark over each transport of each system. Raises FabricmarkError (2)."""
    for one in options.names(given.system, "--system"):
        for over in options.names(given.transport, "--transport"):
            wanted = choice.Wanted(one, given.board, given.bitstream_id, over, given.profile)
            chosen = choice.choose(name, wanted)
            found = chosen.narrowed
            if found.board.device_class != choice.FPGA:  # one of this machine
                found = local_machine.with_limits(found)
            found = settings.without_curves(found) if given.closed_form else found
            request = points.PredictionRequest(name, found, chosen.transport, given.scaling, **given.more)
            case = _case(request, one, words, sweeps, counts)
            case = _learning(case, given, one) if given.learns else case
            taken = {point.bitstream for point in case.points}
            bitstream = min(taken) if len(taken) == 1 else ""
            own = options.program_of(case.request, given.program, bitstream)
            about = [
                *case.about,
                *choice.said(chosen, taken, given.board),
                *options.program_line(case.request, own, bitstream),
            ]
            case = replace(case, about=about, program=own)
            yield replace(case, about=[*about, *view.lines(case, *given.asked)])


def _learning(case: Case, given: Given, system: str) -> Case:
    """With what rows tell, and which runs would tell more. Raises FabricmarkError (2)."""
    from fabricmark.predict import calibrated, next_run  # imported here: a plain prediction shall not wait

    runs = []
    if given.calibrate:
        calibration = calibrated.read(given.calibrate, case.request.system, system, given.profile)
        case, runs = calibrated.learning(case, calibration), calibration.runs
    if given.next_run is None:
        return case
    budget = options.duration(given.budget or BUDGET)
    return replace(case, about=[*case.about, *next_run.lines(case, runs, given.next_run, budget)])


def _case(
    request: points.PredictionRequest, system: str, words: Mapping[str, str], sweeps: Sequence[options.Sweep],
    counts: Sequence[int],
) -> Case:  # fmt: skip
    """The predictions of one system over one transport. Raises FabricmarkError (2)."""
    given = dict(zip(words, options.numbers(request.benchmark, list(words.items())), strict=True))
    of_system = {key: value for key, value in given.items() if "." in key}
    of_benchmark = {key: value for key, value in given.items() if "." not in key}
    request = replace(request, given=of_benchmark, overrides=of_system)
    axes = {one.name: options.axis(one, request.benchmark) for one in sweeps}
    options.check_swept(axes, given)
    options.check_points(counts, axes)
    predicted, assumed = points.predict(request, counts, axes)
    return Case(request, predicted, certainty.certainty_of(request, predicted, system), assumed)


def check_benchmark(name: str) -> None:
    """Raises FabricmarkError (2) for what has no model, and says so of what has bitstreams all the same."""
    if name not in kernels.benchmark_names() and any(
        one.benchmark == name
        for file in files.listed("bitstreams")
        for one in systems.bitstreams(file).values()
    ):
        cause = f"{name} has bitstreams in systems/bitstreams, but no model"
        raise FabricmarkError(cause, f"predict one of {', '.join(models.names())}")
    kernels.check_benchmark(name)

"""What `fabricmark scale` is asked for: numbers of ranks, and what the scaled parameter is set to on each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base import kernels, runtimes
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.kernels import Parameter
from fabricmark.measure import running
from fabricmark.measure.launch import MOST_PROCESSES
from fabricmark.systems import export

MODES = {"weak": ("weak",), "strong": ("strong",), "both": ("weak", "strong")}
SCOPES = ("per-rank", "total")
SIZES = ("size", "batch", "log_size")  # what is scaled where nobody says: the first that a benchmark has
LOGARITHM = "log_"  # how parameters begin that are logarithms, to the base of two


@dataclass(frozen=True)
class Request:
    """What is asked for. `value`: of the scaled parameter as given, None: the program's default.

    `scope`: whether the program takes the parameter `per-rank` or as the `total` of all ranks. `multiple`: of
    what a value that a root is taken for is kept a whole multiple.
    """

    benchmark: str
    ranks: tuple[int, ...]
    modes: tuple[str, ...]
    mpi: bool
    parameter: Parameter | None
    scope: str
    value: int | None
    runtime: str
    extra: tuple[str, ...]  # options for the program, without that parameter
    folder: Path
    multiple: int = 1
    launcher: str | None = None  # of MPI processes
    usual_ranks: int = 1  # that the program has without --ranks


def parse_ranks(text: str) -> tuple[int, ...]:
    """`1,2,4` as ascending numbers. Raises FabricmarkError (2)."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() and len(word) < 8 for word in words):
        raise FabricmarkError(f"--devices {text!r} is not a list of numbers", "write it like 1,2,4")
    numbers = sorted({int(word) for word in words})
    if numbers[0] < 1 or numbers[-1] > MOST_PROCESSES:
        raise FabricmarkError(f"--devices {text!r}: out of range", f"use numbers from 1 to {MOST_PROCESSES}")
    return tuple(numbers)


def split_words(words: Sequence[str], parameter: Parameter | None) -> tuple[str | None, tuple[str, ...]]:
    """(the parameter's value among a program's options, the other options). Raises FabricmarkError (2)."""
    found: str | None = None
    rest: list[str] = []
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        if name == "--json":
            raise FabricmarkError("--json is set by `fabricmark scale`", "choose a folder with --output")
        if parameter is not None and name == parameter.option:
            found = value if equals else next(left, "")
        elif name == "--ranks":
            raise FabricmarkError("--ranks is set by `fabricmark scale`", "choose them with --devices")
        else:
            rest.append(word)
    return found, tuple(rest)


def whole_value(benchmark: str, parameter: Parameter | None, text: str | None) -> int | None:
    """A value as the program takes it; None where none is given. Raises FabricmarkError (2)."""
    if parameter is None or text is None:
        return None
    return kernels.ask([kernels.settings(benchmark, {parameter.name: text})])[0]["parameters"][parameter.name]


def chosen_parameter(benchmark: str, name: str | None, modes: Sequence[str]) -> Parameter | None:
    """The parameter to scale; by default the first of SIZES it has. Raises FabricmarkError (2)."""
    known = kernels.kernel(benchmark).parameters
    usual = next((size for size in SIZES if size in known), SIZES[0])
    parameter = known.get(name or usual)
    if parameter is None and (name is not None or "strong" in modes):
        cause = f"{benchmark} has no parameter {name or usual}"
        raise FabricmarkError(cause, f"use --parameter with one of {', '.join(known)}, or weak scaling")
    if parameter is not None and parameter.type != "int":
        raise FabricmarkError(
            f"the parameter {parameter.name} is no whole number", "choose another --parameter"
        )
    return parameter


def certain_values(benchmark: str, runtime: str, words: Sequence[str]) -> Mapping[str, object]:
    """The parameters of a run with these options on the devices of a runtime, but for what depends on the
    cores, as ranks may share these; none on devices of several classes. Raises FabricmarkError (2)."""
    classes = {device["class"] for device in kernels.devices(runtime)}
    if len(classes) != 1:
        return {}
    device_class = classes.pop()
    few, many = kernels.ask([kernels.of_words(benchmark, device_class, words, cores) for cores in (1, 2)])
    known = many["parameters"]
    return {name: value for name, value in few["parameters"].items() if known[name] == value}


def follows_ranks(mode: str, scope: str) -> bool:
    """Whether the value that the program gets depends on the number of ranks."""
    return (mode, scope) in (("weak", "total"), ("strong", "per-rank"))


def plan(request: Request) -> list[tuple[str, int, int | None]]:
    """(mode, ranks, what the parameter is set to) of all runs. Raises FabricmarkError (2) as `setting`, or
    for a value that the program does not take."""
    found = [
        (mode, ranks, setting(request, mode, ranks)) for mode in request.modes for ranks in request.ranks
    ]
    name = "" if request.parameter is None else request.parameter.name
    checked = [entry for entry in found if entry[2] is not None]
    asked = [kernels.settings(request.benchmark, {name: value}) for _, _, value in checked]
    for (mode, ranks, _), answer in zip(checked, kernels.answers(asked), strict=True):
        kernels.refused(answer, f"{mode} scaling on {ranks} ranks")
    return found


def setting(request: Request, mode: str, ranks: int) -> int | None:
    """What the parameter is set to: weak keeps a rank's share, strong the total. None: nothing to set.

    Raises FabricmarkError (2) when the total cannot be divided.
    """
    parameter, value = request.parameter, request.value
    follows = follows_ranks(mode, request.scope)
    if parameter is None or (value is None and not follows):
        return None
    if value is None:
        remedy = f"give it: `-- {parameter.option} N`"
        raise FabricmarkError(f"{mode} scaling needs to know {parameter.name}, whose default varies", remedy)
    if follows and parameter.name.startswith(LOGARITHM):
        value = _shifted(value, mode, ranks, parameter)
    elif follows and parameter.dimensions > 1:
        value = _rooted(value, mode, ranks, parameter.dimensions, request.multiple)
    elif mode == "strong" and request.scope == "per-rank":
        if value % ranks:
            step = math.lcm(*request.ranks)
            cause = f"{parameter.name} {value} cannot be divided by {ranks} ranks"
            remedy = f"give a multiple of {step}, such as {max(value // step, 1) * step}"
            raise FabricmarkError(cause, f"{remedy}, after ` -- {parameter.option}`")
        value //= ranks
    elif mode == "weak" and request.scope == "total":
        value *= ranks
    return value


def _rooted(value: int, mode: str, ranks: int, dimensions: int, multiple: int) -> int:
    """A width grown (weak) or shrunk (strong) with the root of the ranks, as the data grow with its power.

    Where that root is no whole number, or does not divide the width: the nearest whole multiple.
    """
    root = round(ranks ** (1 / dimensions))
    is_whole = root**dimensions == ranks
    if is_whole and mode == "weak":
        return value * root
    if is_whole and value % root == 0:
        return value // root
    scaled = value * ranks ** ((1 if mode == "weak" else -1) / dimensions)
    return max(round(scaled / multiple), 1) * multiple


def _shifted(value: int, mode: str, ranks: int, parameter: Parameter) -> int:
    """A logarithm divided among the ranks (strong) or grown with them (weak). Raises FabricmarkError (2)."""
    if ranks & (ranks - 1):
        cause = f"{parameter.name} is a logarithm, and {ranks} ranks are no power of two"
        raise FabricmarkError(cause, "use --devices like 1,2,4,8")
    steps = ranks.bit_length() - 1
    return value - steps if mode == "strong" else value + steps


def usable_runtime(wanted: str | None) -> str:
    """The runtime named, or the first that has a device. Raises FabricmarkError (2 or 3)."""
    if wanted == "all":
        raise FabricmarkError(
            "scaling is measured on one runtime", f"use one of {', '.join(runtimes.names())}"
        )
    return next(running.each_device(wanted))[0]


def system_banks(words: Sequence[str]) -> int | None:
    """Memory banks of the device of the system among a program's options; None where it may be one of several
    or nobody says it. Raises FabricmarkError (2)."""
    given = kernels.options(words)
    if "--system" not in given:
        return None
    system = export.load(Path(given["--system"]))
    bitstream = given.get("--bitstream-id")
    wanted = {one["device"] for one in system["bitstreams"] if one["id"] == bitstream}
    devices = [one for one in system["devices"] if not wanted or one["id"] in wanted]
    return devices[0]["values"]["banks"]["value"] if len(devices) == 1 else None

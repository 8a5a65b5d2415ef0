"""Campaign files: a TOML list of runs becomes a list of points, each with an identity that never changes."""

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base import kernels, runtimes, toml_file
from fabricmark.base.errors import FabricmarkError, check_known
from fabricmark.base.kernels import Kernel
from fabricmark.measure import launchers
from fabricmark.measure.launch import Job

MOST_POINTS = 100_000
COUNTS = ("repetitions", "warmup", "min_time")
PLACES = ("runtime", "platform", "device", "ranks", "mpi")  # each may be a list, an axis of the matrix
OF_MPI = {"hosts": "hosts", "ranks_per_host": "hosts", "launcher": "a launcher"}  # what these keys give
SET_BY_RUN = (*PLACES, *COUNTS, *OF_MPI, "json", "list_devices", "help", "version")
FILE_OPTIONS = ("kernel_file", "bitstream", "system")
# What every program understands besides its parameters, and the type of the value.
OPTIONS = {
    **dict.fromkeys(FILE_OPTIONS, (str,)),
    **dict.fromkeys(("variant", "bitstream_id", "memory", "inject_fault"), (str,)),
    "inject_delay": (str, int, float),
    "timeout": (int, float),
    **dict.fromkeys(("timeline", "skip_validation"), (bool,)),
}


@dataclass(frozen=True, eq=False)
class Point:
    """One run of one program; `settings` are those of the file, in its order and without what is not set."""

    settings: Mapping[str, object]
    folder: Path  # of the campaign file; its options that name files start there

    @property
    def benchmark(self) -> str:
        return str(self.settings["benchmark"])

    @property
    def runtime(self) -> str | None:
        """The OpenCL runtime it asks for; None: the first that has a device."""
        wanted = self.settings.get("runtime")
        return None if wanted is None else str(wanted)

    @property
    def identity(self) -> str:
        """A hash of the settings: the same for the same point, in whatever order a file says it."""
        text = json.dumps(self.settings, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]

    @property
    def file_name(self) -> str:
        return f"{self.benchmark}-{self.identity}.json"

    def label(self) -> str:
        """What a line of progress says of it, for example `stream mpi=2 size=1024 vector_width=4`."""
        plain = {key: value for key, value in self.settings.items() if key in (*PLACES, *COUNTS)}
        values = {**plain, **self.settings["options"]}
        return " ".join([self.benchmark, *(f"{key}={kernels.text(value)}" for key, value in values.items())])

    def words(self) -> tuple[str, ...]:
        """Options for the program."""
        given = {key: self.settings[key] for key in ("platform", "device", *COUNTS) if key in self.settings}
        for name, value in self.settings["options"].items():
            given[name] = self.folder.absolute() / value if name in FILE_OPTIONS else value
        options = {name.replace("_", "-"): value for name, value in given.items()}
        flags = [f"--{name}" for name, value in options.items() if value is True and _is_flag(name)]
        return (
            *(f"--{name}={kernels.text(value)}" for name, value in options.items() if not _is_flag(name)),
            *flags,
        )

    def job(self, runtime: str, output: Path) -> Job:
        """What `launch` starts; `runtime` is an installed one."""
        place = self.settings
        return Job(
            self.benchmark, runtime, None, place.get("ranks", 1), place.get("mpi"),
            output, self.words(), tuple(place.get("hosts", ())), place.get("ranks_per_host"),
            launcher=place.get("launcher"),
        )  # fmt: skip


@dataclass(frozen=True)
class Campaign:
    """A checked campaign file; every point is there once."""

    path: Path
    name: str
    points: tuple[Point, ...]


def load(path: Path) -> Campaign:
    """Read and check a campaign file. Raises FabricmarkError (2) naming file, key and remedy."""
    document = toml_file.load(path, "campaign-1", "give a TOML file as docs/campaign.md shows")
    _check_plain(path, document)
    points: dict[str, Point] = {}
    defaults = {key: document[key] for key in COUNTS if key in document}
    left = MOST_POINTS
    kernels.answers(list(_values(document["runs"])))  # one start for all of them
    for number, run in enumerate(document["runs"]):
        key = f"{path}: runs[{number}]"
        kernel = _check_run(key, run)
        axes = _axes(key, run, kernel, path.parent)
        size = math.prod(len(values) for values in axes.values())
        if size > left:
            raise FabricmarkError(f"{key}: the campaign has more than {MOST_POINTS} points", "split it up")
        left -= size
        for settings in _combinations({**defaults, **run}, axes):
            point = Point(settings, path.parent)
            points.setdefault(point.identity, point)
    return Campaign(path, document["name"], tuple(points.values()))


def _check_plain(path: Path, document: Mapping) -> None:
    """Raises FabricmarkError (2) for numbers and texts that no program could be given."""
    for key, value in toml_file.leaves(document):
        if isinstance(value, float) and not math.isfinite(value):
            raise FabricmarkError(f"{path}: {key}: {value} is not finite", "use a number")
        if not isinstance(value, str):
            continue
        if not value.strip() or not value.isprintable() or value.startswith("-"):
            cause = f"{path}: {key}: {value!r} is empty, starts with - or has unprintable characters"
            raise FabricmarkError(cause, "write a plain text or leave the key out")


def _check_run(key: str, run: Mapping) -> Kernel:
    """Raises FabricmarkError (2) when the keys of a run do not fit each other or what is installed."""
    every = {"benchmark": kernels.benchmark_names, "runtime": runtimes.names, "launcher": launchers.names}
    for what, names in every.items():
        for name in _as_list(run.get(what, [])):
            check_known(name, names(), f"{key}.{what}: there is no {what} {name!r}")
    if "ranks" in run and "mpi" in run:
        raise FabricmarkError(f"{key}: both ranks and mpi", "choose ranks in one process or MPI processes")
    for name, what in OF_MPI.items():
        if name in run and "mpi" not in run:
            raise FabricmarkError(
                f"{key}.{name}: only MPI processes have {what}", "say mpi = N, or leave it out"
            )
    if "hosts" in run and "ranks_per_host" in run:
        places = len(run["hosts"]) * run["ranks_per_host"]
        if max(_as_list(run["mpi"])) > places:
            cause = f"{key}.mpi: {max(_as_list(run['mpi']))} processes do not fit {places} places"
            raise FabricmarkError(cause, "add hosts or raise ranks_per_host")
    return kernels.kernel(run["benchmark"])


def _axes(key: str, run: Mapping, kernel: Kernel, folder: Path) -> dict[str, list]:
    """Every axis of a run's matrix, slowest first: places, then options (of one value), then the matrix."""
    axes = {name: _as_list(run[name]) for name in PLACES if name in run}
    for name in ("platform", "device"):
        if name in axes:  # 0 and "0" are the same index
            axes[name] = list(dict.fromkeys(str(value) for value in axes[name]))
    options, matrix = run.get("options", {}), run.get("matrix", {})
    for name in options.keys() & matrix.keys():
        raise FabricmarkError(f"{key}.matrix.{name}: also in options", "keep it in one of the two")
    for table, values in (("options", {name: [one] for name, one in options.items()}), ("matrix", matrix)):
        for name, several in values.items():
            checked = [_checked(f"{key}.{table}.{name}", name, value, kernel, folder) for value in several]
            axes[f"options.{name}"] = list(dict.fromkeys(checked))
    return axes


def _values(runs: Sequence[Mapping]) -> Iterator[dict]:
    """The requests for the values of all runs, which `_checked` makes again one by one."""
    for run in runs:
        several = [
            *((name, [one]) for name, one in run.get("options", {}).items()),
            *run.get("matrix", {}).items(),
        ]
        for name, values in several:
            yield from (kernels.settings(run["benchmark"], {name: value}) for value in values)


def _checked(place: str, name: str, value: object, kernel: Kernel, folder: Path) -> object:
    """The value as it counts for the identity. Raises FabricmarkError (2) when there is no such setting."""
    if name in kernel.parameters:
        (answer,) = kernels.answers([kernels.settings(kernel.benchmark, {name: value})])
        return kernels.refused(answer, place)["parameters"][name]
    if name not in OPTIONS:
        if name in SET_BY_RUN:
            raise FabricmarkError(
                f"{place}: {name} is no parameter", "it is a key of [[runs]] or set by itself"
            )
        known = [*kernel.parameters, *OPTIONS]
        check_known(name, known, f"{place}: {name} is no parameter of {kernel.benchmark}")
    if not isinstance(value, OPTIONS[name]) or (isinstance(value, bool) and bool not in OPTIONS[name]):
        kinds = " or ".join(kind.__name__ for kind in OPTIONS[name])
        raise FabricmarkError(f"{place}: {kernels.text(value)} is not of type {kinds}", "correct the value")
    if name == "variant":
        check_known(value, kernel.variants, f"{place}: there is no kernel {value!r}")
    if name in FILE_OPTIONS and not (folder / str(value)).is_file():
        raise FabricmarkError(f"{place}: there is no file {value}", "name it from the campaign file's folder")
    return value


def _combinations(run: Mapping, axes: Mapping[str, list]) -> Iterator[dict]:
    """The settings of each point, the last axis varying fastest."""
    fixed = {key: run[key] for key in ("benchmark", "hosts", "launcher") if key in run}
    fixed |= {key: int(run[key]) for key in ("ranks_per_host", "repetitions", "warmup") if key in run}
    fixed |= {"min_time": float(run["min_time"])} if "min_time" in run else {}
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        options = {
            name.removeprefix("options."): chosen.pop(name) for name in axes if name.startswith("options.")
        }
        yield {**fixed, **chosen, "options": options}


def _as_list(value: object) -> list:
    """A list of texts and integers; for a schema 2.0 is an integer too."""
    several = value if isinstance(value, list) else [value]
    return [int(one) if isinstance(one, float) else one for one in several]


def _is_flag(option: str) -> bool:
    return OPTIONS.get(option.replace("-", "_")) == (bool,)

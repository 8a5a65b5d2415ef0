"""Result files: load, check against the schema, and work the metrics out again from the raw samples."""

import json
import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fabricmark.base import paths, units
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.schema import check
from fabricmark.results import disturbances, failures, inner, judgement, timeline, windows
from fabricmark.results.disturbances import Disturbance
from fabricmark.results.versions import OLDEST, SCHEMA, upgraded

REMEDY = "run the benchmark again or leave this file out"
ILLUSTRATIONS = "fields"  # folder beside results: of runs of which the report shows pictures only
SCALING_FILE = "scaling.json"  # of `fabricmark scale`, beside the result files it sums up
SYSTEM_ENDING = ".system.json"  # of the system that `fabricmark run --system` wrote for the programs
OTHER_ENDINGS = (SYSTEM_ENDING, timeline.ENDING, failures.ENDING)  # what else lies in folders of results
PLACES = "placement"  # parameter of micro-benchmarks: where messages leave and arrive, by OMB-FPGA's letters
LETTERS = {"H": "host", "D": "device", "B": "high-bandwidth memory", "P": "on-chip memory"}
LARGEST_INTEGER = 2**64
RATE_PREFIXES = {"G": 1e9, "M": 1e6, "k": 1e3}


@dataclass(frozen=True)
class Measurement:
    """One metric; values in `unit`, `per_rank` samples (ranks x repetitions) in `samples_unit`.

    `starts`: when each rank began each repetition [s], from the first one's start; None where nobody knows.
    `derived`: how it follows from other metrics, in words; it has no samples of its own then.
    `percentiles`: p50, p90, p99 and largest of the inner samples [unit]; None where these were not kept.
    `statistic`: what the only sample of each rank is of all iterations, such as "mean"; else empty.
    """

    name: str
    axes: Mapping[str, object]
    unit: str
    better: str
    kind: str
    best: float
    median: float
    mean: float
    minimum: float
    maximum: float
    work_amount: float | None
    samples_unit: str
    per_rank: list[list[float]]
    starts: list[list[float]] | None = None
    derived: str | None = None
    percentiles: Mapping[str, float] | None = None
    statistic: str = ""

    @property
    def label(self) -> str:
        """Name with the values of its axes, for example `bandwidth triad`."""
        return " ".join([self.name, *(str(value) for value in self.axes.values())])

    def seconds(self) -> list[float]:
        """Time of each repetition [s], of all ranks."""
        return windows.spans(self.per_rank, self.starts)


@dataclass(frozen=True)
class OwnKernel:
    """A kernel file, bitstream or library that is not the suite's: of another digest it is another one."""

    file: str
    digest: str

    def __str__(self) -> str:
        return f"{self.file} ({self.digest[:8]})"


@dataclass(frozen=True)
class Result:
    """One result file; `document` is the whole of it: checked, and in the newest version of the format.

    `writer`: of text output that was read (`logs`), the program that wrote it; "" for result files.
    """

    path: Path
    document: Mapping
    measurements: list[Measurement]
    writer: str = ""

    @property
    def benchmark(self) -> str:
        return self.document["run"]["benchmark"]

    @property
    def ranks(self) -> int | None:
        """None where a log does not say."""
        return self.document["environment"]["ranks"]["count"]

    @property
    def device(self) -> Mapping:
        return self.document["environment"]["device"]

    @cached_property
    def disturbances(self) -> list[Disturbance]:
        """What its host did beside it, the largest first."""
        return disturbances.found(self.document)

    @cached_property
    def contradictions(self) -> list[str]:
        """Why the numbers do not bear out what the file says of itself; see `judgement`."""
        return judgement.contradictions(self)

    @property
    def own_kernel(self) -> OwnKernel | None:
        """The user's own kernel; None for one of the suite, and for files that do not say (before 0.1)."""
        kernel = self.document["run"].get("kernel")
        is_own = kernel is not None and kernel["origin"] != "shipped"
        return OwnKernel(kernel["file"], kernel["digest"]) if is_own else None

    @property
    def transport_library(self) -> OwnKernel | None:
        """The code of a user's own transport of kernels; None over one of the suite."""
        library = self.document["run"].get("transport_library")
        return OwnKernel(Path(library["file"]).name, library["digest"]) if library else None

    def kernel_name(self, with_digest: bool) -> str:
        """`base kernel`; for the user's own `mine.cl (base kernel)` or `mine.cl 0123abcd (base kernel)`.

        Of messages between two places these, `host to device`; of a log, which knows no kernel, its writer.
        """
        if self.writer:
            return self.writer
        if PLACES in self.document["parameters"]:
            letters = str(self.document["parameters"][PLACES]).split()
            return " to ".join(LETTERS.get(letter, letter) for letter in letters)
        own, words = self.own_kernel, f"{self.document['run']['variant']} kernel"
        if own is None:
            return words
        return f"{own.file}{f' {own.digest[:8]}' if with_digest else ''} ({words})"

    def verdict(self) -> str:
        """`valid`, `INVALID`, `not checked` or `incomplete`; see `judgement`."""
        return judgement.verdict(self)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text} is not finite")
    return number


def _bounded(text: str) -> int:
    # The length comes first: Python refuses to read integers of thousands of digits.
    if len(text) > 21 or abs(int(text)) > LARGEST_INTEGER:
        raise ValueError(f"the integer {text[:24]} is too large")
    return int(text)


def read_json(path: Path, remedy: str) -> Any:
    """Parse a JSON file strictly (UTF-8, finite numbers). Raises FabricmarkError (2) naming the file."""
    try:
        text = paths.content(path).decode("utf-8")
        if not text.strip():
            raise ValueError("the file is empty")
        return json.loads(text, parse_float=_finite, parse_int=_bounded, parse_constant=_finite)
    except OSError as error:
        raise FabricmarkError(f"{path}: cannot be read: {error.strerror}", remedy) from error
    except RecursionError as error:
        raise FabricmarkError(f"{path}: nested too deeply to be a result", remedy) from error
    except ValueError as error:
        raise FabricmarkError(f"{path}: not valid JSON: {error}", remedy) from error


def check_version(path: Path, document: object, expected: str, oldest: int | None = None) -> None:
    """Raises FabricmarkError (2) when the document is of another kind or version; from `oldest` on all do."""
    family, _, version = expected.rpartition("/")
    found = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(found, str) or not found.startswith(family + "/"):
        raise FabricmarkError(f'{path}: not a {family} file (no "schema": "{expected}")', REMEDY)
    number = found.removeprefix(family + "/")
    known = [str(each) for each in range(oldest or int(version), int(version) + 1)]
    if number.isascii() and number.isdigit() and len(number) < 10 and int(number) > int(version):
        remedy = f"update fabricmark, which reads {expected}"
        raise FabricmarkError(f"{path}: written by a newer version ({found})", remedy)
    if number not in known:
        raise FabricmarkError(f"{path}: there is no version {found}", REMEDY)


def load(path: Path) -> Result:
    """Read and check one result file. Raises FabricmarkError (2) naming file, cause and remedy."""
    return checked(path, read_json(path, REMEDY))


def checked(path: Path, document: object) -> Result:
    """The result in an already parsed document. Raises FabricmarkError (2) naming file, cause and remedy."""
    check_version(path, document, SCHEMA, OLDEST)
    document = upgraded(document)
    check("result-2", document, path, REMEDY)
    if timeline.PROPERTY in document:
        fault = timeline.first_fault_of(document[timeline.PROPERTY])
        if fault:
            raise FabricmarkError(f"{path}: {timeline.PROPERTY}.{fault[0]}: {fault[1]}", REMEDY)
    measurements = [_measurement(entry) for entry in document["measurements"]]
    for measurement, entry in zip(measurements, document["measurements"], strict=True):
        ranks = document["environment"]["ranks"]["count"]
        fault_found = inner.inconsistency(entry) or inconsistency(measurement, ranks)
        if fault_found:
            raise FabricmarkError(f"{path}: {measurement.label}: {fault_found}", REMEDY)
    return Result(path, document, measurements)


def _measurement(entry: Mapping) -> Measurement:
    plain = {key: entry[key] for key in ("name", "axes", "unit", "better", "kind")}
    numbers = {key: float(entry[key]) for key in ("best", "median", "mean", "minimum", "maximum")}
    work = None if entry["work"] is None else float(entry["work"]["amount"])
    samples = entry["samples"]
    per_rank = [[float(sample) for sample in rank] for rank in samples["per_rank"]]
    starts = [[float(start) for start in rank] for rank in samples["starts"]] if "starts" in samples else None
    return Measurement(
        **plain, **numbers, work_amount=work, samples_unit=samples["unit"], per_rank=per_rank, starts=starts,
        derived=entry.get("derived"), percentiles=entry.get("percentiles"),
        statistic=samples.get("statistic", ""),
    )  # fmt: skip


def values(measurement: Measurement) -> list[float] | None:
    """The value of each repetition, from the raw samples; None where the units do not say how.

    A repetition took from the first rank's start to the last one's end; a rate is the work of all ranks over
    that time.
    """
    if measurement.samples_unit != "s" or not measurement.per_rank:
        return None
    taken = measurement.seconds()
    if measurement.work_amount is None:
        scale = units.TIMES.get(measurement.unit)
        return None if scale is None else [seconds * scale for seconds in taken]
    if not measurement.unit.endswith("/s"):
        return None
    scale = RATE_PREFIXES.get(measurement.unit[0], 1.0)
    return [measurement.work_amount / seconds / scale for seconds in taken]


def inconsistency(measurement: Measurement, ranks: int) -> str | None:
    """What in a metric disagrees with its own raw samples, in words; None when all agrees."""
    if measurement.derived is not None and not measurement.per_rank:
        return None
    lengths = {len(samples) for samples in measurement.per_rank}
    if len(lengths) != 1:
        return "the ranks have different numbers of samples"
    if len(measurement.per_rank) != ranks:
        return f"samples of {len(measurement.per_rank)} ranks, but the run had {ranks}"
    fault = windows.fault_of_starts(measurement.starts, measurement.per_rank, measurement.kind)
    if fault:
        return fault
    if min(measurement.seconds()) <= 0:
        return "a repetition took no time on any rank"
    repetitions = values(measurement)
    if repetitions is None:
        return f"nothing says how {measurement.unit} follow from samples in {measurement.samples_unit}"
    expected = {
        "best": max(repetitions) if measurement.better == "higher" else min(repetitions),
        "median": statistics.median(repetitions),
        "mean": sum(repetitions) / len(repetitions),
        "minimum": min(repetitions),
        "maximum": max(repetitions),
    }
    for key, value in expected.items():
        found = getattr(measurement, key)
        if not math.isclose(found, value, rel_tol=units.RELATIVE_TOLERANCE):
            unit = measurement.unit
            return f"{key} is given as {found:.6g} {unit}, but the raw samples make {value:.6g} {unit}"
    return None


def _reachable(place: Path) -> Path:
    """The place itself. Raises FabricmarkError (2) where the system cannot even look for it."""
    try:
        place.exists()
    except OSError as error:  # a name that is too long, a folder that may not be entered, a loop of links
        raise FabricmarkError(
            f"{place}: {error.strerror}", "give result files or a folder of them"
        ) from error
    return place


def newest_below(folder: Path) -> Path | None:
    """The folder inside this one whose results are the newest; None where this one has results itself."""
    if not _reachable(folder).is_dir() or _results_of(folder.glob("*.json")):
        return None
    below = _results_of(folder.glob("*/*.json"))
    return max(below, key=lambda path: path.lstat().st_mtime_ns).parent if below else None


def has_results(folder: Path) -> bool:
    """Whether result files lie in a folder."""
    return bool(_results_of(folder.glob("*.json")))


def _results_of(files: Iterable[Path]) -> list[Path]:
    """Sorted, without summaries of scaling, systems, timelines, and what is still being written (.NAME)."""
    return sorted(
        path
        for path in files
        if path.name != SCALING_FILE and not path.name.endswith(OTHER_ENDINGS) and path.name[0] != "."
    )


def find_files(places: Iterable[Path]) -> list[Path]:
    """Result files among files and folders (a folder's *.json, not below). Raises FabricmarkError (2)."""
    found: list[Path] = []
    for place in map(_reachable, places):
        if place.is_dir():
            inside = _results_of(place.glob("*.json"))
            if not inside:
                raise FabricmarkError(f"no result files (*.json) in {place}", "run `fabricmark run stream`")
            found += inside
        elif place.exists():
            found.append(place)
        else:
            raise FabricmarkError(f"{place} does not exist", "give result files or a folder of them")
    return list(dict.fromkeys(found))

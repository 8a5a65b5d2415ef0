"""The files of a report: results of runs, summaries of `fabricmark scale`, and modelled timelines."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fabricmark import results
from fabricmark.base.errors import FabricmarkError, printable
from fabricmark.base.schema import check
from fabricmark.results import Result, failures, logs, scaling, timeline
from fabricmark.results.failures import Failure
from fabricmark.results.timeline import Timeline


@dataclass(frozen=True)
class Scaling:
    """One scaling.json, already checked."""

    path: Path
    document: Mapping

    def files(self) -> set[Path]:
        """The result files that it sums up."""
        return {
            (self.path.parent / name).resolve()
            for entry in self.document["series"]
            for name in entry["files"]
        }


@dataclass
class Inputs:
    """What could be read, and one error for each file that could not."""

    results: list[Result] = field(default_factory=list)
    scalings: list[Scaling] = field(default_factory=list)
    timelines: list[Timeline] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    errors: list[FabricmarkError] = field(default_factory=list)


def find(places: Sequence[Path]) -> list[Path]:
    """Result files, logs, and scaling.json and timelines beside them. Raises FabricmarkError (2).

    A folder that has only folders of results, as `make run` and campaigns leave it, stands for the newest.
    """
    places = [_with_results(place) for place in places]
    sums = [place / results.SCALING_FILE for place in places]
    others = (timeline.ENDING, failures.ENDING)
    drawn = {
        place: sorted(path for ending in others for path in place.glob(f"[!.]*{ending}"))
        for place in places
        if place.is_dir()
    }
    # A folder that has only these is one of a program that writes no results, or of runs that all failed.
    others = [place for place in places if not drawn.get(place) or logs.has_results(place)]
    files = [*logs.find_files(others), *(path for path in sums if path.is_file())]
    files += [path for found in drawn.values() for path in found]
    return list(dict.fromkeys(files))


def _failure(file: Path, document: Mapping) -> Failure:
    results.check_version(file, document, failures.SCHEMA)
    check("failure-1", document, file, results.REMEDY)
    return failures.made(file, document)


def _timeline(file: Path, document: Mapping) -> Timeline:
    results.check_version(file, document, timeline.SCHEMA)
    fault = timeline.first_fault_of(document)
    if fault:
        raise FabricmarkError(f"{file}: {fault[0]}: {fault[1]}", results.REMEDY)
    return timeline.made(file, document)


def _with_results(place: Path) -> Path:
    newest = results.newest_below(place)
    if newest is None:
        return place
    print(printable(f"no results directly in {place}; this is its newest folder: {newest}"), file=sys.stderr)
    return newest


def read(files: Sequence[Path]) -> Inputs:
    """Every readable file; a damaged one does not hide the others."""
    found = Inputs()
    for file in files:
        try:
            if logs.is_log(file):
                found.results.append(logs.read(file))
                continue
            document = results.read_json(file, results.REMEDY)
            if _is_of(scaling.SCHEMA, document):
                found.scalings.append(_scaling(file, document))
            elif _is_of(timeline.SCHEMA, document):
                found.timelines.append(_timeline(file, document))
            elif _is_of(failures.SCHEMA, document):
                found.failures.append(_failure(file, document))
            else:
                found.results.append(results.checked(file, document))
        except FabricmarkError as error:
            found.errors.append(error)
    found.failures = failures.standing(found.failures, (result.path for result in found.results))
    return found


def _is_of(newest: str, document: object) -> bool:
    family = newest.rpartition("/")[0] + "/"
    schema = document.get("schema") if isinstance(document, dict) else None
    return isinstance(schema, str) and schema.startswith(family)


def _scaling(file: Path, document: Mapping) -> Scaling:
    results.check_version(file, document, scaling.SCHEMA)
    check("scaling-1", document, file, results.REMEDY)
    for entry in document["series"]:
        lengths = {len(value) for value in entry.values() if isinstance(value, list)}
        if len(lengths) != 1:
            raise FabricmarkError(f"{file}: {entry['name']}: lists of different lengths", results.REMEDY)
    return Scaling(file, document)

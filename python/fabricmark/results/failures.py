"""Runs that ended without a result: of several, each leaves a small file, so that a report can count it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SCHEMA = "fabricmark-failure/1"
ENDING = ".failed.json"
STAMP = re.compile(r"-(\d{8}T\d+Z)-")  # when a run began, in the name of its file


@dataclass(frozen=True)
class Failure:
    """`about`: `hpl on sample-cpu, 2 ranks`; `words`: of `fabricmark`, which run it again."""

    path: Path
    benchmark: str
    about: str
    cause: str
    exit_code: int
    words: Sequence[str]


def place_of(result: Path) -> Path:
    """Where a run is noted whose result would have been this file."""
    return result.with_name(result.stem + ENDING)


def document(failure: Failure) -> dict:
    """What the file holds."""
    return {
        "schema": SCHEMA, "benchmark": failure.benchmark, "about": failure.about, "cause": failure.cause,
        "exit_code": failure.exit_code, "command": list(failure.words),
    }  # fmt: skip


def made(path: Path, found: Mapping) -> Failure:
    """From a checked document."""
    named = (found[key] for key in ("benchmark", "about", "cause", "exit_code", "command"))
    return Failure(path, *named)


def standing(failures: Iterable[Failure], results: Iterable[Path]) -> list[Failure]:
    """Those after which the same run has left no result beside them."""
    ended: dict[tuple, str] = {}
    for path in results:
        about, stamp = _about(path, ".json")
        ended[about] = max(stamp, ended.get(about, ""))
    kept = []
    for failure in failures:
        about, stamp = _about(failure.path, ENDING)
        if about not in ended or ended[about] < stamp:
            kept.append(failure)
    return kept


def _about(path: Path, ending: str) -> tuple[tuple, str]:
    """(folder, name without the time), the time; a name of somebody's own has none."""
    name = path.name.removesuffix(ending)
    stamp = STAMP.search(name)
    return (path.parent.absolute(), STAMP.sub("-", name, count=1)), stamp[1] if stamp else ""

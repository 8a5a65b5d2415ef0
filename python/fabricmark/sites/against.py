"""What tonight is compared with: `last`, `median:N`, or a baseline that a person has set."""

import getpass
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fabricmark import results
from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError, check_known
from fabricmark.base.schema import check
from fabricmark.sites.nights import BASELINES, Night, Series

SCHEMA = "fabricmark-baseline/1"
DEFAULT_NAME = "main"
ENDING = ".json"
NIGHTS = 3  # over which evidence adds up
LEAST = 5  # nights of a baseline, before others than tonight count as evidence
MOST_FOR_SPREAD = 60  # nights that the spread is taken from, beside `last`
USE = "write last, median:N with N from 1 on, or baseline:NAME"


@dataclass(frozen=True)
class Against:
    """`kind`: last, median or baseline; `count`: nights of the median; `name`: of the baseline."""

    kind: str
    count: int = 0
    name: str = ""

    def __str__(self) -> str:
        return {"median": f"median:{self.count}", "baseline": f"baseline:{self.name}"}.get(
            self.kind, self.kind
        )


def parsed(text: str) -> Against:
    """Raises FabricmarkError (2)."""
    kind, colon, rest = text.partition(":")
    if text == "last":
        return Against("last")
    if kind == "median" and re.fullmatch(r"[1-9][0-9]{0,5}", rest):
        return Against("median", int(rest))
    if kind == "baseline" and (not colon or rest):
        return Against("baseline", name=checked_name(rest or DEFAULT_NAME))
    raise FabricmarkError(f"--against {text!r} names nothing to compare with", USE)


def checked_name(name: str) -> str:
    """A name that can be a file's. Raises FabricmarkError (2)."""
    if not re.fullmatch(r"[\w.+-]{1,80}", name, re.ASCII) or name[0] == ".":
        raise FabricmarkError(f"baseline {name!r} cannot be a name", "use letters, digits, - and _")
    return name


@dataclass(frozen=True)
class Chosen:
    """`base`: nights that say what is normal; `spread`: those that say how nights differ; `before`: nights
    before tonight that count as evidence with it, the newest last."""

    base: list[Night]
    spread: list[Night]
    before: list[Night]


def choose(against: Against, nights: Sequence[Night], kept: Sequence[Night], most: int) -> Chosen:
    """Of older nights, the newest last; `kept`: those of a baseline. `most`: nights of evidence, tonight's
    among them. Raises FabricmarkError (2) where there is none.
    """
    if against.kind == "baseline":
        newest = max(night.started for night in kept)
        later = [night for night in nights if night.started > newest]
        return Chosen(list(kept), list(kept), later[len(later) - min(most - 1, len(later)) :])
    if not nights:
        raise FabricmarkError("the history has no older night", "keep a night's results in it first")
    if against.kind == "last":
        return Chosen([nights[-1]], list(nights[-MOST_FOR_SPREAD:]), [])
    more = min(most - 1, max(len(nights) - LEAST, 0))
    split = len(nights) - more
    base = list(nights[max(split - against.count, 0) : split])
    return Chosen(base, base, list(nights[split:]))


@dataclass(frozen=True)
class Baseline:
    """Nights that a person has called normal. `by`: who; `when`: UTC; `note`: why."""

    name: str
    by: str
    when: str
    note: str
    nights: list[Night]


def file_of(history: Path, name: str) -> Path:
    """Beside the nights of a folder, or beside the file of a store."""
    return (history if history.is_dir() else history.parent) / BASELINES / f"{name}{ENDING}"


def names(history: Path) -> list[str]:
    return sorted(path.name.removesuffix(ENDING) for path in file_of(history, "x").parent.glob(f"*{ENDING}"))


def save(history: Path, name: str, nights: Sequence[Night], by: str | None, note: str) -> Baseline:
    """Keep nights under a name, signed. Raises FabricmarkError (2; 3: the disk is full)."""
    who = by or getpass.getuser()
    made = Baseline(
        checked_name(name), who, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), note, [*nights]
    )
    series = sorted({one for night in nights for one in night.values}, key=lambda one: (one.label, one.node))
    if not series:
        raise FabricmarkError(f"baseline {name}: these nights have no valid result", "name other nights")
    document = {
        "schema": SCHEMA, "name": made.name, "by": made.by, "when": made.when, "note": note,
        "nights": [{"label": night.label, "started": night.started} for night in nights],
        "series": [
            {**vars(one), "values": [night.values.get(one) for night in nights]} for one in series
        ],
    }  # fmt: skip
    paths.write_atomically(file_of(history, name), json.dumps(document, indent=1) + "\n")
    return made


def load(history: Path, name: str) -> Baseline:
    """Raises FabricmarkError (2) for one that is not there or damaged."""
    path = file_of(history, name)
    if not path.is_file():
        known = names(history)
        if known:
            check_known(name, known, f"there is no baseline {name} in {path.parent}")
        raise FabricmarkError(f"there is no baseline in {path.parent}", f"`fabricmark baseline set {name}`")
    remedy = "set the baseline again"
    document = results.read_json(path, remedy)
    results.check_version(path, document, SCHEMA)
    check("baseline-1", document, path, remedy)
    nights = [Night(each["label"], each["started"]) for each in document["nights"]]
    for entry in document["series"]:
        series = Series(**{key: value for key, value in entry.items() if key != "values"})
        if len(entry["values"]) != len(nights):
            raise FabricmarkError(f"{path}: {series.label}: values of another number of nights", remedy)
        for night, value in zip(nights, entry["values"], strict=True):
            if value is not None:
                night.values[series] = value
    return Baseline(document["name"], document["by"], document["when"], document["note"], nights)

"""Figures that texts print beside their tables, predicted: data/published/*.csv with the columns of
contini_2024.csv.

What a figure means to a model says `figure` of models/<program>/published.py; without it a figure is listed
and not scored. So the rows of an application count as soon as its model says what they mean. A bound is kept
or missed; it has no relative error.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricmark import models, systems
from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board, _published
from fabricmark.models.machine import Network
from fabricmark.results import figures, partitions, published
from fabricmark.systems import System

TEST = "test"
RELATIONS = ("=", "~", "<", "<=", ">", ">=")
ROLES = ("input", "test", "context")
KINDS = ("measured", "modelled", "estimated", "nominal", "counted")
WORDS = {"relation": RELATIONS, "role": ROLES, "kind": KINDS}
# Of these boards texts leave out the kind of memory.
ABOUT_BOARDS = {"u280": "u280_hbm"}


@dataclass(frozen=True)
class Text:
    """One figure; columns as data/published/README.md tells them. `conditions` by name."""

    id: str
    file: str
    section: str
    system: str
    board: str
    program: str
    transport: str
    devices: str
    conditions: dict[str, str]
    metric: str
    relation: str
    value: float
    unit: str
    kind: str
    role: str
    note: str

    def __hash__(self) -> int:
        return hash((self.file, self.id))

    @property
    def is_apart(self) -> bool:
        """Of an application: partitions are counted and stalls are shares, which no bar for times judges."""
        return models.traits(self.program).is_application


@dataclass(frozen=True)
class Known:
    """What a figure is predicted from: boards of systems, networks by their ids, as a profile has them."""

    profile: str = systems.PROFILES[0]

    def board(self, one: Text) -> Board:
        """The board of a figure, as many as it says. Raises FabricmarkError."""
        board = ABOUT_BOARDS.get(one.board, one.board)
        system = systems.load(one.system or board, self.profile, board if one.system else None)
        return system.board_with(None, int(one.devices or 1))

    def system(self, one: Text) -> System:
        """The system of a figure, as its board has it. Raises FabricmarkError."""
        return systems.load(one.system, self.profile, ABOUT_BOARDS.get(one.board, one.board))

    def partitions(self) -> tuple[partitions.Row, ...]:
        """Those that are printed."""
        return partitions.rows()

    def transport(self, one: Text) -> Network:
        """The network of its transport in its system. Raises FabricmarkError, KeyError."""
        return self.system(one).networks[one.transport]

    def network(self, name: str) -> Network:
        """Raises FabricmarkError."""
        return systems.network(name, self.profile)


@dataclass(frozen=True)
class Compared:
    """A figure that is a test; `predicted` in its unit, None where no model says what it means."""

    text: Text
    predicted: float | None

    @property
    def is_bound(self) -> bool:
        return self.text.relation not in ("=", "~")

    @property
    def is_kept(self) -> bool:
        """Of a bound."""
        value, found = self.text.value, self.predicted
        if found is None:
            return False
        signs = {"<": found < value, "<=": found <= value, ">": found > value, ">=": found >= value}
        return signs[self.text.relation]

    @property
    def error(self) -> float | None:
        """|predicted / printed - 1|; None for a bound, of nothing, and where nothing is predicted."""
        if self.is_bound or self.predicted is None or self.text.value == 0:
            return None
        return abs(self.predicted / self.text.value - 1)


def files(folder: Path | None = None) -> list[Path]:
    """All files with these columns."""
    head = ",".join(figures.COLUMNS)
    found = sorted((folder or published.folder()).glob("*.csv"))
    return [
        path for path in found if paths.content(path).decode("utf-8", "replace").splitlines()[:1] == [head]
    ]


def load(folder: Path | None = None) -> list[Text]:
    """All figures. Raises FabricmarkError (2) with line and remedy."""
    return [text for path in files(folder) for text in load_file(path)]


def load_file(path: Path) -> list[Text]:
    """The figures of one file. Raises FabricmarkError (2) with line and remedy."""
    return [_text(path.name, place, row) for place, row in published.rows(path, figures.COLUMNS)]


def _text(file: str, place: str, row: dict) -> Text:
    published.check(place, row, WORDS, ("id", "section", "metric", "unit"))
    try:
        value = float(row["value"])
    except ValueError:
        raise FabricmarkError(f"{place}: value {row['value']!r} is no number", "correct it") from None
    pairs = [part.strip().partition("=") for part in row["conditions"].split(";") if part.strip()]
    conditions = {name: text for name, _, text in pairs}
    kept = {name: row[name] for name in Text.__dataclass_fields__ if name in row}
    return Text(**{**kept, "file": file, "value": value, "conditions": conditions})


def apart(every: Sequence[Text]) -> dict[str, int]:
    """How many tests of applications each file has."""
    return Counter(one.file for one in every if one.role == TEST and one.is_apart)


def compare(texts: Sequence[Text], known: Known | None = None) -> list[Compared]:
    """The figures that are tests beside their predictions."""
    known = known or Known()
    return [Compared(one, _predicted(one, known)) for one in texts if one.role == TEST]


def _predicted(one: Text, known: Known) -> float | None:
    own = _published.of(one.program)
    if own is None or own.figure is None:
        return None
    try:
        return own.figure(one, known)
    except models.MissingValue:
        if known.profile == systems.PROFILES[0]:
            raise
        return None  # what no document prints is a figure without a model

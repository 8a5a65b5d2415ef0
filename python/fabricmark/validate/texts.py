"""Figures that texts print beside their tables, predicted: data/published/*.csv with the columns of
contini_2024.csv.

What a figure means to a model says `figure` of models/<program>/published.py, of links
_credit_link_figures.py; without it a figure is listed and not scored. So the rows of an application count as
soon as its model says what they mean. A bound is kept or missed; it has no relative error. A value may have
a tolerance, within which it has to be predicted (tolerances.csv beside the files).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricmark import models, systems
from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board, _micro_figures, _published
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
TOLERANCES, TOLERANCE_COLUMNS = "tolerances.csv", ("id", "tolerance", "why")


@dataclass(frozen=True)
class Text:
    """One figure; columns as data/published/README.md tells them. `conditions` by name.

    `tolerance`: relative error of a prediction that its digits allow; None where nothing says.
    """

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
    tolerance: float | None = None

    def __hash__(self) -> int:
        return hash((self.file, self.id))

    @property
    def is_apart(self) -> bool:
        """Of an application: partitions are counted and stalls are shares, which no bar for times judges. Of
        micro-benchmarks: a library that nobody here has, on boards whose memory the text does not name."""
        return models.traits(self.program).is_application or self.is_micro

    @property
    def is_micro(self) -> bool:
        """Of a micro-benchmark."""
        return _micro_figures.is_one(self.program)

    @property
    def reason(self) -> str:
        """Why it has no prediction; "" where nothing says it, or it has one."""
        return _micro_figures.reason(self)


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

    @property
    def is_within(self) -> bool | None:
        """Whether a value is predicted within its tolerance; None where it has none, or no prediction."""
        if self.error is None or self.text.tolerance is None:
            return None
        return self.error <= self.text.tolerance


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
    allowed = tolerances(path.parent / TOLERANCES)
    return [_text(path.name, place, row, allowed) for place, row in published.rows(path, figures.COLUMNS)]


def tolerances(path: Path) -> dict[str, float]:
    """By the ids of figures; none where there is no such file. Raises FabricmarkError (2)."""
    if not path.exists():
        return {}
    found = {}
    for place, row in published.rows(path, TOLERANCE_COLUMNS):
        published.check(place, row, {}, TOLERANCE_COLUMNS)
        found[row["id"]] = _number(place, row, "tolerance")
        if not 0 <= found[row["id"]] < 1:
            raise FabricmarkError(f"{place}: tolerance {row['tolerance']} is no share", "write 0 to below 1")
    return found


def _number(place: str, row: dict, column: str) -> float:
    try:
        return float(row[column])
    except ValueError:
        raise FabricmarkError(f"{place}: {column} {row[column]!r} is no number", "correct it") from None


def _text(file: str, place: str, row: dict, allowed: Mapping[str, float]) -> Text:
    published.check(place, row, WORDS, ("id", "section", "metric", "unit"))
    value = _number(place, row, "value")
    pairs = [part.strip().partition("=") for part in row["conditions"].split(";") if part.strip()]
    conditions = {name: text for name, _, text in pairs}
    kept = {name: row[name] for name in Text.__dataclass_fields__ if name in row}
    return Text(
        **{**kept, "file": file, "value": value, "conditions": conditions}, tolerance=allowed.get(row["id"])
    )


def apart(every: Sequence[Text]) -> dict[str, int]:
    """How many tests of applications and micro-benchmarks each file has."""
    return Counter(one.file for one in every if one.role == TEST and one.is_apart)


def verdict(compared: Sequence[Compared]) -> str:
    """How many values are predicted within their tolerance, and which are not, in words."""
    judged = [one for one in compared if one.is_within is not None]
    missed = [one.text.id for one in judged if not one.is_within]
    return f"{len(judged) - len(missed)} of {len(judged)} within their tolerance" + (
        f", missed: {', '.join(missed)}" if missed else ""
    )


def compare(texts: Sequence[Text], known: Known | None = None) -> list[Compared]:
    """The figures that are tests beside their predictions."""
    known = known or Known()
    return [Compared(one, _predicted(one, known)) for one in texts if one.role == TEST]


def _predicted(one: Text, known: Known) -> float | None:
    figure = _published.figure_of(one.program)
    if figure is None:
        return None
    try:
        return figure(one, known)
    except models.MissingValue:
        if known.profile == systems.PROFILES[0]:
            raise
        return None  # what no document prints is a figure without a model

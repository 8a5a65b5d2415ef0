"""The history as an SQLite store: one row a result, one a value, what a run's environment was
(docs/sites.md).

A transaction holds up to BATCH results and is on the disk before the next one begins (write-ahead log,
synchronous FULL), so that a kill loses none that `add` has counted, and the same call again adds the rest.
Writers wait for each other.
"""

import json
import sqlite3
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from fabricmark.base.errors import ENVIRONMENT, FabricmarkError
from fabricmark.sites.nights import Night, Series

Item = TypeVar("Item")
APPLICATION = 0x464D4831  # says in the file's head whose it is
BATCH = 200
MOST_MARKS = 500  # values of one query
PATIENCE = 60.0  # seconds that a writer waits for another one
FIRST_BYTES = b"SQLite format 3\x00"
# The tables, step by step: a store of an older version takes the steps that it lacks.
STEPS: Sequence[Sequence[str]] = (
    (
        "CREATE TABLE nights (id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE, started TEXT NOT NULL)",
        "CREATE TABLE environments (id INTEGER PRIMARY KEY, fields TEXT NOT NULL UNIQUE)",
        """CREATE TABLE series (id INTEGER PRIMARY KEY, metric TEXT NOT NULL, node TEXT NOT NULL,
            benchmark TEXT NOT NULL, label TEXT NOT NULL, unit TEXT NOT NULL, better TEXT NOT NULL,
            UNIQUE (metric, node))""",
        """CREATE TABLE results (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE,
            night INTEGER NOT NULL REFERENCES nights, environment INTEGER NOT NULL REFERENCES environments,
            benchmark TEXT NOT NULL, node TEXT NOT NULL, tool TEXT NOT NULL, version TEXT NOT NULL,
            started TEXT NOT NULL, fault TEXT NOT NULL, source TEXT NOT NULL)""",
        """CREATE TABLE points (series INTEGER NOT NULL REFERENCES series,
            result INTEGER NOT NULL REFERENCES results, value REAL NOT NULL,
            PRIMARY KEY (series, result)) WITHOUT ROWID""",
    ),
    (  # nights are read as wholes by `check`
        "CREATE INDEX results_of_night ON results (night)",
        "CREATE INDEX points_of_result ON points (result)",
        "CREATE INDEX series_of_label ON series (label, node)",
    ),
)
VERSION = len(STEPS)


@dataclass(frozen=True)
class Record:
    """A result as the store keeps it. `digest`: of its file, by which it is known again; `fault`: why its
    values do not count, ""; `tool`, `version`: what measured it; `environment`: texts by name."""

    digest: str
    night: str
    started: str
    benchmark: str
    node: str
    tool: str
    version: str
    source: str
    fault: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    values: Sequence[tuple[Series, float]] = ()


class Point(NamedTuple):
    """A value of a series: when, by what, where."""

    series: Series
    night: str
    started: str
    value: float
    tool: str
    version: str
    environment: str


def is_store(path: Path) -> bool:
    """Whether a file is an SQLite database."""
    try:
        with path.open("rb") as file:
            return file.read(len(FIRST_BYTES)) == FIRST_BYTES
    except OSError:
        return False


class Store:
    """An open store; closed at the end of a `with`."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection
        self._known: dict[tuple[str, ...], int] = {}

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def add(self, records: Iterable[Record]) -> Iterator[tuple[int, int]]:
        """(new, known before) after each transaction, whose results are on the disk then.

        Raises FabricmarkError (3: the disk is full, another writer does not end); what was counted stays.
        """
        new = known = 0
        for part in parts(records, BATCH):
            with self._transaction() as run:
                added = sum(self._insert(run, record) for record in part)
            new, known = new + added, known + len(part) - added
            yield new, known

    def _insert(self, run: sqlite3.Connection, record: Record) -> bool:
        fields = json.dumps(dict(record.environment), sort_keys=True)
        night = self._id(run, "nights", ("label",), (record.night,), started=record.started)
        environment = self._id(run, "environments", ("fields",), (fields,))
        added = run.execute(
            "INSERT OR IGNORE INTO results (digest, night, environment, benchmark, node, tool, version,"
            " started, fault, source) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (record.digest, night, environment, record.benchmark, record.node, record.tool, record.version,
             record.started, record.fault, record.source),
        )  # fmt: skip
        if not added.rowcount:
            return False
        if record.started:
            run.execute(
                "UPDATE nights SET started = ?1 WHERE id = ?2 AND (started = '' OR started > ?1)",
                (record.started, night),
            )
        run.executemany(
            "INSERT OR REPLACE INTO points VALUES (?, ?, ?)",
            [(self._series(run, series), added.lastrowid, value) for series, value in record.values],
        )
        return True

    def _series(self, run: sqlite3.Connection, series: Series) -> int:
        rest = {name: getattr(series, name) for name in ("benchmark", "label", "unit", "better")}
        return self._id(run, "series", ("metric", "node"), (series.metric, series.node), **rest)

    def _id(self, run: sqlite3.Connection, table: str, names: Sequence[str], key: tuple, **rest: str) -> int:
        """Number of the row with this key, which is made where it is not there."""
        place = (table, *key)
        if place not in self._known:
            every = {**dict(zip(names, key, strict=True)), **rest}
            marks = ", ".join("?" * len(every))
            run.execute(
                f"INSERT OR IGNORE INTO {table} ({', '.join(every)}) VALUES ({marks})", (*every.values(),)
            )
            where = " AND ".join(f"{name} = ?" for name in names)
            found = run.execute(f"SELECT id FROM {table} WHERE {where}", key).fetchone()
            self._known[place] = int(found[0])
        return self._known[place]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing; readers go on meanwhile."""
        with speaking(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._known.clear()
                if self._connection.in_transaction:  # a full disk ends it by itself
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple]:
        """Of a query. Raises FabricmarkError (2; 3)."""
        with speaking(self.path):
            return self._connection.execute(query, values).fetchall()

    def nights(self, before: str, most: int) -> list[Night]:
        """The newest nights that began before a time ("": all), oldest first."""
        found = self.rows(
            "SELECT id, label, started FROM nights WHERE ?1 = '' OR started < ?1"
            " ORDER BY started DESC, label DESC LIMIT ?2",
            (before, most),
        )
        nights = {number: Night(label, started) for number, label, started in reversed(found)}
        series = self._all_series()
        values: dict[int, dict[Series, list[float]]] = {number: {} for number in nights}
        for numbers in parts(nights, MOST_MARKS):
            marks = ", ".join("?" * len(numbers))
            for night, number, value in self.rows(
                "SELECT night, series, value FROM results JOIN points ON points.result = results.id"
                f" WHERE night IN ({marks})",
                numbers,
            ):
                values[night].setdefault(series[number], []).append(value)
            for night, benchmark, node, fault in self.rows(
                f"SELECT night, benchmark, node, fault FROM results WHERE fault != '' AND night IN ({marks})",
                numbers,
            ):
                nights[night].broken[benchmark, node] = fault
        for number, night in nights.items():
            night.values = {one: statistics.median(each) for one, each in values[number].items()}
        return list(nights.values())

    def _all_series(self) -> dict[int, Series]:
        columns = "id, metric, node, benchmark, label, unit, better"
        return {number: Series(*rest) for number, *rest in self.rows(f"SELECT {columns} FROM series")}

    def points(self, words: Sequence[str] = (), node: str = "", tool: str = "") -> list[Point]:
        """Values of the metrics whose label has all these words, of one node and one tool where these are
        named; by series and tool, oldest first."""
        chosen = {
            number: series
            for number, series in self._all_series().items()
            if (not node or series.node == node) and all(word in series.label for word in words)
        }
        rows: list[tuple] = []
        for part in parts(chosen, MOST_MARKS):
            marks = ", ".join("?" * len(part))
            rows += self.rows(
                "SELECT series, tool, results.started, nights.label, value, version, environment"
                " FROM points JOIN results ON results.id = points.result"
                f" JOIN nights ON nights.id = results.night WHERE series IN ({marks})"
                + (" AND tool = ?" if tool else ""),
                (*part, *([tool] if tool else [])),
            )
        places = sorted(chosen, key=lambda one: (chosen[one].label, chosen[one].node, chosen[one].metric))
        order = {number: place for place, number in enumerate(places)}
        rows.sort(key=lambda row: (order[row[0]], row[1], row[2]))
        return [
            Point(chosen[number], night, started, value, by, version, str(environment))
            for number, by, started, night, value, version, environment in rows
        ]

    def environments(self) -> dict[str, dict[str, str]]:
        """What each number of a point's environment stands for."""
        return {
            str(number): json.loads(text) for number, text in self.rows("SELECT id, fields FROM environments")
        }


def parts(every: Iterable[Item], most: int) -> Iterator[tuple[Item, ...]]:
    """In order, so many at a time."""
    rest = iter(every)
    while part := tuple(islice(rest, most)):
        yield part


@contextmanager
def speaking(path: Path) -> Iterator[None]:
    """Errors of SQLite as one line with a remedy."""
    try:
        yield
    except sqlite3.OperationalError as error:
        said = str(error)
        if "locked" in said:
            remedy = "another process writes to it: start this again when it has ended"
        elif "full" in said or "disk I/O" in said:
            remedy = "free some space and start this again: what was stored stays, and the rest is added"
        else:
            remedy = "name another file, or give yourself access to this one and its folder"
        raise FabricmarkError(f"{path}: {said}", remedy, ENVIRONMENT) from error
    except sqlite3.DatabaseError as error:
        remedy = "name a store of `fabricmark history`, or import the results into a new one"
        raise FabricmarkError(f"{path}: {error}", remedy) from error


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)


def opened(path: Path, *, make: bool = False) -> Store:
    """A store, in the newest version of its tables; `make`: a new one where there is no file.

    Raises FabricmarkError (2: none there, not a store, of a newer version; 3: it cannot be written).
    """
    if not path.exists() and not make:
        raise FabricmarkError(f"there is no store {path}", "`fabricmark history add` makes one")
    if path.exists() and path.stat().st_size and not is_store(path):
        raise FabricmarkError(f"{path}: not a store of `fabricmark history`", "name another file")
    with speaking(path):
        connection = connect(path)
        try:
            _refuse_others(path, connection)  # before anything is changed
            for name, value in (("journal_mode", "WAL"), ("synchronous", "FULL"), ("foreign_keys", "ON")):
                connection.execute(f"PRAGMA {name} = {value}")
            _upgrade(connection)
        except BaseException:
            connection.close()
            raise
    return Store(path, connection)


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _refuse_others(path: Path, connection: sqlite3.Connection) -> None:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and _number(connection, "application_id") != APPLICATION:
        raise FabricmarkError(f"{path}: a database of another program", "name another file")
    version = _number(connection, "user_version")
    if version > VERSION:
        raise FabricmarkError(
            f"{path}: written by a newer version (tables {version})",
            f"update fabricmark, which reads tables {VERSION}",
        )


def _upgrade(connection: sqlite3.Connection) -> None:
    """Take the steps of STEPS that are missing, all of them or none."""
    if _number(connection, "user_version") == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in STEPS[_number(connection, "user_version") :]:  # another process may have, meanwhile
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def digest_of(content: bytes) -> str:
    import hashlib  # here: its import would slow every other command down

    return hashlib.sha256(content).hexdigest()

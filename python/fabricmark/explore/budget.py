"""What a user may spend: boards, watts, and prices from a file of the user's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from fabricmark.base import toml_file
from fabricmark.base.errors import FabricmarkError
from fabricmark.results import published

SCHEMA = "prices-1"
DEVICES, WATTS, PRICE = WORDS = ("devices", "watts", "price")
EXAMPLE = "write --budget devices=8, watts=400 or price=prices.toml"
TIME, ENERGY, COST = BY = ("time", "energy", "cost")
HOUR, KILO = 3600.0, 1e3
AVERAGE = "power_average"


@dataclass(frozen=True)
class Prices:
    """Of one board: what an hour of it costs, and its watts. `per_kwh`: of electricity."""

    currency: str = ""
    per_hour: float | None = None
    watts: float | None = None
    per_kwh: float = 0.0


@dataclass(frozen=True)
class Budget:
    """None: without a limit. `watts`: of all boards together. `board_watts`: of one, and where it is from."""

    devices: int | None = None
    watts: float | None = None
    board_watts: float | None = None
    of_watts: str = ""
    prices: Prices = field(default_factory=Prices)

    @property
    def said(self) -> list[str]:
        """A line of where the watts are from, where there are any."""
        return [f"{self.board_watts:g} W of a board: {self.of_watts}"] if self.of_watts else []

    def allows(self, boards):
        """Whether so many boards are within it; of an array, each."""
        watts = boards * (self.board_watts or 0.0)
        return (boards <= (self.devices or inf)) & (watts <= (self.watts or inf))

    def joules(self, boards, seconds):
        """Energy of a run, or None where nothing says the power of a board."""
        return None if self.board_watts is None else boards * self.board_watts * seconds

    def cost(self, boards, seconds):
        """Of a run, in the currency of the file; None without one."""
        if self.prices.per_hour is None:
            return None
        energy = (self.board_watts or 0.0) / KILO * self.prices.per_kwh
        return boards * seconds / HOUR * (self.prices.per_hour + energy)


def unsaid(by: str) -> FabricmarkError:
    """For designs that cannot be sorted by energy or cost."""
    missing = "watts" if by == ENERGY else "per_hour"
    remedy = f"write {missing} into a file, and give --budget price=FILE"
    return FabricmarkError(f"--by {by}: nothing says {missing} of the board", remedy)


def parse(words: Sequence[str], board: str, benchmark: str) -> Budget:
    """Of --budget k=v, with commas or several times. Raises FabricmarkError (2) in one line."""
    given: dict[str, str] = {}
    for word in (part for text in words for part in text.split(",")):
        name, equals, value = word.partition("=")
        if name not in WORDS or not equals or not value:
            raise FabricmarkError(f"--budget {word}: no budget", EXAMPLE)
        if name in given:
            raise FabricmarkError(f"--budget {name} is given twice", "leave out one")
        given[name] = value
    devices = _number(DEVICES, given[DEVICES]) if DEVICES in given else None
    if devices is not None and devices != int(devices):
        raise FabricmarkError(f"--budget devices={given[DEVICES]}: no whole number", EXAMPLE)
    watts = _number(WATTS, given[WATTS]) if WATTS in given else None
    prices = _prices(Path(given[PRICE]), board) if PRICE in given else Prices()
    own, source = _watts(prices, board, benchmark)
    if watts is not None and own is None:
        raise FabricmarkError(
            f"nothing says how many watts {board} takes with {benchmark}",
            f"write [boards.{board}] watts into a file, and give --budget price=FILE",
        )
    return Budget(None if devices is None else int(devices), watts, own, source, prices)


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise FabricmarkError(f"--budget {name}={text}: no number above 0", EXAMPLE)
    return value


def _prices(path: Path, board: str) -> Prices:
    said = toml_file.load(path, SCHEMA, "name a file with [boards.NAME] per_hour and watts")
    own: Mapping = said.get("boards", {}).get(board, {})
    if not own:
        known = ", ".join(said.get("boards", {})) or "none"
        raise FabricmarkError(f"{path} has no board {board}, but {known}", f"write [boards.{board}]")
    return Prices(said.get("currency", ""), own.get("per_hour"), own.get("watts"), said.get("per_kwh", 0.0))


def _watts(prices: Prices, board: str, benchmark: str) -> tuple[float | None, str]:
    """(watts of a board, where they are from): the user's file, else measured with this benchmark."""
    if prices.watts is not None:
        return prices.watts, "the price file"
    for row in published.printed():
        if (row.board, row.benchmark, row.metric) == (board, benchmark, AVERAGE):
            return row.value, f"{row.table} of Meyer 2024, with the design that was measured"
    return None, ""

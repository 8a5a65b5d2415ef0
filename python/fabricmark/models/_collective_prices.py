"""What single steps of a collective operation take: how ranks are wired, what moves cost, and steps of both.

Shared links and devices that pass messages on are counted as src/fabric/collectives does (costs.hpp).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf, log2

ANY, RING, TORUS = "any to any", "ring", "torus"
SEGMENT_BYTES = 65536  # pieces in which a message is passed on
BUFFER_BYTES = 2**20  # of a receive buffer
PIECE_BYTES = 65536  # messages of so many bytes or more take turns on a link, shorter ones go one by one
FAN = 4  # messages that a root has under way


@dataclass(frozen=True)
class Shape:
    """How ranks are wired; `circuits`: who has no cable to a rank cannot send to it."""

    wiring: str = ANY
    rows: int = 1
    columns: int = 1
    circuits: bool = False

    def __str__(self) -> str:
        grid = f" of {self.rows}x{self.columns}" if self.wiring == TORUS else ""
        return f"a {self.wiring}{grid}" if self.wiring != ANY else self.wiring


@dataclass(frozen=True)
class Costs:
    """What moves take [s]. `start`: of the whole call; `issue`: of a rank for each message that it starts;
    `message`: from then until its first byte is at a neighbour; `hop`: more for each device that passes it
    on.

    Seconds of so many bytes: `moving` over a link, then `storing` out of a receive buffer; `copying` in a
    rank's memory; `combining` two operands. `combines_as_it_comes`: while a message moves, else after it.
    `again`: what another copy waits, of which `message` has one. `leaving`: until a message has left its
    rank; `answer`: until a sender hears that its last byte has come.
    """

    start: float
    issue: float
    message: float
    hop: float
    moving: Callable[[float], float]
    storing: Callable[[float], float]
    copying: Callable[[float], float]
    combining: Callable[[float], float]
    combines_as_it_comes: bool = False
    again: float = 0.0
    leaving: float = 0.0
    answer: float = 0.0
    buffers: int | None = (
        None  # of each rank, for messages that come before they are received; None: any number
    )
    longest: float = inf  # longer messages wait for their receiver, and take none


@dataclass(frozen=True)
class Prices:
    """The time of single steps of one problem [s], of which algorithms make up theirs."""

    costs: Costs
    shape: Shape
    ranks: int
    bytes: float

    @property
    def sides(self) -> int:
        """Links by which a rank sends at the same time; of a full mesh of circuits one to each other."""
        mesh = self.ranks - 1 if self.shape.circuits else 1
        return {ANY: mesh, RING: 2, TORUS: 4}[self.shape.wiring]

    @property
    def takes_turns(self) -> bool:
        """Whether long messages to one rank share its link."""
        return self.bytes >= PIECE_BYTES and self.sides == 1

    def _way(self, distance: int) -> tuple[int, int]:
        """(cables to a rank so far behind, messages over the same link where all ranks send so far)."""
        if self.shape.wiring == ANY:
            return 1, 1
        distance %= self.ranks
        if self.shape.wiring == RING:
            hops = max(1, min(distance, self.ranks - distance))
            return hops, hops
        down, right = divmod(distance, self.shape.columns)
        in_row = min(right, self.shape.columns - right)
        in_column = min(down, self.shape.rows - down)
        return max(1, in_row + in_column), max(1, in_row, in_column)

    def _begun(self, hops: int) -> float:
        return self.costs.issue + self.costs.message + (hops - 1) * self.costs.hop

    def alone(self, distance: int, moved: float) -> float:
        """One message to the rank so far behind, while no other needs its way."""
        return self._begun(self._way(distance)[0]) + self.costs.moving(moved) + self.costs.storing(moved)

    def all(self, distance: int, moved: float) -> float:
        """Every rank sends one to the rank so far behind it: they share links, and wait for both ends."""
        hops, sharing = self._way(distance)
        moving = self.costs.moving(moved) * sharing
        return max(self._begun(hops) + moving + self.costs.storing(moved), moving + self.costs.answer)

    def end(self, moved: float) -> float:
        """How much later than the receiver of such a message its sender hears that it has come."""
        received = self.costs.issue + self.costs.message + self.costs.storing(moved)
        return max(0.0, self.costs.answer - received)

    def alone_combining(self, distance: int, moved: float) -> float:
        """The same as `alone` where the receiver combines what comes."""
        return self._begun(self._way(distance)[0]) + self._combined(self.costs.moving(moved), moved)

    def all_combining(self, distance: int, moved: float) -> float:
        """The same as `all` where receivers combine what comes."""
        hops, sharing = self._way(distance)
        moving = self.costs.moving(moved) * sharing
        return max(self._begun(hops) + self._combined(moving, moved), moving + self.costs.answer)

    def _combined(self, moving: float, moved: float) -> float:
        combining = self.costs.combining(moved)
        if self.costs.combines_as_it_comes:
            return max(moving, combining)
        return moving + combining - self.costs.again  # which is a part of the message

    @property
    def to_farthest(self) -> float:
        """From when a rank begins until the first byte of the farthest has come."""
        half = self.shape.rows // 2 + self.shape.columns // 2
        hops = {ANY: 1, RING: self.ranks // 2, TORUS: half}[self.shape.wiring]
        return self.costs.message + max(0, hops - 1) * self.costs.hop

    @property
    def at_root(self) -> float:
        """One message to or from each other rank passes the links of a rank."""
        return ceil((self.ranks - 1) / self.sides) * self.costs.moving(self.bytes)

    @property
    def turns(self) -> int:
        """In which a root starts its messages, beyond the first: so many are under way at a time."""
        return max(0, (self.ranks - 3) // FAN)

    @property
    def segments(self) -> float:
        return max(1, ceil(self.bytes / SEGMENT_BYTES))

    @property
    def segment(self) -> float:
        return self.bytes / self.segments

    def buffers(self, messages: int, moved: float) -> int:
        """Receive buffers that so many messages take."""
        return messages * max(1, ceil(moved / BUFFER_BYTES)) if moved <= self.costs.longest else 0

    def buffers_of_pieces(self, pieces: int, moved: float, senders: int = 1) -> int:
        """The same of pieces that come from so many ranks: as many as three quarters of all take, and then a
        word to each sender, which waits for it (`Pacing` of src/fabric/collectives/steps.hpp)."""
        taken = self.buffers(senders, moved)
        if self.costs.buffers is None or not taken:
            return taken * pieces
        most = min(pieces, max(1, self.costs.buffers // taken - ceil(self.costs.buffers // taken / 4)))
        return taken * most + (senders if most < pieces else 0)

    @property
    def behind(self) -> int:
        """Ranks on the way behind the root, where a ring is passed both ways round."""
        return self.ranks // 2


def distances(ranks: int) -> list[int]:
    """1, 2, 4, ... below the number of ranks."""
    return [2**power for power in range((ranks - 1).bit_length())]


def halves(ranks: int) -> list[int]:
    """1, 2, 4, ... up to half of the ranks: steps of a tree."""
    return [2**power for power in range(int(log2(ranks)))]


def is_power_of_two(ranks: int) -> bool:
    return ranks & (ranks - 1) == 0

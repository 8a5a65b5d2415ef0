"""Published RandomAccess runs; each number with its origin.

Source: dissertation 000: parameters Tables 3.4 and 4.6, clocks Tables 3.5 and 4.7, results Tables 3.6 and
4.8, 2^29 words (section 3.2.2), one generator in Table 3.6 (section 4.1.4).

- 520N and 520N MX need nothing inferred.
- U280: 36 ns an update and 1.16 us for each loop over the buffer, inferred from both of its runs in Table
  3.6; Table 4.8 has no part in them and checks them.
- PAC SVM (0.5 million updates a second): left out; the text blames the latency of the host's memory, and
  gives none.

Table 4.8's 0.18 GUOP/s of the 520N is left out as well: section 4.2.4 says of the same runs that they come
close to the peak, which would be 4 x 162.5 million a second and board.
"""

from dataclasses import dataclass

from fabricmark.models import Board
from printed_figures import figure

UPDATE_SECONDS = 36e-9
LOOP_SECONDS = 1.16e-6


@dataclass(frozen=True)
class Run:
    """One result in million updates a second."""

    table: str
    board: Board
    replications: int
    buffer_size: int
    log_rngs: int = 0
    log_size: int = 29

    @property
    def muop_per_s(self) -> float:
        """As the table prints it; Table 4.8 the mean of its devices, in GUOP/s."""
        printed = figure(self.table, "random_access", self.board.name, "updates")
        return printed * (1e3 if self.table == "4.8" else 1)

    def parameters(self):
        names = ("replications", "buffer_size", "log_rngs", "log_size")
        return {"variant": "base", "scope": "star", **{name: getattr(self, name) for name in names}}


def alveo(name: str, banks: int, bank_rate: float, megahertz: float) -> Board:
    return Board(name, "fpga", banks, bank_rate, megahertz * 1e6, LOOP_SECONDS, update_seconds=UPDATE_SECONDS)


RUNS = [
    Run("3.6", Board("520N", "fpga", 4, 19.2e9, 329.17e6), 4, 1),
    Run("3.6", Board("520N MX", "fpga", 32, 12.8e9, 477.78e6), 32, 1),
    Run("3.6", alveo("U280 HBM2", 32, 460e9 / 32, 450), 32, 1024),
    Run("3.6", alveo("U280 DDR", 2, 19.2e9, 446), 2, 1024),
]
SCALED = Run("4.8", alveo("U280 DDR", 2, 19.2e9, 300), 2, 1024, log_rngs=3)

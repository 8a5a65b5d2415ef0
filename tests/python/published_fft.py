"""Published FFT runs; each number with its origin.

Source: dissertation 000: parameters Table 3.4, clocks Table 3.5, results Table 3.6, 2 GiB of data (section
3.2.3). The clock of the memory interface is a bank's rate over the 64 bytes of eight values. The rates:

- 520N, U280 DDR: 19.2 GB/s a bank; U280 HBM2: 460 GB/s over 32 banks (section 3.2.2).
- 520N MX: 11.18 GB/s, what one kernel reaches on one bank (section 3.2.2). With the nominal 12.8 GB/s the
  efficiency is 80 %, not the "more than 85 %" of the text.
- PAC SVM: 13 GB/s in each direction is inferred from its very result; with STREAM's 10.05 GB/s the run would
  be faster than its model, which the text remarks on, and with PCI Express' nominal 15.75 GB/s slower (72 %).
"""

from dataclasses import dataclass

from fabricmark.models import Board
from printed_figures import figure


@dataclass(frozen=True)
class Run:
    """One column of Table 3.6."""

    board: Board
    replications: int
    log_size: int

    @property
    def gflop_per_s(self) -> float:
        return figure("3.6", "fft", self.board.name, "performance")

    @property
    def gb_per_s(self) -> float:
        return figure("3.6", "fft", self.board.name, "bandwidth")

    def parameters(self):
        batch = 2**31 // (8 * 2**self.log_size)
        fixed = {"variant": "base", "scope": "batched", "data_type": "float", "batch": batch}
        return {**fixed, "replications": self.replications, "log_size": self.log_size}


RUNS = [
    Run(Board("520N", "fpga", 4, 19.2e9, 413.34e6), 2, 17),
    Run(Board("520N MX", "fpga", 32, 11.18e9, 395.84e6), 16, 7),
    Run(Board("U280 HBM2", "fpga", 32, 460e9 / 32, 254e6), 15, 5),
    Run(Board("U280 DDR", "fpga", 2, 19.2e9, 248e6), 1, 9),
    Run(Board("PAC SVM", "fpga", 2, 13e9, 348e6), 1, 17),
]

"""Published GEMM runs; each number with its origin.

Source: dissertation 000: parameters Table 3.4 and 4.6, clocks Table 3.5 and 4.7, results Tables 3.6, 3.12 and
4.8, sizes sections 3.2.4, 3.3.4 and 4.2.4. Tables 3.6 and 3.12 are of the same synthesis at other sizes.

Equation 3.2 takes f_mem, "the frequency of the memory interface", of which the source gives no value.
Inferred are, one for each board, from Table 3.6:

- 520N MX and U280 DDR: the clock of the kernel (240 and 100 MHz): nothing else is needed.
- 520N: 75 MHz. Two of its five replications share one of the four banks: 19.2 GB/s / 2 / (2 matrices x 16
  floats). The PAC SVM, "very similar" and "23 % slower than the model" (section 3.2.4), is so with it, too.
- U280 HBM2: 156 MHz, a fit.

Table 3.12 has no part in these and checks them. The designs of Table 4.8 load 8 floats a cycle; with the
300 MHz of the boards' DDR4 controllers (19.2 GB/s / 64 bytes) they need nothing inferred.
"""

from dataclasses import dataclass

from fabricmark.models import Board
from printed_figures import figure


@dataclass(frozen=True)
class Run:
    """One result, with the parameters and clocks of the run."""

    table: str
    board: Board
    size: int
    replications: int
    block_size: int
    unroll: int

    @property
    def gflop_per_s(self) -> float:
        """As the table prints it; Table 4.8 the mean of its devices."""
        of_precision = {"transport": "none", "dtype": "float"}
        return figure(self.table, "gemm", self.board.name, "performance", **of_precision)

    @property
    def norm(self) -> float | None:
        """Per replication and 100 MHz, where the table has it."""
        if self.table != "3.6":
            return None
        return figure(self.table, "gemm", self.board.name, "normalised")

    def parameters(self):
        names = ("size", "replications", "block_size", "unroll")
        fixed = {"variant": "base", "data_type": "float", "gemm_size": 8}
        return {**fixed, **{name: getattr(self, name) for name in names}}


def board(name: str, kernel_mhz: float, memory_mhz: float) -> Board:
    return Board(name, "fpga", 1, 19.2e9, kernel_mhz * 1e6, memory_hz=memory_mhz * 1e6)


BITTWARE = board("520N", 160.42, 75)
BITTWARE_MX = board("520N MX", 240, 240)
ALVEO_HBM2 = board("U280 HBM2", 236, 156)
ALVEO_DDR = board("U280 DDR", 100, 100)
PAC = board("PAC SVM", 225, 75)

RUNS = [
    Run("3.6", BITTWARE, 4096, 5, 512, 16),
    Run("3.6", BITTWARE_MX, 4096, 4, 256, 8),
    Run("3.6", ALVEO_HBM2, 4096, 3, 256, 16),
    Run("3.6", ALVEO_DDR, 4096, 3, 256, 16),
    Run("3.12", BITTWARE, 23040, 5, 512, 16),
    Run("3.12", BITTWARE_MX, 11264, 4, 256, 8),
    Run("3.12", ALVEO_HBM2, 8192, 3, 256, 16),
    Run("3.12", ALVEO_DDR, 23040, 3, 256, 16),
    Run("4.8", board("520N", 272.5, 300), 23040, 5, 512, 8),
    Run("4.8", board("U280 DDR", 186, 300), 23040, 3, 256, 8),
]
PAC_RUN = Run("3.6", PAC, 4096, 5, 512, 16)

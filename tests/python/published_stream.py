"""Published STREAM runs and the boards they ran on; each number with its origin.

Source: dissertation 000 (Tables 3.4 to 3.7, 3.10, 3.11 and sections 3.2 and 3.3). Inferred, because the
source gives nothing, are only:

- DDR4 boards (520N, U280 DDR): `burst_seconds` 110 ns for each burst of at most `burst_bytes` 16 KiB, from
  the 520N's Copy and Triad in Table 3.6; the same two numbers are used for the U280. Without the upper
  length the larger buffers of Tables 3.7 and 3.10 would look about 10 % too fast.
- U280 HBM2: 125 ns for each burst of at most 8 KiB, from Copy in Table 3.6; the upper length was chosen with
  Tables 3.7 and 3.10 in view, which are therefore no independent checks of this board or the DDR boards.
- 520N MX: 185 ns, from the single kernel at 11.18 GB/s (section 3.2.2), and 60 us to start each kernel, from
  Copy with 32 of them in Table 3.6 (the text blames their starting one after the other); checked against
  Table 3.11 before it was settled on.
- 520N: the 520N MX's time to start a kernel (same vendor's runtime); U280: none known, set to 0.
- PAC SVM: 10.05 GB/s in each direction, from Copy in Table 3.6.
"""

from dataclasses import dataclass, replace

from fabricmark.models import Board
from printed_figures import figure

BOARDS = {
    # Four banks of DDR4-2400, 19.2 GB/s each (sections 3.2 and 3.2.2); clock: Table 3.5.
    "520N": Board("520N", "fpga", 4, 19.2e9, 316.67e6, 110e-9, 16384, 60e-6),
    # 79.1 % efficiency at 323.9 GB/s, and 11.18 GB/s is 87.3 % of one bank (section 3.2.2): 12.8 GB/s a bank.
    "520N MX": Board("520N MX", "fpga", 32, 12.8e9, 400e6, 185e-9, 16384, 60e-6),
    # 460 GB/s over 32 banks (section 3.2.2).
    "U280 HBM2": Board("U280 HBM2", "fpga", 32, 460e9 / 32, 370e6, 125e-9, 8192),
    "U280 DDR": Board("U280 DDR", "fpga", 2, 19.2e9, 300e6, 110e-9, 16384),
    "PAC SVM": Board(
        "PAC SVM", "fpga", 1, 2 * 15.75e9, 346e6,
        read_path_bytes_per_second=10.05e9, write_path_bytes_per_second=10.05e9,
    ),
}  # fmt: skip


OPERATIONS = ("copy", "scale", "add", "triad")


@dataclass(frozen=True)
class Run:
    """One column of a table, with the parameters of the run."""

    table: str
    board: Board
    replications: int
    vector_width: int
    buffer_size: int
    data_type: str = "float"
    unroll: int = 1
    size: int = 2**29

    @property
    def gb_per_s(self) -> tuple[float, ...]:
        """Copy, Scale, Add, Triad as the table prints them."""
        place = (self.table, "stream", self.board.name)
        return tuple(figure(*place, metric, dtype=self.data_type) for metric in OPERATIONS)

    def parameters(self):
        names = ("data_type", "size", "vector_width", "unroll", "buffer_size", "replications")
        return {"variant": "base", **{name: getattr(self, name) for name in names}}


def at(board: str, megahertz: float) -> Board:
    """A board with the clock of another synthesis."""
    return replace(BOARDS[board], kernel_hz=megahertz * 1e6)


RUNS = [
    Run("3.6", BOARDS["520N"], 4, 16, 4096),
    Run("3.6", BOARDS["520N MX"], 32, 8, 4096),
    Run("3.6", BOARDS["U280 HBM2"], 32, 16, 2048),
    Run("3.6", BOARDS["U280 DDR"], 2, 16, 16384),
    Run("3.6", BOARDS["PAC SVM"], 1, 16, 1),
    Run("3.7", at("520N", 280), 4, 16, 16384),
    Run("3.10", at("520N", 312.5), 4, 16, 65536),
    Run("3.10", at("520N", 322.5), 4, 8, 32768, "double", size=2**28),
    Run("3.10", at("U280 HBM2", 341), 32, 1, 65536, "half", 32, 2**30),
    Run("3.10", at("U280 HBM2", 360), 32, 16, 2048),
    Run("3.10", at("U280 HBM2", 345), 32, 1, 16384, "double", 8, 2**28),
    # Larger arrays than in Table 3.6, so that starting the kernels weighs less; see above for what was
    # chosen with these in view.
    Run("3.11", BOARDS["520N"], 4, 16, 4096, size=2**31),
    Run("3.11", BOARDS["520N MX"], 32, 8, 4096, size=2**30),
    Run("3.11", BOARDS["U280 DDR"], 2, 16, 16384, size=2**31),
]

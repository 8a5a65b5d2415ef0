"""Published STREAM runs: Meyer 2024, Tables 3.6, 3.7, 3.10 and 3.11.

Boards and bitstreams are those of systems/*.toml, which say what is inferred. Tables 3.7 and 3.10 had no
part in any figure.
"""

from dataclasses import dataclass

from fabricmark.models import Board
from fabricmark.models.machine import Bitstream
from published_boards import bitstream_of, synthesis


@dataclass(frozen=True)
class Run:
    """One column of a table: Copy, Scale, Add, Triad in GB/s."""

    table: str
    board: Board
    of_bitstream: dict
    gb_per_s: tuple[float, float, float, float]
    size: int
    bitstream: Bitstream

    def parameters(self):
        return {"variant": "base", **self.of_bitstream, "size": self.size}

    @property
    def data_type(self):
        return self.of_bitstream["data_type"]


def run(table: str, file: str, gb_per_s: tuple, size: int = 2**29, name: str = "stream") -> Run:
    of = (f"{file}_single", name)
    return Run(table, *synthesis(*of), gb_per_s, size, bitstream_of(*of))


RUNS = [
    run("3.6", "520n", (67.01, 67.24, 68.90, 68.90)),
    run("3.6", "520n_mx", (308.35, 308.24, 323.92, 323.90)),
    run("3.6", "u280_hbm", (377.42, 365.80, 374.03, 378.88)),
    run("3.6", "u280_ddr", (33.94, 33.92, 34.58, 34.57)),
    run("3.6", "pac_d5005", (20.15, 20.04, 15.04, 15.12)),
    run("3.7", "520n", (63.48, 63.49, 58.96, 59.00), name="stream_16k"),
    run("3.10", "520n", (68.40, 68.40, 69.80, 69.80), name="stream_float"),
    run("3.10", "520n", (68.10, 68.11, 69.58, 69.58), 2**28, "stream_double"),
    run("3.10", "u280_hbm", (362.35, 363.80, 367.19, 367.46), 2**30, "stream_half"),
    run("3.10", "u280_hbm", (385.97, 386.67, 389.24, 389.61), name="stream_float"),
    run("3.10", "u280_hbm", (353.23, 354.70, 358.22, 358.74), 2**28, "stream_double"),
    # Larger arrays than in Table 3.6, so that starting the kernels weighs less.
    run("3.11", "520n", (69.09, 69.10, 70.08, 70.02), 2**31),
    run("3.11", "520n_mx", (331.70, 331.94, 340.34, 340.41), 2**30),
    run("3.11", "u280_ddr", (34.06, 34.05, 34.67, 34.66), 2**31),
]

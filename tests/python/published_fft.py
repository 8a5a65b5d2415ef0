"""Published FFT runs: Meyer 2024, Table 3.6, 2 GiB of data (section 3.2.3).

Boards and bitstreams are those of systems/*.toml, which say where a bank's rate is not the nominal one.
"""

from dataclasses import dataclass

from fabricmark.models import Board
from published_boards import synthesis


@dataclass(frozen=True)
class Run:
    """One column of Table 3.6."""

    board: Board
    of_bitstream: dict
    gflop_per_s: float
    gb_per_s: float

    @property
    def log_size(self):
        return self.of_bitstream["log_size"]

    @property
    def replications(self):
        return self.of_bitstream["replications"]

    def parameters(self):
        batch = 2**31 // (8 * 2**self.log_size)
        fixed = {"variant": "base", "scope": "batched", "data_type": "float", "batch": batch}
        return {**fixed, **self.of_bitstream}


def run(file: str, gflop_per_s: float, gb_per_s: float) -> Run:
    return Run(*synthesis(f"{file}_single", "fft"), gflop_per_s, gb_per_s)


RUNS = [
    run("520n", 349.45, 65.78),
    run("520n_mx", 713.95, 326.38),
    run("u280_hbm", 576.20, 368.77),
    run("u280_ddr", 78.26, 27.83),
    run("pac_d5005", 119.66, 22.54),
]

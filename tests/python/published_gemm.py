"""Published GEMM runs: Meyer 2024, Tables 3.6, 3.12 and 4.8, sizes sections 3.2.4, 3.3.4 and 4.2.4.

Boards and bitstreams are those of systems/*.toml, which say which clocks of the memory are inferred from
Table 3.6. Table 3.12 has no part in these and checks them. The designs of Table 4.8 load 8 floats a cycle;
with the 300 MHz of the boards' memory controllers they need nothing inferred.
"""

from dataclasses import dataclass

from fabricmark.models import Board, gemm
from published_boards import synthesis


@dataclass(frozen=True)
class Run:
    """One result in GFLOP/s; `norm`: per replication and 100 MHz (Table 3.6)."""

    table: str
    board: Board
    of_bitstream: dict
    size: int
    gflop_per_s: float
    norm: float | None = None

    def parameters(self):
        return {"variant": "base", **self.of_bitstream, "size": self.size, gemm.EVEN_PARTS: True}

    @property
    def replications(self):
        return self.of_bitstream["replications"]


def run(table: str, file: str, size: int, gflop_per_s: float, norm: float | None = None) -> Run:
    return Run(table, *synthesis(file, "gemm"), size, gflop_per_s, norm)


RUNS = [
    run("3.6", "520n_single", 4096, 708.95, 88.39),
    run("3.6", "520n_mx_single", 4096, 765.23, 79.71),
    run("3.6", "u280_hbm_single", 4096, 603.86, 85.29),
    run("3.6", "u280_ddr_single", 4096, 266.91, 88.97),
    run("3.12", "520n_single", 23040, 727.58),
    run("3.12", "520n_mx_single", 11264, 771.99),
    run("3.12", "u280_hbm_single", 8192, 615.14),
    run("3.12", "u280_ddr_single", 23040, 270.87),
    run("4.8", "520n_multi", 23040, 1231.2),
    run("4.8", "u280_ddr_multi", 23040, 493.2),
]
PAC_RUN = run("3.6", "pac_d5005_single", 4096, 739.59, 65.74)

"""Published RandomAccess runs: Meyer 2024, Tables 3.6 and 4.8, 2^29 words (section 3.2.2).

Boards and bitstreams are those of systems/*.toml: 520N and 520N MX need nothing inferred, the U280's two
latencies are from both of its runs in Table 3.6. Table 4.8 has no part in them and checks them. Left out are:

- PAC SVM (0.5 million updates a second): the text blames the latency of the host's memory, and gives none.
- Table 4.8's 0.18 GUOP/s of the 520N: section 4.2.4 says of the same runs that they come close to the peak,
  which would be 4 x 162.5 million a second and board.
"""

from dataclasses import dataclass

from fabricmark.models import Board
from published_boards import synthesis


@dataclass(frozen=True)
class Run:
    """One result in million updates a second."""

    table: str
    board: Board
    of_bitstream: dict
    muop_per_s: float
    log_size: int = 29

    @property
    def replications(self):
        return self.of_bitstream["replications"]

    def parameters(self):
        return {"variant": "base", "scope": "star", **self.of_bitstream, "log_size": self.log_size}


def run(table: str, file: str, muop_per_s: float) -> Run:
    return Run(table, *synthesis(file, "random_access"), muop_per_s)


RUNS = [
    run("3.6", "520n_single", 245.0),
    run("3.6", "520n_mx_single", 469.8),
    run("3.6", "u280_hbm_single", 128.1),
    run("3.6", "u280_ddr_single", 40.3),
]
# With the latencies of Table 3.6, not those that fit the runs on several boards.
_single, _many = (synthesis(f"u280_ddr_{file}", "random_access") for file in ("single", "multi"))
SCALED = Run("4.8", _single[0].having({"clock": _many[0]["clock"]}), _many[1], 40)

"""Published runs of HPL (data/published) and the bitstreams that they used; each number with its origin.

Source: dissertation 000: block sizes, register blocks and replications Table 4.6 (the version of the 520N
with blocks of 256 has two replications, as its runs printed), clocks Table 4.7. Fitted to the runs are, one
set for each bitstream and none for a run:

- `multiply_efficiency`: stalls of the matrix multiplications. The source says why they differ: the base
  version reads all matrices from one bank without interleaving, and smaller blocks reuse less.
- `exchange_bytes_per_second`: of one device, left blocks and then top ones. On the 520N over PCI Express and
  MPI both bitstreams come out near the 0.78 GB/s that b_eff has for messages of a block's 1 MiB on one board,
  which had no part in the fit.
- `latency_seconds`: 0.3 to 3 ms a communication phase over the host, none over direct channels.

Table 4.10 is of another system with the sources of "520N IEC", had no part in the fit and checks it.
"""

from math import isqrt

from fabricmark import published
from fabricmark.models.hpl import Design
from fabricmark.published import Figure

DESIGNS = {
    "520N IEC": Design("520N IEC", 512, 8, 5, 244.00e6, 0.6946, 3.001e9, 0.0),
    "520N PCIe": Design("520N PCIe", 512, 8, 5, 233.34e6, 0.4865, 0.7661e9, 2.053e-3),
    "520N PCIe, b = 256": Design("520N PCIe, b = 256", 256, 8, 2, 280.00e6, 0.3925, 0.7349e9, 0.336e-3),
    "U280 PCIe": Design("U280 PCIe", 256, 8, 2, 156.00e6, 0.4474, 0.2251e9, 2.883e-3),
}

# Torus width, n, TFLOP/s on Cygnus, whose bitstream runs at 225 MHz (Tables 4.9 and 4.10).
CYGNUS_HZ = 225e6
CYGNUS = [(isqrt(one.devices), one.size, one.value) for one in published.printed() if one.system == "cygnus"]


def bitstream(figure: Figure) -> str:
    """Which of the designs a run used."""
    if figure.board == "u280_ddr":
        return "U280 PCIe"
    if figure.transport == "channels":
        return "520N IEC"
    return "520N PCIe" if figure.block == 512 else "520N PCIe, b = 256"


def runs() -> dict[str, list[Figure]]:
    """All runs by bitstream."""
    found: dict[str, list[Figure]] = {name: [] for name in DESIGNS}
    for figure in published.load():
        if figure.benchmark == "hpl":
            found[bitstream(figure)].append(figure)
    return found


def point(figure: Figure) -> tuple[int, tuple[int, int], float]:
    """(n, (P, Q), FLOP/s) of a run, as `fit_design` takes them."""
    width = figure.grid_width
    return figure.matrix_width, (width, width), figure.value * 1e9

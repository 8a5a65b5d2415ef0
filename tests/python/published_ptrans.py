"""Published runs of PTRANS (data/published) and the bitstreams that they used; each number with its origin.

Source: dissertation 000: replications, block sizes and widths Table 4.6, clocks Table 4.7, banks of 19.2 GB/s
section 3.2.2. Fitted to the runs are, one set for each bitstream:

- `exchange_bytes_per_second`. Over direct channels: 92 % of the 20 GB/s that four of them carry. Over the
  host: within 3 % of what b_eff has for its longest messages on one board of the 520N, which had no part in
  it, and of what was fitted to HPL. Of the U280 there is one run, which its figure simply reproduces.
- `copy_bytes_per_second`: between host and device. Alone in its node a board of the 520N gets 5 % more, with
  a neighbour 5 % less.
- `start_seconds`: over direct channels, where 8192 x 8192 elements of a device take only 15 ms.
"""

from fabricmark import published
from fabricmark.models.ptrans import Design
from fabricmark.published import Figure

BANK = 19.2e9
DESIGNS = {
    "520N IEC": Design(
        "520N IEC", 4, 512, 32, 281.25e6, 4 * BANK, 18.45e9, 3.01e9, 0.85e-3, over_channels=True
    ),
    "520N PCIe": Design("520N PCIe", 4, 512, 64, 380e6, 4 * BANK, 0.762e9, 3.08e9),
    "U280 PCIe": Design("U280 PCIe", 2, 256, 64, 283e6, 2 * BANK, 1.315e9, 2.48e9),
}
EXACT = "U280 PCIe"  # one run, so no test of its figures


def bitstream(figure: Figure) -> str:
    if figure.board == "u280_ddr":
        return "U280 PCIe"
    return "520N IEC" if figure.transport == "channels" else "520N PCIe"


def part_bytes(figure: Figure) -> float:
    """Bytes of one matrix on one device; elements are floats."""
    return (figure.matrix_width // figure.grid_width) ** 2 * 4


def figures() -> list[Figure]:
    return [figure for figure in published.load() if figure.benchmark == "ptrans"]

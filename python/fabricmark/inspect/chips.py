"""What operations take on the vendors' chips: DSP blocks and cycles. All constants of the estimates are here.

AMD: cores of Vivado HLS for UltraScale+ at 300 MHz, named as in its reports (fadd_32ns_32ns_32_7_full_dsp and
so on: operation, widths, cycles, kind). Their DSPs are those of the same cores; that a double multiplication
takes 8 and an addition 3 is also what 11 a lane in Table 3.9 of Meyer 2024 (STREAM, 2816 for 32 x 8) say.

Intel: DSP blocks of Arria 10 and Stratix 10 add, multiply, or multiply and add floats (User Guide of the
Stratix 10 Variable Precision DSP Blocks). Four of them multiply doubles and one halves, additions of both
stand in logic: Table 3.9 (STREAM in double: 128 for 4 x 8 lanes; GEMM in half: 286 for 2 x 128 products).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricmark.base.errors import FabricmarkError

INTEL, XILINX = "intel", "xilinx"
ADD, MULTIPLY, DIVIDE = "add", "multiply", "divide"
GLOBAL_CYCLES = 64  # of a read or a write; AMD's default for planning (m_axi latency, UG1399)


@dataclass(frozen=True)
class Vendor:
    """How a vendor's tool builds pipelines. Cycles and DSPs by operation and type of its numbers.

    `macro`: what its compiler defines; `local_cycles`: of a read and of a write of local memory.
    `register_bytes`, `register_elements`: private arrays up to this are registers, whatever indexes them.
    `block`: bits that a block of on-chip memory is wide, and words that it is deep: M20K, BRAM36.
    """

    name: str
    label: str
    macro: str
    cycles: Mapping[tuple[str, str], int]
    dsps: Mapping[tuple[str, str], int]
    local_cycles: tuple[int, int]
    ports: int
    widest_bytes: int
    register_bytes: int
    register_elements: int
    block: tuple[int, int]

    @property
    def block_bytes(self) -> int:
        """Of a block of on-chip memory."""
        return self.block[0] * self.block[1] // 8

    def in_logic(self, kind: str) -> bool:
        """Whether additions of numbers of this type take no DSP, but logic."""
        return self.dsps.get((ADD, kind), 0) == 0


VENDORS = {
    INTEL: Vendor(
        INTEL, "Intel", "INTELFPGA_CL",
        # The adder of the DSP block has 4 stages; doubles and halves stand in logic: compiler reports of
        # Stratix 10 show about 7 for an addition of doubles and 4 for one of halves.
        {(ADD, "float"): 4, (MULTIPLY, "float"): 4, (DIVIDE, "float"): 15,
         (ADD, "double"): 7, (MULTIPLY, "double"): 7, (DIVIDE, "double"): 30,
         (ADD, "half"): 4, (MULTIPLY, "half"): 4, (DIVIDE, "half"): 10},
        {(ADD, "float"): 1, (MULTIPLY, "float"): 1, (ADD, "double"): 0, (MULTIPLY, "double"): 4,
         (ADD, "half"): 0, (MULTIPLY, "half"): 1},
        # Private arrays of 64 bytes and less become registers (Programming Guide, "Private Memory").
        local_cycles=(4, 1), ports=2, widest_bytes=1 << 30, register_bytes=64, register_elements=0,
        block=(40, 512),
    ),
    XILINX: Vendor(
        XILINX, "Xilinx", "__xilinx__",
        {(ADD, "float"): 7, (MULTIPLY, "float"): 4, (DIVIDE, "float"): 16,
         (ADD, "double"): 8, (MULTIPLY, "double"): 8, (DIVIDE, "double"): 31,
         (ADD, "half"): 5, (MULTIPLY, "half"): 4, (DIVIDE, "half"): 10},
        {(ADD, "float"): 2, (MULTIPLY, "float"): 3, (ADD, "double"): 3, (MULTIPLY, "double"): 8,
         (ADD, "half"): 2, (MULTIPLY, "half"): 2},
        # Arrays of 4 elements and less are taken apart (UG902, config_array_partition).
        local_cycles=(1, 1), ports=2, widest_bytes=64, register_bytes=0, register_elements=4,
        block=(72, 512),
    ),
}  # fmt: skip


# Families of chips and cards, as files of boards name them.
CHIPS = {"Stratix 10": INTEL, "Arria 10": INTEL, "UltraScale+": XILINX, "Alveo": XILINX}


def vendor_of(board: str, descriptions: str) -> str:
    """The vendor of a board's chip, by what its file says. Raises FabricmarkError (2) for none of these."""
    for chip, vendor in CHIPS.items():
        if chip.lower() in descriptions.lower():
            return vendor
    known = ", ".join(CHIPS)
    raise FabricmarkError(f"{board} has no chip that inspect knows", f"use a board with one of {known}")

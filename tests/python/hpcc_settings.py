"""What HPCC FPGA published of how its designs were built, as facts: platform, options and configuration.

Source: https://github.com/pc2/HPCC_FPGA, files */configs/*.cmake, */settings/*.ini and
cmake/kernelTargets.cmake; written here in a short form of our own. `{i}` counts
replications from 1, `{j}` from 0.
"""

from dataclasses import dataclass, field

U280, U280_2022 = "xilinx_u280_xdma_201920_3", "xilinx_u280_gen3x16_xdma_1_202211_1"
U250, U55C = "xilinx_u250_xdma_201830_2", "xilinx_u55c_gen3x16_xdma_3_202210_1"
SINGLE = ("lu", "left_update", "top_update")
ACCL = (
    "nk=networklayer:1:networklayer_0", "nk=ccl_offload:1:ccl_offload_0", "nk=hostctrl:1:hostctrl_0",
    "nk=cmac_0:1:cmac_0", "nk=reduce_ops:1:arith_0",
    "nk=hp_compression:3:compression_0_0.compression_0_1.compression_0_2", "slr=networklayer_0:SLR1",
    "slr=ccl_offload_0:SLR0", "sp=ccl_offload_0.m_axi_0:HBM[31]", "sp=ccl_offload_0.m_axi_1:HBM[31]",
    "stream_connect=hostctrl_0.cmd:ccl_offload_0.s_axis_call_req",
    "stream_connect=ccl_offload_0.m_axis_call_ack:hostctrl_0.sts",
    "stream_connect=ccl_offload_0.m_axis_eth_tx_data:networklayer_0.S_AXIS_sk2nl:512",
    "stream_connect=networklayer_0.M_AXIS_nl2sk:ccl_offload_0.s_axis_eth_rx_data:512",
    "stream_connect=cmac_0.M_AXIS:networklayer_0.S_AXIS_eth2nl",
    "stream_connect=ccl_offload_0.m_axis_compression0:compression_0_0.in_r",
    "stream_connect=compression_0_0.out_r:ccl_offload_0.s_axis_compression0",
)  # fmt: skip
PORTS = ("[hls]", "max_memory_ports=all")


@dataclass(frozen=True)
class Linked:
    """A design for v++. `compiled`, `connected`: lines of the configurations; `repeated`: of these those that
    stand there once for each replication."""

    board: str
    platform: str
    version: str
    replications: int
    compiled: tuple[str, ...]
    connected: tuple[str, ...]
    repeated: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    after: tuple[str, ...] = field(default=())

    def link_lines(self) -> list[str]:
        """The linker's configuration."""
        found = ["[connectivity]", *(one.replace("{n}", str(self.replications)) for one in self.connected)]
        for line in self.repeated:
            for j in range(self.replications):
                found.append(line.format(i=j + 1, j=j, slr=j % 3, twice=2 * j, next=2 * j + 1, four=4 * j))
        return [*found, *self.after]


def _hpl(memory: str, many: str, *others: str) -> tuple[str, ...]:
    """The three kernels of HPL of which there is one."""
    lines = [f"nk={name}:1" for name in SINGLE] + [f"slr={name}_1:SLR0" for name in SINGLE]
    lines += [f"sp={name}_1.m_axi_gmem{port}:{memory}[{many}]" for name in SINGLE for port in range(3)]
    return (*lines, "nk=inner_update_mm0:{n}", *others)


LINKED = {
    "STREAM, HBM": Linked(
        "u280_hbm", U280, "2020.2", 32, ("kernel_frequency=450",), ("nk=calc_0:{n}",),
        ("slr=calc_0_{i}:SLR{slr}", "sp=calc_0_{i}.m_axi_gmem:HBM[{j}]"),
    ),
    "STREAM, DDR": Linked(
        "u280_ddr", U280, "2020.2", 2, ("kernel_frequency=300", *PORTS), ("nk=calc_0:{n}",),
        ("slr=calc_0_{i}:SLR{j}", *(f"sp=calc_0_{{i}}.m_axi_gmem{port}:DDR[{{j}}]" for port in range(3))),
    ),
    "RandomAccess, HBM": Linked(
        "u280_hbm", U280, "2020.2", 32, ("kernel_frequency=450",), ("nk=accessMemory_0:{n}",),
        ("slr=accessMemory_0_{i}:SLR{slr}", "sp=accessMemory_0_{i}.m_axi_gmem:HBM[{j}]"),
    ),
    "FFT, HBM": Linked(
        "u280_hbm", U280, "2020.2", 15, ("kernel_frequency=250",), (),
        ("nk=fetch{j}:1", "nk=fft1d{j}:1", "nk=store{j}:1", "slr=fft1d{j}_1:SLR{slr}",
         "sp=fetch{j}_1.m_axi_gmem:HBM[{twice}]", "sp=store{j}_1.m_axi_gmem:HBM[{next}]"),
    ),
    "GEMM, HBM": Linked(
        "u280_hbm", U280, "2020.2", 3, ("kernel_frequency=450", *PORTS), ("nk=gemm0:{n}",),
        ("slr=gemm0_{i}:SLR{slr}", *(f"sp=gemm0_{{i}}.m_axi_gmem{port}:HBM[{{four}}]" for port in range(4))),
    ),
    "PTRANS, U250": Linked(
        "u250", U250, "2020.2", 4, ("kernel_frequency=300", *PORTS), ("nk=transpose0:{n}",),
        ("slr=transpose0_{i}:SLR{j}", "sp=transpose0_{i}.m_axi_gmem:DDR[{j}]"),
    ),
    "PTRANS, ACCL streams, U55C": Linked(
        "u55c", U55C, "2022.1", 1, PORTS,
        (*ACCL, "nk=loopback:0", "nk=transpose_read0:1", "nk=transpose_write0:1",
         "sp=transpose_read0_1.m_axi_gmem0:HBM[0:7]", "sp=transpose_write0_1.m_axi_gmem1:HBM[16:23]",
         "stream_connect=ccl_offload_0.m_axis_krnl:transpose_write0_1.cclo2krnl",
         "stream_connect=transpose_read0_1.krnl2cclo:ccl_offload_0.s_axis_krnl:32"),
        after=("[profile]", "data=all:all:all", "memory=all", "stall=all:all"),
    ),
    "HPL, HBM": Linked(
        "u280_hbm", U280, "2020.2", 3, ("kernel_frequency=300", *PORTS), _hpl("HBM", "0:5"),
        ("slr=inner_update_mm0_{i}:SLR{slr}", "sp=inner_update_mm0_{i}.m_axi_gmem0:HBM[0:5]"),
        ("--kernel_frequency", "250"),
        ("[profile]", "trace_memory=HBM[16]:SLR0"),
    ),
    "HPL, DDR": Linked(
        "u280_ddr", U280, "2020.2", 2, ("kernel_frequency=300", *PORTS), _hpl("DDR", "0"),
        ("sp=inner_update_mm0_{i}.m_axi_gmem1:DDR[1]",), ("-g", "--kernel_frequency", "250"),
    ),
    "b_eff, one kernel": Linked(
        "u280_hbm", U280_2022, "2022.2", 1, (),
        ("nk=dummyKernel:1:dummyKernel", "sp=dummyKernel.m_axi_gmem:HBM[0]"),
    ),
}  # fmt: skip
RELAXED, BANKS = ("-fpc", "-fp-relaxed"), "-no-interleaving=default"
RINGS = ("-global-ring", "-duplicate-ring")
# board, version, the board's name, whether channels between boards are used, options
COMPILED = {
    "STREAM": ("520n", "19.4", "p520_hpc_sg280l", False, (*RELAXED, BANKS)),
    "STREAM, MX": ("520n_mx", "20.4", "p520_hpc_m210h", False, (*RELAXED, BANKS)),
    "STREAM, PAC": ("pac_d5005", "19.4", "pac_s10_usm", False, (*RELAXED, BANKS)),
    "RandomAccess": ("520n", "20.4", "p520_hpc_sg280l", False, (*RELAXED, BANKS, "-seed=7")),
    "b_eff": ("520n", "20.4", "p520_max_sg280l", True, (*RELAXED, "-seed=7")),
    "PTRANS": ("520n", "20.4", "p520_max_sg280l", True, (*RELAXED, BANKS)),
    "PTRANS, MX": ("520n_mx", "22.1", "p520_hpc_m210h_g3x16", False,
                   ("-ffp-contract=fast", "-ffp-reassociate", BANKS)),
    "HPL": ("520n", "20.4", "p520_max_sg280l", True, (*RELAXED, *RINGS, "-seed=7")),
}  # fmt: skip

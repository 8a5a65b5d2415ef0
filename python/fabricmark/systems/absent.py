"""What a prediction takes a value for that its model reads and no file says: never for 0 without a word.

STATED ones are said below the table; where the absence itself has a meaning (SILENT), as of a memory without
paths of their own for reads and writes, nothing has to be said. A value in none of the tables is needed: a
prediction without it is refused.
"""

from collections.abc import Mapping

STATED: Mapping[str, str] = {
    "board.memory.bank_efficiency": "banks lose no time",
    "board.memory.drain": "loops over a buffer follow each other at once",
    "board.memory.burst_latency": "bursts wait for nothing",
    "board.host.launch_latency": "kernels start in no time",
    "board.processor.core_bandwidth": "one core's bandwidth is unknown",
    "network.start_latency": "a message is issued in no time",
    "network.ordering_bandwidth": "hosts put blocks in order in no time",
    "network.self_bandwidth": "a rank sends to itself as to others",
    "network.links.count": "one link",
    "bitstream.fitted.multiply_efficiency": "multiplications lose no cycles",
    "bitstream.fitted.multiply_latency": "multiplications start in no time",
    "bitstream.fitted.panel_efficiency": "panel kernels lose no cycles",
    "bitstream.fitted.pipeline_efficiency": "pipelines lose no cycles",
    "bitstream.fitted.channel_efficiency": "channels lose no cycles",
    "bitstream.fitted.start_latency": "kernels and exchanges start in no time",
}
SILENT: Mapping[str, str] = {
    "board.memory.clock": "that of the kernel",
    "board.memory.read_bandwidth": "reads and writes share a bank",
    "board.memory.write_bandwidth": "reads and writes share a bank",
    "board.host.write_bandwidth": "its model says where it needs one",
    "board.host.read_bandwidth": "its model says where it needs one",
    "board.host.page": "no copy is known to wait longer",
    "board.host.page_latency": "no copy is known to wait longer",
    "board.host.programmed_below": "no copy is known to be made word by word",
    "board.host.programmed_bandwidth": "no copy is known to be made word by word",
    "board.host.programmed_latency": "no copy is known to be made word by word",
    "board.host.staging_bandwidth": "the driver is not known to copy messages itself",
    "board.host.array_staging_bandwidth": "the driver is not known to copy arrays itself",
    "board.host.neighbour_factor": "devices of a node are not known to slow each other down",
    "board.host.copy_bandwidth": "the memory of a host is no limit",
    "board.processor.cores": "unknown, and said so where it is needed",
    "board.arithmetic.half": "the model says where it needs one",
    "board.arithmetic.float": "the model says where it needs one",
    "board.arithmetic.double": "the model says where it needs one",
    "bitstream.clock": "the model says where it needs one",
    "bitstream.memory.matrix_banks": "a matrix lies in all banks",
    "bitstream.fitted.element_operations": "the rate by its authors' count is left out",
    **dict.fromkeys(
        (
            "bitstream.memory.bank_bandwidth", "bitstream.memory.bank_efficiency", "bitstream.memory.clock",
            "bitstream.memory.drain", "bitstream.memory.burst_latency", "bitstream.memory.update_latency",
            "bitstream.memory.read_bandwidth", "bitstream.memory.write_bandwidth",
        ),
        "the board's",
    ),
    "network.links.bandwidth": "its model says where it needs one",
    "network.start_cycles": "calls take start_latency",
    "network.links.width": "kernels do not write to the links",
    "network.links.clock": "kernels do not write to the links",
    "network.cable_latency": "all devices are on one switch",
    "network.switch_ports": "all devices are on one switch",
    "network.node_latency": "latency is not split over devices and cables",
}  # fmt: skip
# What only networks of some kinds have: circuits and hosts' MPI have neither engines nor switches.
OF_KIND: Mapping[str, tuple[str, ...]] = {
    "network.switch_latency": ("packet",),
    "network.start_latency": ("packet",),
    "network.copy_latency": ("packet",),
}


def meaning(name: str, kind: str = "") -> str | None:
    """What is said of a value that no file says; "" where its absence says all, None where it is needed.

    `kind`: of the network.
    """
    if name in OF_KIND and kind not in OF_KIND[name]:
        return ""
    if name in SILENT:
        return ""
    return STATED.get(name)

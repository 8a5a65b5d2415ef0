"""Every key that a system file may have: its kind of number, what it becomes in the models, and its meaning.

The only list of them: the JSON Schemas, with which the reader checks, and the tables of docs/systems.md are
made from it (tools/system_schemas.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fabricmark.base import measured_keys
from fabricmark.base.transports import CHANNELS, NONE

# Kinds of plain numbers, beside the dimensions of quantities.
COUNT = "count"
NUMBER = "number"
SHARE = "share"
PLAIN = (COUNT, NUMBER, SHARE)
RATE = "bytes_per_second"
MEASURED = "measured."  # how keys of a bitstream begin whose values short runs on a machine tell


@dataclass(frozen=True)
class Key:
    """One value. `dimension`: of `quantities.UNITS`, or a kind of plain number.

    `symbol`: in exported systems and the formulas of kernel.toml, with its SI unit; "" where nothing but
    `systems show` takes it. `required`: without it the file is of no use.
    `usual`: what counts in models where no file says it, None: they ask whether one does, or need it
    (predict/settings.py says what its absence means).
    """

    dimension: str
    symbol: str
    meaning: str
    required: bool = False
    usual: float | None = None


RESOURCES = {
    "logic": Key(COUNT, "", "LUTs of AMD's devices, ALUTs or ALMs of Intel's, as the table counts them"),
    "registers": Key(COUNT, "", "flip-flops"),
    "bram": Key(COUNT, "", "blocks of on-chip memory: M20K or BRAM36"),
    "uram": Key(COUNT, "", "UltraRAM blocks"),
    "dsps": Key(COUNT, "", "blocks of arithmetic"),
}

BOARD = {
    "memory.banks": Key(COUNT, "banks", "memory banks (CPU, GPU: 1, the whole memory)", required=True),
    "memory.bank_bandwidth": Key(RATE, "bank_bytes_per_second", "of one bank", required=True),
    "memory.bank_capacity": Key("bytes", "", "of one bank"),
    "memory.index_offset": Key(COUNT, "", "number of the first bank in the vendor's list of memories"),
    "memory.clock": Key("hertz", "memory_hz", "at which the memory's controller serves a kernel"),
    "memory.bank_efficiency": Key(
        SHARE, "bank_efficiency", "of a bank's bandwidth, by long reads and writes in order", usual=1.0
    ),
    "memory.drain": Key(
        COUNT, "drain_cycles", "cycles of a kernel between two loops over its local buffer", usual=0.0
    ),
    "memory.burst_latency": Key("seconds", "burst_seconds", "paid for each burst", usual=0.0),
    "memory.update_latency": Key(
        "seconds", "update_seconds", "of a random update, beyond the kernel's cycles", usual=0.0
    ),
    "memory.copy_latency": Key(
        "seconds", "copy_seconds", "of a copy of few bytes from buffer to buffer, as the host sees it"
    ),
    "memory.copy_bandwidth": Key(RATE, "copy_bytes_per_second", "of the bytes of such a copy beyond"),
    "memory.read_bandwidth": Key(RATE, "read_path_bytes_per_second", "where reads have a path of their own"),
    "memory.write_bandwidth": Key(RATE, "write_path_bytes_per_second", "where writes have one"),
    "host.link_bandwidth": Key(RATE, "", "of the link to the host as it is specified, one direction"),
    "host.write_bandwidth": Key(RATE, "host_to_device_bytes_per_second", "host to device, as copied"),
    "host.read_bandwidth": Key(RATE, "device_to_host_bytes_per_second", "device to host, as copied"),
    "host.write_latency": Key(
        "seconds", "host_to_device_seconds", "of one copy to the device by DMA", usual=0.0
    ),
    "host.read_latency": Key(
        "seconds", "device_to_host_seconds", "of one copy from the device by DMA", usual=0.0
    ),
    "host.page": Key("bytes", "page_bytes", "a copy of so many bytes or more waits longer", usual=0.0),
    "host.page_latency": Key("seconds", "page_seconds", "so much longer", usual=0.0),
    "host.programmed_below": Key(
        "bytes", "programmed_bytes", "shorter copies are made word by word", usual=0.0
    ),
    "host.programmed_bandwidth": Key(RATE, "programmed_bytes_per_second", "of copies word by word"),
    "host.programmed_at_once": Key(
        "bytes", "programmed_at_once_bytes", "so many bytes of them take no time beyond the least"
    ),
    "host.programmed_latency": Key("seconds", "programmed_seconds", "the least that they take", usual=0.0),
    "host.staging_bandwidth": Key(RATE, "staging_bytes_per_second", "the driver's own copy of a message"),
    "host.array_staging_bandwidth": Key(RATE, "array_staging_bytes_per_second", "... of whole arrays"),
    "host.neighbour_factor": Key(
        NUMBER,
        "neighbour_factor",
        "copies take so many times as long while the other devices of the node copy, too",
        usual=1.0,
    ),
    "host.launch_latency": Key(
        "seconds", "launch_seconds", "until the host can start another kernel", usual=0.0
    ),
    "host.invocation_latency": Key(
        "seconds", "invocation_seconds", "of one kernel, from its start to the news of its end"
    ),
    "host.copy_bandwidth": Key(RATE, "host_bytes_per_second", "copies in the memory of a whole host"),
    "processor.cores": Key(COUNT, "cores", "of the device (CPU)"),
    "processor.core_bandwidth": Key(RATE, "core_bytes_per_second", "copies by one core (CPU)"),
    "arithmetic.half": Key("flops_per_second", "half_flops_per_second", "multiply-adds, counted as two"),
    "arithmetic.float": Key("flops_per_second", "float_flops_per_second", "multiply-adds, counted as two"),
    "arithmetic.double": Key("flops_per_second", "double_flops_per_second", "multiply-adds, counted as two"),
    "serial.ports": Key(COUNT, "serial_ports", "network ports of the board"),
    "serial.port_bandwidth": Key(RATE, "", "of one port, one direction"),
    **{f"resources.{name}": key for name, key in RESOURCES.items()},
}

NETWORK = {
    "links.count": Key(COUNT, "links", "links of a device that carry data", usual=1),
    "links.bandwidth": Key(RATE, "link_bytes_per_second", "of one link, one direction"),
    "links.line_rate": Key(
        RATE, "line_bytes_per_second", "of one link's cable, with headers and gaps of frames"
    ),
    "links.width": Key("bytes", "width_bytes", "a kernel hands a link in one cycle"),
    "links.clock": Key("hertz", "clock_hz", "of these cycles"),
    "flow.packet": Key(
        COUNT, "flow_packet_flits", "data flits, of links.width, of a packet of a credit link"
    ),
    "flow.overhead": Key(COUNT, "flow_overhead_flits", "cycles of such a packet beside its data", usual=1),
    "flow.receive": Key(COUNT, "flow_receive_flits", "depth of the receive buffer of a credit link [flits]"),
    "flow.update": Key(COUNT, "flow_update_flits", "flits that are read until credits come back"),
    "latency": Key("seconds", "latency_seconds", "of the first bit, from one device to the next", usual=0.0),
    "switch_latency": Key("seconds", "switch_seconds", "more for each switch in between", usual=0.0),
    "start_latency": Key("seconds", "start_seconds", "to issue one message", usual=0.0),
    "start_cycles": Key(COUNT, "start_cycles", "... where logic of the kernels' own clock issues it"),
    "host_start_latency": Key(
        "seconds", "host_start_seconds", "to issue one call of an engine from the host"
    ),
    "ping_latency": Key(
        "seconds",
        "ping_seconds",
        "of a message of few KB between two devices, with all that their kernels wait for",
    ),
    "test_latency": Key(
        "seconds",
        "test_seconds",
        "of a test for a message that has not come, where a rank works and looks in between",
    ),
    "eager_limit": Key(
        "bytes",
        "eager_bytes",
        "longest message of an MPI program that leaves before its receiver asks for it",
    ),
    "self_bandwidth": Key(RATE, "self_bytes_per_second", "of a rank to itself, where no curve says"),
    "ordering_bandwidth": Key(RATE, "ordering_bytes_per_second", "at which a host orders a matrix's blocks"),
    "node_latency": Key("seconds", "node_seconds", "of a device's own network modules"),
    "cable_latency": Key("seconds", "cable_seconds", "of one cable with its transceivers"),
    "switch_ports": Key(COUNT, "switch_ports", "of one switch"),
    "frame": Key("bytes", "frame_bytes", "payload of one frame"),
    "frame_overhead": Key("bytes", "frame_overhead_bytes", "headers, gap and preamble of a frame"),
    "copy_bandwidth": Key(RATE, "copy_bytes_per_second", "where a message is copied in device memory"),
    "copy_latency": Key("seconds", "copy_seconds", "of such a copy"),
}

# Values of a bitstream that stand in for the board's: the synthesis decides them, too.
OF_BOARD = {
    name: replace(BOARD[f"memory.{name}"], required=False)
    for name in (
        "bank_bandwidth", "bank_efficiency", "clock", "drain", "burst_latency", "update_latency",
        "read_bandwidth", "write_bandwidth",
    )
}  # fmt: skip

BITSTREAM = {
    "clock": Key("hertz", "kernel_hz", "of the kernel"),
    "synthesis_time": Key("seconds", "", "how long the tools took"),
    "pipeline_depth": Key(
        COUNT, "pipeline_cycles", "cycles from a step's last element to what follows from it"
    ),
    "pipeline_rows": Key(COUNT, "pipeline_rows", "rows of the grid that a pipeline keeps", usual=1.0),
    "cell_bytes": Key("bytes", "cell_bytes", "of a cell that streams through pipelines"),
    "link_cycles": Key(
        COUNT, "link_cycles", "cycles from a board's last pipeline to the first one of the next board"
    ),
    "fitted.link_bandwidth": Key(
        RATE, "ring_bytes_per_second", "of the links between boards, that the design's figures follow from"
    ),
    "fitted.element_operations": Key(
        COUNT, "element_operations", "floating-point operations of an element, as its authors counted"
    ),
    **{f"memory.{name}": key for name, key in OF_BOARD.items()},
    "memory.matrix_banks": Key(COUNT, "matrix_banks", "banks that hold a matrix; all where it is not given"),
    **{f"resources.{name}": key for name, key in RESOURCES.items()},
    "resources.logic_share": Key(SHARE, "", "of the logic that kernels may use, as the tools report it"),
    "fitted.multiply_efficiency": Key(
        SHARE, "multiply_efficiency", "of the modelled multiplications' rate", usual=1.0
    ),
    "fitted.multiply_latency": Key(
        "seconds", "multiply_seconds", "of each multiplication beyond that", usual=0.0
    ),
    "fitted.panel_efficiency": Key(SHARE, "panel_efficiency", "of the panel kernels' cycles", usual=1.0),
    "fitted.pipeline_efficiency": Key(SHARE, "pipeline_efficiency", "of a pipeline's cycles", usual=1.0),
    "fitted.channel_efficiency": Key(SHARE, "channel_efficiency", "of the channels' bandwidth", usual=1.0),
    "fitted.start_latency": Key("seconds", "start_seconds", "of all kernels and exchanges", usual=0.0),
    **{
        f"{MEASURED}{name}": Key(measured_keys.dimension(name), name, meaning)
        for name, meaning in measured_keys.MEANINGS.items()
    },
}

DEVICES = {
    # What is other than in the board's file, because of the hosts.
    **{name: key for name, key in BOARD.items() if name.startswith("host.")},
    "per_node": Key(COUNT, "devices_per_node", "devices in one node", required=True),
    "most": Key(COUNT, "most_devices", "devices of the whole system", required=True),
}

VALUES: Mapping[str, Mapping[str, Key]] = {
    "board": BOARD,
    "network": NETWORK,
    "bitstream": BITSTREAM,
    "devices": DEVICES,
}
CLASSES = ("fpga", "cpu", "gpu")
MEMORY_KINDS = ("ddr", "hbm", "host")
INTERLEAVED, BY_KERNEL, BY_HOST = PLACEMENTS = ("interleaved", "kernel", "host")
KINDS = ("direct", "packet", "host")
# As the fabric's own reader takes a topology, which also knows what the sizes make (docs/fabric.md).
_SIZE = "[1-9][0-9]*"
TOPOLOGY = (
    rf"^(pair|(ring|full-mesh|switch)(:{_SIZE})?|torus(:{_SIZE}x{_SIZE})?|fat-tree:([2468]|{_SIZE}[02468])"
    rf"|(leaf-spine|dragonfly):{_SIZE}x{_SIZE}x{_SIZE})(\*{_SIZE})?$"
)
# Of texts that are no free words.
PATTERNS = {"topology": TOPOLOGY}
REMEDIES = {
    TOPOLOGY: "write for example ring, ring:8*2, torus:4x4, leaf-spine:4x2x8, fat-tree:16 or dragonfly:9x4x2"
}
# Texts beside the values: whether required, and meaning.
TEXTS: Mapping[str, Mapping[str, tuple[bool, str]]] = {
    "board": {
        "name": (True, "as people call it"),
        "class": (True, f"one of {', '.join(CLASSES)}"),
        "summary": (False, "what else there is to say"),
        "source": (False, "of all values here that have none of their own"),
        "like": (False, "id of a board from which all is taken that is not here"),
        "memory.kind": (False, f"one of {', '.join(MEMORY_KINDS)}: the board's memory, or its host's"),
        "memory.placement": (
            False,
            "who chooses a buffer's bank: interleaved (nobody: the banks take turns, unless the design says "
            "otherwise), kernel (the design, for each argument) or host (the host, for each buffer)",
        ),
    },
    "network": {
        "name": (True, "as people call it"),
        "kind": (True, "direct (circuits), packet (an engine on the board) or host (PCI Express and MPI)"),
        "topology": (False, "how cables connect the devices, as docs/fabric.md has it: ring, torus:8x8"),
        "summary": (False, "what else there is to say"),
        "source": (False, "of all values here that have none of their own"),
        "like": (False, "id of a network from which all is taken that is not here"),
    },
    "bitstreams": {
        "board": (True, "id of the board for which they were made"),
        "summary": (False, "what else there is to say"),
        "tools": (False, "of all bitstreams here: what made them, with its version"),
        "shell": (False, "of all bitstreams here: the board's static part, with its version"),
        "source": (False, "of all values here that have none of their own"),
    },
    "bitstream": {
        "benchmark": (True, "for example stream"),
        "variant": (False, "of kernel.toml; base where it is not given"),
        "transport": (False, f"for example {CHANNELS}; {NONE} where it exchanges nothing"),
        "source": (False, "of all values here that have none of their own"),
        "inferred": (False, "why a bitstream of another board or document stands for this one"),
        "tools": (False, "what made it, with its version"),
        "shell": (False, "the board's static part that it was made for, with its version"),
        "like": (False, "name of an earlier one in this file, or FILE/NAME, from which all else is taken"),
    },
    "system": {
        "name": (True, "as people call it"),
        "summary": (True, "what it is, in one sentence"),
        "source": (False, "of all values here that have none of their own"),
    },
    "devices": {
        "board": (True, "id of a board"),
        "source": (False, "of all values here that have none of their own"),
    },
}


# Those, and the clock: of a run the board has them as its bitstream does (System.board_with).
SYNTHESISED = ("clock", *(f"memory.{name}" for name in OF_BOARD))
# Of the models' objects (models/machine.py).
OF_MODELS: Mapping[str, Mapping[str, Key]] = {
    "board": {**BOARD, "clock": BITSTREAM["clock"]},
    "network": NETWORK,
    "bitstream": BITSTREAM,
}

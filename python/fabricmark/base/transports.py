"""The transports of the programs: the only place in the package where their names stand.

All other code asks for what it means: what a transport is between, or whether its messages go through hosts.
Rows of data (published values, short runs, the order of a choice) take the constants.
"""

from collections.abc import Mapping

# What messages go between, as `between` of transport.toml (src/transport, src/board) has it: memories of
# devices, memories of hosts, streams of dataflow kernels, engines beside such kernels.
DEVICES, HOSTS, STREAMS, ENGINES = "devices", "hosts", "streams", "engines"

CPU, HOST, CHANNELS, MPI = "cpu", "host", "channels", "mpi"
UDP, TCP, RDMA = "accl-udp", "accl-tcp", "accl-rdma"
# A test compares this with the files. Texts and schemas name transports in this order.
BETWEEN: Mapping[str, str] = {
    CPU: HOSTS,
    HOST: DEVICES,
    CHANNELS: STREAMS,
    UDP: ENGINES,
    TCP: ENGINES,
    RDMA: ENGINES,
    MPI: DEVICES,
}
NONE = "none"  # of what exchanges nothing
NAMES = (NONE, *BETWEEN)  # all that a file may say
USUAL = HOST  # where nobody names one: as kernel.toml has it
SOME = ", ".join((*list(BETWEEN)[:4], "..."))  # for texts of help


def between(kind: str) -> tuple[str, ...]:
    """The transports that are between these, in the order of the table."""
    return tuple(name for name, known in BETWEEN.items() if known == kind)


def between_hosts(transport: str) -> bool:
    """Whether messages go from memory to memory of the hosts: devices copy nothing for them."""
    return BETWEEN.get(transport) == HOSTS


def between_streams(transport: str) -> bool:
    """Whether kernels themselves send, word by word over links."""
    return BETWEEN.get(transport) == STREAMS


def between_engines(transport: str) -> bool:
    """Whether engines send packets, called by kernels or by hosts."""
    return BETWEEN.get(transport) == ENGINES


def over(transport: str) -> str:
    """` over TRANSPORT` behind what is said of a run; nothing where it exchanges nothing."""
    return f" over {transport}" if transport != NONE else ""


def over_hosts(transport: str) -> bool:
    """Whether a message is read from a device, sent from host to host, and written to the other device."""
    return transport == HOST  # the other one between devices gives their memory to MPI


# Those whose messages lie in memories of hosts on their way: the hosts' curve is a part of their time.
THROUGH_HOSTS = tuple(name for name in BETWEEN if between_hosts(name) or over_hosts(name))

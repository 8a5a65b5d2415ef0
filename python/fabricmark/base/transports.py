"""The transports of the programs: the only place in the package where their names stand.

All other code asks for what it means: what a transport is between, or whether its messages go through hosts.
Rows of data (published values, short runs, the order of a choice) take the constants. A user's own transports
of kernels are libraries in the folders of an environment variable, as the programs look for them.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from fabricmark.base.errors import FabricmarkError

# What messages go between, as `between` of transport.toml (src/transport, src/board) has it: memories of
# devices, memories of hosts, streams of dataflow kernels, engines beside such kernels.
DEVICES, HOSTS, STREAMS, ENGINES = "devices", "hosts", "streams", "engines"

CPU, HOST, CHANNELS, MPI, NVLINK = "cpu", "host", "channels", "mpi", "nvlink"
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
    NVLINK: DEVICES,
}
NONE = "none"  # of what exchanges nothing
NAMES = (NONE, *BETWEEN)  # all that a file may say
USUAL = HOST  # where nobody names one: as kernel.toml has it
SOME = ", ".join((*list(BETWEEN)[:4], "..."))  # for texts of help
FOLDERS = "FABRICMARK_TRANSPORTS"  # a user's, with colons between
DESCRIPTION = "transport.toml"
REMEDY = f"correct it, or take its folder out of {FOLDERS}"


def outside() -> dict[str, str]:
    """As BETWEEN, of the transports outside of the sources. Raises FabricmarkError (2) where one is wrong.

    The programs read the same files, and say more of what is wrong (src/runtime/outside_transports.cpp).
    """
    found: dict[str, str] = {}
    for named in filter(None, os.environ.get(FOLDERS, "").split(":")):
        folder = Path(named).resolve()
        files = [folder / DESCRIPTION]
        if not files[0].exists():
            files = sorted(folder.glob(f"*/{DESCRIPTION}"))
        if not files:
            cause = f"{FOLDERS}: no {DESCRIPTION} is in '{named}' or right below it"
            raise FabricmarkError(cause, "name folders of transports, with colons between")
        for file in files:
            for name, kind in _described(file).items():
                if name in BETWEEN or name in found:
                    remedy = "give its folder, library and namespace another name"
                    raise FabricmarkError(f"'{file}': there is another transport '{name}'", remedy)
                found[name] = kind
    return found


def _described(file: Path) -> dict[str, str]:
    """The names that a file stands for, and what they are between. Raises FabricmarkError (2)."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", file.parent.name) or file.parent.name == NONE:
        remedy = f"use small letters, digits and _, a letter first; {NONE} stands for no transport"
        raise FabricmarkError(f"'{file}': its folder's name is no transport's", remedy)
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FabricmarkError(f"'{file}': {error}", REMEDY) from error
    kind, name = said.get("between"), file.parent.name.replace("_", "-")
    if kind not in (STREAMS, ENGINES):
        raise FabricmarkError(f"'{file}': between is {kind}, not {STREAMS} or {ENGINES}", REMEDY)
    protocols = said.get("protocols", [])
    if not isinstance(protocols, list) or not all(isinstance(one, str) for one in protocols):
        raise FabricmarkError(f"'{file}': protocols is no list of texts", REMEDY)
    return {f"{name}-{one}": kind for one in protocols} or {name: kind}


def _kind(transport: str) -> str | None:
    return BETWEEN.get(transport) or outside().get(transport)


def between(kind: str) -> tuple[str, ...]:
    """The transports that are between these, in the order of the table."""
    return tuple(name for name, known in BETWEEN.items() if known == kind)


def between_hosts(transport: str) -> bool:
    """Whether messages go from memory to memory of the hosts: devices copy nothing for them."""
    return BETWEEN.get(transport) == HOSTS


def between_streams(transport: str) -> bool:
    """Whether kernels themselves send, word by word over links. Raises as `outside`."""
    return _kind(transport) == STREAMS


def between_engines(transport: str) -> bool:
    """Whether engines send packets, called by kernels or by hosts. Raises as `outside`."""
    return _kind(transport) == ENGINES


def over(transport: str) -> str:
    """` over TRANSPORT` behind what is said of a run; nothing where it exchanges nothing."""
    return f" over {transport}" if transport != NONE else ""


def over_hosts(transport: str) -> bool:
    """Whether a message is read from a device, sent from host to host, and written to the other device."""
    return transport == HOST  # the other one between devices gives their memory to MPI


# Those whose messages lie in memories of hosts on their way: the hosts' curve is a part of their time.
THROUGH_HOSTS = tuple(name for name in BETWEEN if between_hosts(name) or over_hosts(name))

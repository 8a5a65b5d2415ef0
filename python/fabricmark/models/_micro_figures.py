"""Figures that Contini et al. 2024 print of OMB-FPGA, by the laws of _point_to_point.py; and why the others
of them have no prediction."""

from dataclasses import replace

from fabricmark.base import transports
from fabricmark.models import _point_to_point

BANDWIDTH = "osu_bw"
PREFIX = "osu"  # of programs of the rows: they are no benchmarks
LARGE = "large"  # of a message: no size is named
LARGEST_BYTES, WINDOW = 2**22, 64  # of these programs where nobody says others
NODES = {"internode": 2, "intranode": 1}
# Why no model says anything of a metric.
REASONS = {
    "latency_increase": "a buffer has no cost in the model, so that several of them could not be slower",
    "latency_ratio": "which copies go from board to board is the MPI library's choice",
    "protocol_change_from": "the protocols of an MPI library are not modelled",
    "protocol_change_to": "the protocols of an MPI library are not modelled",
    "irregular_from": "where a library's tuning is irregular is not modelled",
    "irregular_to": "where a library's tuning is irregular is not modelled",
    "message_bytes_from": "a range of sizes, of which no time is printed",
    "message_bytes_to": "a range of sizes, of which no time is printed",
    "executions": "how often it was measured",
    "iterations": "how often it was measured",
    "pcie_peak": "a figure of the interface, which no copy reaches",
    "pcie_lanes": "a property of the board, which host.link_bandwidth follows from",
    "memory_capacity": "a property of the board: memory.banks times memory.bank_capacity",
    "host_clock": "a property of the host, which no model takes",
    "link_bandwidth": "a figure of the hosts' interface, which no copy reaches",
    "ranks_per_node": "how it was measured: per_node of the system",
}
INPUT = "an input of the model"
ARTEFACT = "an artefact, which the note names: no message was copied"


def is_one(program: str) -> bool:
    """Whether a program of the rows is one of OMB's."""
    return program.startswith(PREFIX)


def figure(one, known) -> float | None:
    """What the model says of a figure, in GB/s; None where it says nothing. Raises MissingValue."""
    placement = one.conditions.get("placement")
    if (one.program, one.metric, one.role) != (BANDWIDTH, "bandwidth", "test") or placement not in NODES:
        return None
    system = known.system(one)
    board = replace(known.board(one), hosts=NODES[placement])
    network = system.networks[transports.HOST]  # the library's own way between devices is over their hosts
    parameters = {
        "size": _size(one.conditions["message_bytes"]), "window": WINDOW,
        "placement": (_point_to_point.IN_DEVICE,) * 2,
    }  # fmt: skip
    found = _point_to_point.predict(_point_to_point.BANDWIDTH, parameters, transports.HOST, board, network)
    return found.value


def _size(said: str) -> int:
    """Bytes of the messages of a row: the least that it names, or the largest of the program."""
    return LARGEST_BYTES if said == LARGE else int(said.split()[0])


def reason(one) -> str:
    """Why a figure has no prediction; "" where nothing says it."""
    if one.role == "input":
        return INPUT
    if one.note.startswith("artefact"):
        return ARTEFACT
    return REASONS.get(one.metric, "")

"""Figures that Mondigo 2020 prints of credit links and of rings of them, by the laws of _credit_link.py."""

from fabricmark.models import _credit_link
from fabricmark.models._credit_link import PUBLISHED, CreditLink

PROGRAMS = ("credit_link", "ring")  # of rows of data/published; they are no benchmarks
GIGA = 1e9
# Of all networks over such cables, with and without a switch.
ANY_CABLE = {"ethernet_40g": "ethernet_40g_direct"}
READS = {"every cycle": 1, "every other cycle": 2}


def figure(one, known) -> float | None:
    """What the laws say of a figure, in its unit; None where they say nothing. Raises MissingValue."""
    found = OF_METRICS.get(one.metric)
    return None if found is None else found(one.conditions, known)


def _link(conditions, *, profile: str, latency: int = 0) -> CreditLink:
    """That of a simulation or a design, by the row; a header is one cycle."""
    packet = int(conditions.get("tx_depth") or conditions["d_cu"])
    return CreditLink(
        latency, packet, 2 * packet, int(conditions.get("d_cu", packet)), timeout=0, keep_alive=0, overhead=1,
        width=int(conditions.get("flit_bits", 0)) // 8, clock=1.0, profile=profile,
    )  # fmt: skip


def _update_cycles(conditions, known, reads: str = "reads") -> float:
    """Figs. 2.2 and 2.3; a header of each packet takes a cycle, but in the printed equations."""
    return _link(conditions, profile=known.profile).update_cycles(READS[conditions[reads]])


def _update_ratio(conditions, known) -> float:
    return _update_cycles(conditions, known) / _update_cycles(conditions, known, "against")


def _way(conditions, known) -> float:
    """Eq. 2.2, which is meant whatever our own link takes."""
    return _link(conditions, profile=PUBLISHED, latency=int(conditions["link_cycles"])).first_word


def _depth(conditions, known) -> float:
    return _credit_link.depth_needed(int(conditions["d_link"]), int(conditions["d_cu"]))


def _frame(conditions, known) -> float:
    return _link(conditions, profile=known.profile).frame


def _network(conditions, known):
    name = conditions["network"]
    return known.network(ANY_CABLE.get(name, name))


def peak(network) -> float:
    """A flit in each cycle [B/s] (eq. 2.1). Raises MissingValue."""
    return network["links.width"] * network["links.clock"]


def long_rate(network) -> float:
    """Of long messages [B/s]: what headers and gaps of full packets leave (eq. 2.3). Raises MissingValue."""
    return peak(network) * _credit_link.efficiency(network["flow.packet"], network["flow.overhead"])


OF_METRICS = {
    "credit_update_cycles": _update_cycles,
    "credit_update_ratio": _update_ratio,
    "d_link": _way,
    "rx_depth_needed": _depth,
    "packet_bytes": _frame,
    "link_bandwidth": lambda conditions, known: peak(_network(conditions, known)) / GIGA,
    "bandwidth": lambda conditions, known: long_rate(_network(conditions, known)) / GIGA,
}

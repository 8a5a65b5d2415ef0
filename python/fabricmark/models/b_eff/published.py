"""Published rows of b_eff."""

from fabricmark.base import transports
from fabricmark.models import _network
from fabricmark.models._published import (
    PrintedMetric,
    Published,
    group,
    largest_message,
    of_board,
    of_network,
)

BOTH = of_board("host.write_latency", "host.read_latency")  # an exchange has both
STAGING = of_board("host.staging_bandwidth")
PAGES = (BOTH, of_board("host.page_latency"))
WORDS = (
    of_board("host.programmed_latency"), of_board("host.programmed_bandwidth", start=1e7),
    of_board("host.programmed_at_once"),
)  # fmt: skip
NEIGHBOURS = of_board("host.neighbour_factor")
HOST = "b_eff over the host"
LATENCY = of_network(transports.CHANNELS, "latency", start=1e-6)
SEVERAL_KB = 4096  # "multiple KB"
INVOCATIONS = 2  # of kernels, before and behind a message over the host (Meyer 2024, section 5.1.2)


def figure(one, known) -> float | None:
    """Latency [us] and bandwidth [GB/s] of a message between two boards (Meyer 2024, sections 5.1.4 and
    5.1.5)."""
    named = one.conditions.get("message_bytes", "")
    if transports.over_hosts(one.transport) and one.metric == "latency":
        size = SEVERAL_KB if named == "multiple KB" else int(named)
        board = known.board(one)
        steps = _network.ring_seconds(float(size), board, known.transport(one), one.transport)
        return float(sum(steps) + INVOCATIONS * board["host.invocation_latency"]) * 1e6
    if not transports.between_engines(one.transport):
        return None
    way = "switched" if one.conditions.get("path") == "switch" else "direct"
    network = known.network(f"{one.transport.replace('-', '_')}_{way}")
    if one.metric == "latency":
        return float(_network.link_seconds(int(named), network, 1)) * 1e6
    if one.metric == "bandwidth" and one.conditions.get("mode") == "buffered":
        line, copying = (network[name] for name in ("links.line_rate", "copy_bandwidth"))
        return 1e-9 / (1 / line + 1 / copying)
    return None


PUBLISHED = Published(
    {"bandwidth": ("bandwidth", "exchange"), "b_eff": ("effective_bandwidth", None)},
    lambda row, parameters: {"largest": largest_message(row)},
    (
        group(HOST, "520n", *PAGES, *WORDS, STAGING, NEIGHBOURS, transport=transports.HOST),
        group(HOST, "u280_ddr", BOTH, STAGING, transport=transports.HOST),
        group("b_eff over channels", "520n", LATENCY, transport=transports.CHANNELS),
    ),
    stage=1,
    headline="b_eff",
    printed={
        "bandwidth": PrintedMetric("bandwidth", {"operation": "exchange", "message_bytes": 2**20}),
        "latency": PrintedMetric("latency", {"operation": "exchange", "message_bytes": 1}, 0.5),
    },
    printed_size=lambda one, parameters: {"largest": 20},
    figure=figure,
    host_bar=(0.10, 0.30),  # it waits for drivers and operating systems, which no equation has
)

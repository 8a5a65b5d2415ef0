"""Published rows of b_eff."""

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
WORDS = (of_board("host.programmed_latency"), of_board("host.programmed_bandwidth", start=1e7))
HOST = "b_eff over the host"
LATENCY = of_network("channels", "latency", start=1e-6)
PUBLISHED = Published(
    {"bandwidth": ("bandwidth", "exchange"), "b_eff": ("effective_bandwidth", None)},
    lambda row, parameters: {"largest": largest_message(row)},
    (
        group(HOST, "520n", *PAGES, *WORDS, STAGING, of_board("host.neighbour_factor"), transport="host"),
        group(HOST, "u280_ddr", BOTH, STAGING, transport="host"),
        group("b_eff over channels", "520n", LATENCY, transport="channels"),
    ),
    stage=1,
    headline="b_eff",
    printed={
        "bandwidth": PrintedMetric("bandwidth", {"operation": "exchange", "message_bytes": 2**20}),
        "latency": PrintedMetric("latency", {"operation": "exchange", "message_bytes": 1}, 0.5),
    },
    printed_size=lambda one, parameters: {"largest": 20},
    host_bar=(0.10, 0.30),  # it waits for drivers and operating systems, which no equation has
)

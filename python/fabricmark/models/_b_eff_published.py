"""Published rows of b_eff."""

from fabricmark.models._published import FitGroup, Published, largest_message, of_board, of_network

COPY_LATENCY = ("host.write_latency", "host.read_latency")  # an exchange has both
HOST = "b_eff over the host"
PUBLISHED = Published(
    {"bandwidth": ("bandwidth", "exchange"), "b_eff": ("effective_bandwidth", None)},
    lambda row, parameters: {"largest": largest_message(row)},
    (
        FitGroup(
            HOST,
            "520n",
            (
                of_board(*COPY_LATENCY),
                of_board("host.page_latency"),
                of_board("host.programmed_latency"),
                of_board("host.programmed_bandwidth", start=1e7),
                of_board("host.staging_bandwidth"),
                of_board("host.neighbour_factor"),
            ),
            {"transport": "host"},
        ),
        FitGroup(
            HOST,
            "u280_ddr",
            (of_board(*COPY_LATENCY), of_board("host.staging_bandwidth")),
            {"transport": "host"},
        ),
        FitGroup(
            "b_eff over channels",
            "520n",
            (of_network("channels", "latency", start=1e-6),),
            {"transport": "channels"},
        ),
    ),
    stage=1,
    host_bar=(0.10, 0.30),  # it waits for drivers and operating systems, which no equation has
)

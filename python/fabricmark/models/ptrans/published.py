"""Published rows of PTRANS, which print the root of the devices times the whole matrix's width."""

from fabricmark.base import transports
from fabricmark.models._published import (
    Published,
    by_operation,
    group,
    of_bitstreams,
    of_board,
    of_network,
    root,
)

TIMES = {"transfer_time": "transfer", "calc_time": "calculation", "total_time": "total"}
USUAL_WIDTH = 32768  # of one device
STAGING = of_board("host.array_staging_bandwidth")
CHANNELS = of_bitstreams(["ptrans_channels"], "fitted.channel_efficiency", "fitted.start_latency")
ORDERING = of_network(transports.HOST, "ordering_bandwidth", start=1e9)


def size(row, parameters) -> dict[str, object]:
    """The whole matrix, in any number of devices."""
    width, printed = root(row.devices), row.matrix_width_printed
    return {"size": round(USUAL_WIDTH * width if printed is None else printed / width)}


PUBLISHED = Published(
    {metric: ("time", operation) for metric, operation in TIMES.items()},
    size,
    (
        group("ptrans, transfers", "520n", STAGING, metric="transfer_time"),
        group("ptrans over channels", "520n", *CHANNELS, transport=transports.CHANNELS, metric="calc_time"),
        group("ptrans over the host", "520n", ORDERING, transport=transports.HOST, metric="calc_time"),
    ),
    stage=3,
    headline="calc_time",
    printed=by_operation("bandwidth", {"bandwidth": "transpose"}),
    printed_size=lambda one, parameters: {"size": round(USUAL_WIDTH * root(one.devices))},
)

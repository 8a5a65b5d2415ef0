"""Published rows of PTRANS, which print the root of the devices times the whole matrix's width."""

from fabricmark.models._published import FitGroup, Published, of_bitstreams, of_board, of_network, root

USUAL_WIDTH = 32768  # of one device


def size(row, parameters) -> dict[str, object]:
    """The whole matrix, in any number of devices."""
    width, printed = root(row.devices), row.matrix_width_printed
    return {"size": round(USUAL_WIDTH * width if printed is None else printed / width)}


PUBLISHED = Published(
    {
        "transfer_time": ("time", "transfer"),
        "calc_time": ("time", "calculation"),
        "total_time": ("time", "total"),
    },
    size,
    (
        FitGroup(
            "ptrans, transfers",
            "520n",
            (of_board("host.array_staging_bandwidth"),),
            {"metric": "transfer_time"},
        ),
        FitGroup(
            "ptrans over channels",
            "520n",
            of_bitstreams(["ptrans_channels"], "fitted.channel_efficiency", "fitted.start_latency"),
            {"transport": "channels", "metric": "calc_time"},
        ),
        FitGroup(
            "ptrans over the host",
            "520n",
            (of_network("host", "ordering_bandwidth", start=1e9),),
            {"transport": "host", "metric": "calc_time"},
        ),
    ),
    stage=3,
)

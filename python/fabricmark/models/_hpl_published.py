"""Published rows of HPL, which print the width of one device's part of the matrix."""

from fabricmark.models._published import FitGroup, Published, of_bitstreams, root

USUAL_WIDTH = 24576
OVER_HOST = ("fitted.multiply_latency", "fitted.panel_efficiency")  # of all block sizes
PUBLISHED = Published(
    {"lu_gflops": ("performance", "lu")},
    lambda row, parameters: {"size": round((row.matrix_width_printed or USUAL_WIDTH) * root(row.devices))},
    (
        FitGroup(
            "hpl over channels",
            "520n",
            of_bitstreams(["hpl_channels"], "fitted.multiply_efficiency", "fitted.panel_efficiency"),
            {"transport": "channels"},
        ),
        FitGroup(
            "hpl over the host",
            "520n",
            of_bitstreams(["hpl_host", "hpl_host_256"], *OVER_HOST),
            {"transport": "host"},
        ),
        FitGroup(
            "hpl over the host",
            "u280_ddr",
            of_bitstreams(["hpl_host"], *OVER_HOST),
            {"transport": "host"},
        ),
    ),
    stage=4,
    tables={"performance": "lu_gflops"},
)

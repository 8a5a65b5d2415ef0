"""Published rows of HPL, which print the width of one device's part of the matrix."""

from fabricmark.base import transports
from fabricmark.models._published import Published, by_operation, group, of_bitstreams, root

USUAL_WIDTH = 24576
PANELS = "fitted.panel_efficiency"
CHANNELS = of_bitstreams(["hpl_channels"], "fitted.multiply_efficiency", PANELS)
HOST = ("fitted.multiply_latency", PANELS)
OF_BLOCKS = of_bitstreams(["hpl_host", "hpl_host_256"], *HOST)  # of both sizes of blocks
OF_ONE_BLOCK = of_bitstreams(["hpl_host"], *HOST)
PUBLISHED = Published(
    {"lu_gflops": ("performance", "lu")},
    lambda row, parameters: {"size": round((row.matrix_width_printed or USUAL_WIDTH) * root(row.devices))},
    (
        group("hpl over channels", "520n", *CHANNELS, transport=transports.CHANNELS),
        group("hpl over the host", "520n", *OF_BLOCKS, transport=transports.HOST),
        group("hpl over the host", "u280_ddr", *OF_ONE_BLOCK, transport=transports.HOST),
    ),
    stage=4,
    headline="lu_gflops",
    tables={"performance": "lu_gflops"},
    printed=by_operation("performance", {"performance": "lu"}),
    printed_size=lambda one, parameters: {"size": one.size},
    group_by=("matrix_width_printed",),
)

"""Published rows of STREAM."""

from fabricmark.models._published import FitGroup, Published, of_board
from fabricmark.models.stream import ELEMENT_BYTES

OPERATIONS = ("copy", "scale", "add", "triad")
WRITE, READ = "stream_pci_write", "stream_pci_read"
PUBLISHED = Published(
    {
        **{f"stream_{name}": ("bandwidth", name) for name in OPERATIONS},
        WRITE: ("bandwidth", "host_to_device"),
        READ: ("bandwidth", "device_to_host"),
    },
    lambda row, parameters: {"size": 2**32 // ELEMENT_BYTES[parameters["data_type"]]},  # 4 GiB
    (
        FitGroup("stream, writes", "u280_ddr", (of_board("host.write_bandwidth"),), {"metric": WRITE}),
        FitGroup("stream, reads", "u280_ddr", (of_board("host.read_bandwidth"),), {"metric": READ}),
    ),
    stage=0,
)

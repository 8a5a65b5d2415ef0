"""Published rows of STREAM."""

from fabricmark.models._published import Published, by_operation, group, of_board
from fabricmark.models.stream import ELEMENT_BYTES, STREAMS

WRITE, READ = "stream_pci_write", "stream_pci_read"
COPIES = {WRITE: ("bandwidth", "host_to_device"), READ: ("bandwidth", "device_to_host")}
PUBLISHED = Published(
    {**{f"stream_{name}": ("bandwidth", name) for name in STREAMS}, **COPIES},
    lambda row, parameters: {"size": 2**32 // ELEMENT_BYTES[parameters["data_type"]]},  # 4 GiB
    (
        group("stream, writes", "u280_ddr", of_board("host.write_bandwidth"), metric=WRITE),
        group("stream, reads", "u280_ddr", of_board("host.read_bandwidth"), metric=READ),
    ),
    stage=0,
    printed=by_operation(
        "bandwidth",
        {**{name: name for name in STREAMS}, "pcie_write": "host_to_device", "pcie_read": "device_to_host"},
    ),
    per_watt=tuple(STREAMS),
    printed_size=lambda one, parameters: {
        "size": one.size or 2**32 // ELEMENT_BYTES[parameters["data_type"]]
    },
)

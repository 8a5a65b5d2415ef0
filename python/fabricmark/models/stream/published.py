"""Published rows of STREAM."""

from fabricmark.models._published import Published, by_operation, group, of_board
from fabricmark.models.stream import ELEMENT_BYTES, STREAMS

WRITE, READ = "stream_pci_write", "stream_pci_read"
# One share for reads and writes: where it is fitted, a third of the bytes is written, as of Triad.
TWO_INPUTS = ("stream_add", "stream_triad")
COPIES = {WRITE: ("bandwidth", "host_to_device"), READ: ("bandwidth", "device_to_host")}
# Of one array where the table prints no size, by table and board: as in Table 3.6, and in Table 3.11 the
# largest power of two of which three fit (section 3.3.4). Elsewhere 4 GiB, as in the other rows.
ARRAY_BYTES = {
    ("Table 3.7", "520n"): 2**31,
    ("Table 3.10", "520n"): 2**31,
    ("Table 3.10", "u280_hbm"): 2**31,
    ("Table 3.11", "520n"): 2**33,
    ("Table 3.11", "u280_ddr"): 2**33,
    ("Table 3.11", "u280_hbm"): 2**31,
}


def printed_size(one, parameters) -> dict[str, object]:
    """Elements of an array in a run of Meyer's tables."""
    array_bytes = ARRAY_BYTES.get((one.table, one.board), 2**32)
    return {"size": one.size or array_bytes // ELEMENT_BYTES[parameters["data_type"]]}


PUBLISHED = Published(
    {**{f"stream_{name}": ("bandwidth", name) for name in STREAMS}, **COPIES},
    lambda row, parameters: {"size": 2**32 // ELEMENT_BYTES[parameters["data_type"]]},  # 4 GiB
    (
        group("stream, banks", "520n", of_board("memory.bank_efficiency"), metric=TWO_INPUTS),
        group("stream, banks", "u280_ddr", of_board("memory.bank_efficiency"), metric=TWO_INPUTS),
        group("stream, writes", "u280_ddr", of_board("host.write_bandwidth"), metric=WRITE),
        group("stream, reads", "u280_ddr", of_board("host.read_bandwidth"), metric=READ),
    ),
    stage=0,
    printed=by_operation(
        "bandwidth",
        {**{name: name for name in STREAMS}, "pcie_write": "host_to_device", "pcie_read": "device_to_host"},
    ),
    per_watt=tuple(STREAMS),
    printed_size=printed_size,
)

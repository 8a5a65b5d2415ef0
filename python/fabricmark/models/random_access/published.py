"""Published rows of RandomAccess: all devices share a table of 8 GiB."""

from math import log2

from fabricmark.models._published import PrintedMetric, Published, group, of_bitstreams
from fabricmark.models.random_access import WORD_BYTES

LATENCY = of_bitstreams(["random_access"], "memory.update_latency")
PUBLISHED = Published(
    {"guops": ("updates", None)},
    lambda row, parameters: {"scope": "global", "log_size": log2(2**33 / WORD_BYTES / row.devices)},
    groups=tuple(group("random_access", board, *LATENCY) for board in ("520n", "u280_ddr")),
    printed={"updates": PrintedMetric("updates", {"operation": "update"})},
    printed_size=lambda one, parameters: {"scope": "global", "log_size": log2(one.size / one.devices)},
)

"""Values of Meyer 2024's tables that the fit sees beside the rows of hpcc_fpga_2021.csv.

That file has HPL of the HACC on one board only, so that values of its kernels would hang on one device
count: Table 4.8 has four boards. `fabricmark validate` does not count them; the cross-validation leaves them
out with the rows of four devices.
"""

from collections.abc import Iterable
from math import isqrt

from fabricmark.models import _published
from fabricmark.results import published
from fabricmark.results.published import Printed, PublishedValue

TABLE = "Table 4.8"
SOURCE = f"Meyer 2024, {TABLE}"
BOARDS_IN_A_NODE = 2  # Fig. 2.6
SYSTEMS = ("hacc",)


def is_beside(one: Printed) -> bool:
    """Whether a printed value has a part in the fit."""
    return one.table == TABLE and one.system in SYSTEMS and one.metric in _published.of(one.benchmark).tables


def row(one: Printed) -> PublishedValue:
    """A printed value as a row of hpcc_fpga_2021.csv, with the width of one device's part of the matrix."""
    if one.size is None:
        raise ValueError(f"{one.table} has no size of {one.benchmark}")
    nodes = one.nodes or -(-one.devices // BOARDS_IN_A_NODE)
    metric = _published.of(one.benchmark).tables[one.metric]
    return PublishedValue(
        one.benchmark, one.system, one.board, one.transport, one.devices, nodes, "test",
        one.size // isqrt(one.devices), "", None, None, one.dtype, metric, None, one.value, one.unit,
        SOURCE,
    )  # fmt: skip


def with_tables(rows: Iterable[PublishedValue]) -> list[PublishedValue]:
    """These rows and those of tables: all that the fit sees. Raises FabricmarkError (2) for a broken file."""
    return [*rows, *(row(one) for one in published.printed() if is_beside(one))]

"""Published rows of GEMM.

Their rates have the rows of blocks in even parts, whatever number of them and of replications is printed: of
the 520N, with 8 for 5 replications (Meyer 2024, Table 3.6), replications with two whole rows would have to
multiply faster than their 1024 operations a cycle.
"""

from fabricmark.models._published import Published, by_operation
from fabricmark.models.gemm import EVEN_PARTS

PUBLISHED = Published(
    {"gflops": ("performance", "gemm")},
    lambda row, parameters: {"size": row.matrix_width_printed or 23040, EVEN_PARTS: True},
    printed=by_operation("performance", {"performance": "gemm"}),
    per_watt=("performance",),
    printed_size=lambda one, parameters: {"size": one.size or 4096, EVEN_PARTS: True},
)

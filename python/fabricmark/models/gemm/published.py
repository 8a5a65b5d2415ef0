"""Published rows of GEMM."""

from fabricmark.models._published import Published, by_operation

PUBLISHED = Published(
    {"gflops": ("performance", "gemm")},
    lambda row, parameters: {"size": row.matrix_width_printed or 23040},
    printed=by_operation("performance", {"performance": "gemm"}),
    per_watt=("performance",),
    printed_size=lambda one, parameters: {"size": one.size or 4096},
)

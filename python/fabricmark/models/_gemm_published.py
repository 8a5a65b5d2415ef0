"""Published rows of GEMM."""

from fabricmark.models._published import Published

PUBLISHED = Published(
    {"gflops": ("performance", "gemm")},
    lambda row, parameters: {"size": row.matrix_width_printed or 23040},
)

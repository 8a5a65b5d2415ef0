"""Keys of values that `fabricmark systems new` measures of kernels that a device's runtime compiles.

Their names end in what they are: an efficiency, seconds, or bytes a second; the models take them by these
names (models/_measured.py).
"""

from itertools import product

COPIES = ("kernel", "read", "message", "write", "kernel_after", "exchange", "mapped")  # of b_eff
OF_COPIES = {
    "start_seconds": "before the first byte",
    "cached_bytes_per_second": "for bytes within cached_bytes",
    "memory_bytes_per_second": "for the bytes beyond",
}
PLAIN = {
    "efficiency": "share of the calibrated limit that the kernel reaches",
    "start_seconds": "of the kernel, beyond the calibrated start",
    "panel_efficiency": "share of the calibrated arithmetic: LU, left and top kernels of HPL",
    "multiply_efficiency": "share of the calibrated arithmetic: multiplications of HPL",
    "solve_efficiency": "share of the host's memory that the solve of HPL reaches",
    "exchange_efficiency": "share of the calibrated path over the host that an exchange reaches",
    "number_seconds": "of a core for each random number, in the base kernel of RandomAccess",
    "kernel_bytes_per_second": "of the kernel in the pipeline of host_transfer",
    "overlap_speed_up": "of that pipeline, overlapped against one step after the other",
    "cached_bytes": "up to which copies go at the rate of the caches",
    "to_device_bytes_per_second": "of the transfers of one rank",
    "to_device_limit_bytes_per_second": "of all ranks together",
    "from_device_bytes_per_second": "of the transfers of one rank",
    "from_device_limit_bytes_per_second": "of all ranks together",
}
MEANINGS = {
    **PLAIN,
    **{f"{copy}_{part}": meaning for copy, (part, meaning) in product(COPIES, OF_COPIES.items())},
}


def dimension(name: str) -> str:
    """Of the value of this name, as in keys.py: a dimension of `quantity.UNITS`, or "number"."""
    for ending in ("bytes_per_second", "seconds", "bytes"):
        if name.endswith(ending):
            return ending
    return "number"  # an efficiency may be a little above 1: limits are measured, too

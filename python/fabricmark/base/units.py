"""Units that times and rates come in."""

TIMES = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # of each in a second
MOST_BUFFERS = 4096  # that one transfer may be cut into
SHARES = frozenset({"%", "x"})  # one number over another of the same unit
RELATIVE_TOLERANCE = 1e-6  # between a number of a file and the same worked out from the samples


def is_time_or_rate(unit: str) -> bool:
    """Whether values in a unit need a clock: `us`, `GB/s`."""
    return unit in TIMES or unit.endswith("/s")

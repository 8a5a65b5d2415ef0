"""Cycles of pipelines as high-level synthesis makes them: Meyer 2024, section 2.1, equations 2.1 and 2.2.

All take and return numbers or arrays of NumPy, in cycles and iterations.
"""

import numpy as np


def cycles(latency, interval, iterations):
    """C = L + II (N - 1): the first iteration takes its latency, each other starts an interval later (eq.
    2.1)."""
    return latency + interval * (np.asarray(iterations) - 1)


def unrolled_cycles(latency, interval, iterations, unroll):
    """C = L + II (N - U) / U, where U iterations of a loop work at the same time (eq. 2.2)."""
    return latency + interval * (np.asarray(iterations) - unroll) / unroll

"""Metrics that follow from others, worked out again from the samples as the programs do it.

A model whose program derives metrics offers `derived(measurements)`: {(name, *values of the axes): (best,
median)} in the metrics' units, from the measurements that have samples.
"""

import statistics
from collections.abc import Sequence
from typing import Protocol


class Sampled(Protocol):
    """A measurement with samples, as in `results`."""

    name: str
    axes: dict[str, object]
    work_amount: float | None

    def seconds(self) -> list[float]: ...


Derived = dict[tuple, tuple[float, float]]


def fastest_and_median(measurement: Sampled) -> tuple[float, float]:
    """Of the repetitions [s]."""
    seconds = measurement.seconds()
    return min(seconds), statistics.median(seconds)


def effective_bandwidth(measurements: Sequence[Sampled]) -> Derived:
    """b_eff: mean over all message sizes of the bandwidth [GB/s]."""
    rates = [
        [1e-9 * entry.work_amount / time for time in fastest_and_median(entry)]
        for entry in measurements
        if entry.name == "bandwidth" and entry.axes["operation"] == "exchange"
    ]
    best, median = (statistics.fmean(column) for column in zip(*rates, strict=True))
    return {("effective_bandwidth",): (best, median)}


def hpl_performance(measurements: Sequence[Sampled]) -> Derived:
    """HPL's and HPL-MxP's count of operations over the time of their parts [GFLOP/s]."""
    parts = {
        entry.axes.get("operation"): entry for entry in measurements if entry.name in ("performance", "time")
    }
    size = (3 / 2 * parts["lu"].work_amount) ** (1 / 3)  # 2/3 n^3 operations
    operations = 1e-9 * (parts["lu"].work_amount + 3 / 2 * size**2)
    found: Derived = {}
    times, words = (0.0, 0.0), []
    for name in ("lu", "solve", "refine"):
        if name in parts:
            pairs = zip(times, fastest_and_median(parts[name]), strict=True)
            times, words = tuple(sum(pair) for pair in pairs), [*words, name]
            found["performance", "+".join(words)] = tuple(operations / time for time in times)
    return found


def overlap_speed_up(measurements: Sequence[Sampled]) -> Derived:
    """host_transfer: time of the steps one after the other over that with the steps overlapped."""
    orders = {entry.axes["order"]: entry for entry in measurements if entry.name == "pipeline_time"}
    serial, overlapped = (fastest_and_median(orders[name]) for name in ("serial", "overlapped"))
    return {("overlap_speed_up",): (serial[0] / overlapped[0], serial[1] / overlapped[1])}

"""Latency and bandwidth of a measured curve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fabricmark.base.terminal import percent
from fabricmark.models._least import robust

HUBER = 1.345  # residuals beyond so many standard deviations count less
DEVIATIONS = 1.4826  # of a normal distribution, in its median absolute one
ROUNDS = 50
TOLERANCE = 1e-9  # of scale, factors and loss, relative


class Fit(NamedTuple):
    """A fitted line; `relative_error` is the median of |fitted / measured - 1|."""

    latency_seconds: float
    bytes_per_second: float
    relative_error: float

    def seconds(self, moved_bytes):
        """Time to move so many bytes [s]."""
        return self.latency_seconds + np.asarray(moved_bytes, dtype=float) / self.bytes_per_second


def fit_latency_bandwidth(moved_bytes, seconds) -> Fit:
    """Latency + bytes / bandwidth, fitted in relative error, robustly (Huber weights), neither negative.

    Raises ValueError for fewer than two sizes or times that are not positive.
    """
    moved = np.asarray(moved_bytes, dtype=float)
    times = np.asarray(seconds, dtype=float)
    if len(np.unique(moved)) < 2 or not np.all(times > 0):
        raise ValueError("a fit needs two sizes and positive times")
    columns = np.stack([1 / times, moved / times], axis=1)
    scale = np.linalg.norm(columns, axis=0)
    found, away = _two_not_negative(columns / scale)
    latency, per_byte = found / scale
    return Fit(latency, 1 / per_byte if per_byte > 0 else np.inf, float(np.median(away)))


def _two_not_negative(columns):
    """Two factors, neither negative, with which the columns add up to one, and how far off each row is.

    The loss is Huber's with a scale that the residuals themselves set; it is found in a few rounds.
    """

    def errors(factors):
        return columns @ factors - 1

    found, scale = np.linalg.lstsq(columns, np.ones(len(columns)), rcond=None)[0], 0.0
    found = np.maximum(found, 0)
    for _ in range(ROUNDS):
        away = np.abs(errors(found))
        before, scale = scale, HUBER * max(DEVIATIONS * float(np.median(away)), 1e-12)
        if abs(scale - before) <= TOLERANCE * scale:
            break
        found = robust(columns, found, scale, TOLERANCE)
    return found, away


@dataclass(frozen=True)
class Modelled:
    """Time of one exchange of each size, what it is lost to, and where its parameters are from."""

    seconds: np.ndarray
    words: list[str]
    explanation: str


def curve(measurements: Sequence, operation: str) -> dict[int, float]:
    """{message bytes: best time [s]} of the measured latencies of one operation."""
    return {
        entry.axes["message_bytes"]: entry.best * 1e-6
        for entry in measurements
        if entry.name == "latency" and entry.unit == "us" and entry.axes.get("operation") == operation
    }


def fit_of(times: Mapping[int, float], messages: int) -> Fit | None:
    """The fit of a measured curve whose times [s] are of so many messages at once; None without a curve."""
    try:
        return fit_latency_bandwidth([messages * size for size in times], list(times.values()))
    except ValueError:
        return None


def fitted(sizes, fit: Fit, messages: int, carrier: str) -> Modelled:
    """A line through the measured times: latency up to half of the bandwidth, then what carries the bytes."""
    moved = messages * np.asarray(sizes, dtype=float)
    is_short = moved / fit.bytes_per_second < fit.latency_seconds
    half = fit.latency_seconds * fit.bytes_per_second / messages
    explanation = (
        f"fit of this run's curve: {fit.latency_seconds * 1e6:.3g} us + bytes / "
        f"{fit.bytes_per_second / 1e9:.3g} GB/s; half of that rate at messages of {half:.0f} bytes; "
        f"typical error {percent(fit.relative_error)}"
    )
    return Modelled(fit.seconds(moved), ["latency" if short else carrier for short in is_short], explanation)

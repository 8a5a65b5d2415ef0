"""How sure predictions of a measured CPU or GPU are: error bars by kind of metric and size.

`systems new` leaves each of its short runs out once and predicts it from the others (measure/left_out.py);
what 90 % of these errors stay within lies in the file of the kernels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fabricmark.models import Prediction, _transfers
from fabricmark.models.machine import Bitstream


def kind_of(name: str, axes: Mapping) -> str:
    """What the error bars of a metric are called: copies over the link to the host are unlike kernels."""
    return f"{name}_over_link" if is_over_link(axes) else name


def is_over_link(axes: Mapping) -> bool:
    """Whether a metric is of copies between host and device beside a benchmark's kernels."""
    return axes.get("operation") in _transfers.LAPS


def bytes_of(axes: Mapping) -> float | None:
    """Of the message or the copy that a metric is of; None for one of a whole run."""
    found = axes.get("message_bytes", axes.get("bytes"))
    return None if found is None else float(found)


def error_bar(bitstream: Bitstream | None, name: str, axes: Mapping) -> float | None:
    """The share of a prediction that 90 % of the values stay within: between two sizes along a line over the
    logarithm of the size, beyond them as at the nearest. None where no short run told."""
    known = None if bitstream is None else bitstream.error_bars.get(kind_of(name, axes))
    if known is None:
        return None
    sizes = np.log(np.maximum(known.bytes, 1.0))
    return float(np.interp(np.log(max(bytes_of(axes) or 1.0, 1.0)), sizes, known.shares))


def with_error_bars(predictions: Sequence[Prediction], bitstream: Bitstream | None) -> list[Prediction]:
    """Those that have a value, of a kernel with error bars, with these."""
    return [
        one if one.value is None else replace(one, error_bar=error_bar(bitstream, one.name, one.axes))
        for one in predictions
    ]

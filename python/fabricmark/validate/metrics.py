"""Which prediction a published metric means, and its value in the unit of the row."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

from fabricmark.base import quantities
from fabricmark.models import Prediction
from fabricmark.results.published import PublishedValue
from fabricmark.validate.runs import NotPredicted, published_of

# Factor from a unit to that of its kind: B/s, FLOP/s, updates a second, s.
FACTORS = {
    unit: (quantities.PREFERRED[dimension][0], factor)
    for dimension in ("bytes_per_second", "flops_per_second", "updates_per_second", "seconds")
    for unit, factor in quantities.UNITS[dimension].items()
}


def prediction_of(row: PublishedValue, predictions: Sequence[Prediction]) -> Prediction:
    """The prediction that a row measures. Raises NotPredicted."""
    wanted = published_of(row).metrics.get(row.metric)
    if wanted is None:
        raise NotPredicted(f"no model has the metric {row.metric} of {row.benchmark}")
    name, operation = wanted
    fits = [one for one in predictions if one.name == name and operation in (None, one.axes.get("operation"))]
    if row.message_bytes is not None:
        fits = _of_size(row.message_bytes, fits)
    if not fits:
        at = f" for messages of {row.message_bytes} bytes" if row.message_bytes else ""
        raise NotPredicted(f"the model of {row.benchmark} has no {row.metric}{at}")
    if fits[0].value is None:
        raise NotPredicted(fits[0].explanation)
    return fits[0]


def _of_size(message_bytes: int, found: Sequence[Prediction]) -> list[Prediction]:
    """The prediction of a message size; between two modelled sizes along a line of both logarithms."""
    sizes = {one.axes.get("message_bytes"): one for one in found}
    if message_bytes in sizes:
        return [sizes[message_bytes]]
    known = sorted(size for size, one in sizes.items() if size and one.value)
    if not known or not known[0] < message_bytes < known[-1]:
        return []
    after = next(size for size in known if size > message_bytes)
    before = known[known.index(after) - 1]
    along = log(message_bytes / before) / log(after / before)
    value = exp((1 - along) * log(sizes[before].value) + along * log(sizes[after].value))
    return [replace(sizes[after], axes={**sizes[after].axes, "message_bytes": message_bytes}, value=value)]


def value_of(row: PublishedValue, found: Prediction) -> float:
    """The prediction in the unit of the row. Raises NotPredicted where it is of another kind."""
    kind, factor = FACTORS[found.unit]
    row_kind, row_factor = FACTORS[row.unit]
    if kind != row_kind:
        raise NotPredicted(f"the metric {row.metric} is in {found.unit}, not in {row.unit}")
    return found.value * factor / row_factor

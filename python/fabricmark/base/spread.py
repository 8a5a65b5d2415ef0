"""Fewer of many values, for a reader."""

from collections.abc import Sequence


def thinned(values: Sequence, most: int) -> list:
    """At most `most` of the values, evenly spread, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(i * (len(values) - 1) / (most - 1))] for i in range(most)]

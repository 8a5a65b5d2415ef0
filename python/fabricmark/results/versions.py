"""Versions of the format of result files: older ones are turned into the newest before anything reads them.

Version 1: all metrics of a file are of one kind, that of the device's wall clock; samples do not say theirs.
Version 2: each metric has its own kind, which its samples repeat; samples can have inner samples.
"""

from collections.abc import Mapping

FAMILY = "fabricmark-result"
OLDEST, NEWEST = 1, 2
SCHEMA = f"{FAMILY}/{NEWEST}"


def upgraded(document: Mapping) -> Mapping:
    """A document of any known version as one of the newest, not checked yet; the given one stays as it is."""
    entries = document.get("measurements")
    if document["schema"] == SCHEMA or not isinstance(entries, list):
        return {**document, "schema": SCHEMA}
    return {**document, "schema": SCHEMA, "measurements": [_with_kind_of_samples(entry) for entry in entries]}


def _with_kind_of_samples(entry: object) -> object:
    samples = entry.get("samples") if isinstance(entry, Mapping) else None
    if not isinstance(samples, Mapping) or "kind" not in entry:
        return entry
    return {**entry, "samples": {"kind": entry["kind"], **samples}}

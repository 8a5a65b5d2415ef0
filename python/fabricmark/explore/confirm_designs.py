"""The best designs of a benchmark once more, by the modelled clock of this project's own program."""

from collections.abc import Mapping
from typing import Any

from fabricmark import models
from fabricmark.base import transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.explore.confirm import Confirmed, exported, measurements
from fabricmark.explore.designs import Answer, Found
from fabricmark.models import _transfers

OF_HOST = "host"  # memory.kind of a board whose kernels reach the host's memory
# Arrays lie there already; no metric that designs are explored by has copies of them in it.
UNCOPIED = {
    kind: {"bytes": [0.0], "seconds": [0.0], "seconds_per_byte": [0.0]}
    for kind in ("array", "message", "message_beside_others")
}


def confirm(answer: Answer, one: Found) -> Confirmed:
    """Runs a design with --timing-only. Raises FabricmarkError (3) where the program cannot run."""
    case, benchmark = one.case, answer.asked.benchmark
    words: list[Any] = ["--bitstream-id", case.base, "--ranks", one.devices]
    if case.transport != transports.NONE:
        words += ["--transport", case.transport]
    for name, value in case.sizes(one.devices).items():
        if name not in case.bitstream.parameters:
            words += [f"--{name.replace('_', '-')}", value]
    found = measurements(benchmark, _document(answer, one), words)
    clock = next((row["best"] for row in found if _is_headline(benchmark, row)), None)
    if clock is None:
        raise FabricmarkError(f"--confirm: {benchmark} has no modelled {answer.metric}", "leave it out")
    label = ", ".join(str(value) for value in one.values.values())
    # Rates, so that the clock's time over the model's is the model's rate over the clock's.
    return Confirmed(label, one.rate, float(clock), answer.unit)


def _is_headline(benchmark: str, row: Mapping[str, Any]) -> bool:
    name, axes = models.traits(benchmark).headline or (row["name"], {})
    return bool(row["name"] == name and axes.items() <= row["axes"].items())


def _document(answer: Answer, one: Found) -> dict[str, Any]:
    """The exported system, whose synthesis has the parameters of this design."""
    wanted = answer.asked.wanted
    said = exported(wanted, lambda kind: answer.asked.moved(kind, one.case.transport))
    for kind in said["topology"]:
        kind["most_devices"] = max(one.devices, kind["most_devices"])
    for device in said["devices"]:
        if device["memory"]["kind"] == OF_HOST:
            device["copies"] = {way: UNCOPIED for way in _transfers.RATES} | device["copies"]
    row = next(row for row in said["bitstreams"] if row["id"] == one.case.base)
    row["parameters"] = {**row["parameters"], **one.parameters}
    return said

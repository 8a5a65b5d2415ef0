"""What the models say of the runs of `fabricmark scale`, as reports have it, with their error bars; with
`--calibrate` after rows of one's own, with those that these leave."""

from collections.abc import Sequence
from pathlib import Path, PurePath

from fabricmark import models
from fabricmark.base import micro
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import _error_bars
from fabricmark.models.machine import Bitstream
from fabricmark.results import Result
from fabricmark.results.scaling import Run, Series
from fabricmark.systems.device_limits import Devices

EMULATED = "emulated"  # its time says nothing of what a model is of
BYTES = "message_bytes"
HEADLINES = {"bw": "bandwidth", "bibw": "bandwidth"}  # of the others latency
GIVEN = {"placement": "placement", "window": "window_size", "issuer": "issuer"}  # parameters by --set's names
Known = dict[tuple, tuple[float | None, float | None]]


class Models:
    """`lines`: what rows of one's own changed. Raises FabricmarkError (2) for what tells nothing."""

    def __init__(self, calibrate: Sequence[Path]) -> None:
        from fabricmark.validate import calibrated, outcomes  # imported here: the runs come first

        self._devices = Devices()
        load = outcomes.loaded("fitted")
        self._known = calibrated.read(calibrate, load) if calibrate else None
        self.lines = self._known.lines if self._known else ()

    def beside(self, found: Sequence[Series], runs: Sequence[Run]) -> None:
        """Fill `modelled` and `half_width` of the series of these runs."""
        told = {run.result.path.name: self._of(run.result) for run in runs}
        for entry in found:
            if entry.kind == EMULATED:
                continue
            key = (entry.name, frozenset(entry.axes.items()), entry.unit)
            values = [told.get(file, {}).get(key, (None, None)) for file in entry.files]
            if any(value is not None for value, _ in values):
                entry.modelled = [value for value, _ in values]
            if any(width is not None for _, width in values):
                entry.half_width = [width for _, width in values]

    def _of_messages(self, result: Result) -> Known:
        """Of a micro-benchmark on a described system, as `predict` has it."""
        from fabricmark.predict import micro as predicted

        parameters = result.document["parameters"]
        system = PurePath(str(parameters.get("system", ""))).stem
        name = HEADLINES.get(result.benchmark, "latency")
        entries = [one for one in result.measurements if one.name == name and BYTES in one.axes]
        given = {key: str(parameters[own]) for key, own in GIVEN.items() if own in parameters}
        sizes = sorted({int(str(one.axes[BYTES])) for one in entries})
        try:
            values = predicted.by_size(
                f"{micro.PREFIX}{result.benchmark}", system, str(parameters["transport"]), result.ranks or 1,
                sizes, given,
            )  # fmt: skip
        except (FabricmarkError, KeyError):  # no such system, or nothing predicts it
            return {}
        return {
            (one.name, frozenset(one.axes.items()), one.unit): (values.get(int(str(one.axes[BYTES]))), None)
            for one in entries
        }

    def _of(self, result: Result) -> Known:
        """By metric, its prediction and the half-width of its interval."""
        from fabricmark.validate import learned, own_results

        if models.find(result.benchmark) is None and micro.named(result.benchmark) is not None:
            return self._of_messages(result)
        found = own_results.of_result(result, self._devices)
        if isinstance(found, str):
            return {}
        run, entries = found
        widths: list[float | None]
        if self._known is None:
            kernel = self._kernel(result)
            values = run.predicted(run.system)
            widths = [_error_bars.error_bar(kernel, one.name, one.axes) for one in entries]
        else:
            told = learned.told(self._known.learned, run)
            values = told.values
            widths = [*told.half_widths]
        keys = [(one.name, frozenset(one.axes.items()), one.unit) for one in entries]
        return dict(zip(keys, zip(values, widths, strict=True), strict=True))

    def _kernel(self, result: Result) -> Bitstream | None:
        """Whose short runs tell how sure its predictions are."""
        known = self._devices.of(result)
        if known is None:
            return None
        document = result.document
        parameters = {**document["parameters"], "variant": document["run"]["variant"]}
        return known.arguments(result.benchmark, parameters, result.ranks or 1).get("bitstream")

"""What `fabricmark scale` says of the models beside its runs."""

from dataclasses import replace

import pytest
from fabricmark import results
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.schema import first_fault
from fabricmark.measure import scaling_table
from fabricmark.measure.scale_models import Models
from fabricmark.models.machine import ErrorBars
from fabricmark.report import run_tables
from fabricmark.results import scaling
from fabricmark.results.scaling import Design, Run
from fabricmark.systems import device_limits
from test_predict_own_results import RATES, document_of, file_of_fixture

__all__ = ["file_of_fixture"]
pytestmark = pytest.mark.usefixtures("of_the_repository")


def series_of(file_of, calibrate=(), share=1.0):
    """(the series of a run of STREAM on one board of Noctua 1, its result, the models)"""
    result = results.load(file_of(document_of(share), "weak-1.json"))
    found = scaling.series("weak", [Run(1, None, result)], Design())
    models = Models(calibrate)
    models.beside(found, [Run(1, None, result)])
    return found, result, models


def test_the_models_of_a_report_stand_beside_the_runs(file_of):
    found, result, models = series_of(file_of)
    known = device_limits.of_result(result)
    reported = run_tables.rows(result.measurements, run_tables.predictions(result, known))
    assert [entry.modelled for entry in found] == [[pytest.approx(row.modelled)] for row in reported]
    assert [entry.half_width for entry in found] == [[]] * len(found) and models.lines == ()


def test_a_kernel_with_error_bars_has_them_here(file_of, monkeypatch):
    of = device_limits.Devices.of

    def with_bars(self, result):
        known = of(self, result)
        bars = {"bandwidth": ErrorBars((1.0,), (0.25,))}
        kernel = replace(known.fpga.bitstream, error_bars=bars)
        return replace(known, fpga=replace(known.fpga, bitstream=kernel))

    monkeypatch.setattr(device_limits.Devices, "of", with_bars)
    found, _, _ = series_of(file_of)
    of_link = ("host_to_device", "device_to_host")
    assert {entry.operation: entry.half_width for entry in found} == {
        entry.operation: [] if entry.operation in of_link else [0.25] for entry in found
    }


def test_after_rows_of_one_s_own_they_are_as_these_say_with_an_error_bar(file_of, capsys):
    rows = file_of(document_of(0.6), "own.json")
    found, _, models = series_of(file_of, [rows], 0.6)
    for entry in found:
        assert entry.modelled[0] == pytest.approx(0.6 * RATES[entry.operation], rel=0.05)
        assert 0 < entry.half_width[0] < 0.5
    assert "calibrated with own.json" in models.lines[0]
    about = {"ranks_kind": "single", "device": "a board"}
    scaling_table.show("stream", about, found)
    said = " ".join(capsys.readouterr().out.split())
    assert "modelled" in said and "±" in said and "error: modelled / best - 1." in said


def test_a_summary_has_them_and_older_ones_do_not(file_of):
    found, _, _ = series_of(file_of)
    about = {
        "created": "2026-11-21T01:02:03Z", "parameter": "size", "ranks_kind": "in-process",
        "runtime": "system", "device": "a board", "banks": None, "kernel_mhz": None,
    }  # fmt: skip
    document = scaling.document("stream", about, found)
    assert first_fault("scaling-1", document) is None
    assert document["series"][0]["modelled"] == found[0].modelled
    assert "half_width" not in document["series"][0]


def test_rows_that_tell_nothing_are_refused_before_anything_runs(file_of):
    document = document_of()
    document["run"]["command"] = ["fm_stream"]
    with pytest.raises(FabricmarkError, match="no row that a model predicts"):
        Models([file_of(document)])

"""Predictions that learn from result files of this suite's own runs (validate/own_results.py)."""

import copy
import json
import random
from dataclasses import replace

import numpy as np
import pytest
import samples
from conftest import REPOSITORY
from fabricmark import systems
from fabricmark.base.errors import FabricmarkError
from fabricmark.validate import learned, own_results
from fabricmark.validate.observed import Observed
from fabricmark.validate.posterior import Place
from test_report_fpga import BOARD, KERNEL, PARAMETERS

pytestmark = pytest.mark.usefixtures("of_the_repository")
OPTIONS = ("--bitstream-id", "520n_multi/stream", "--system", "noctua1")
RATES = {"copy": 65.0, "scale": 65.1, "add": 68.1, "triad": 68.0}  # GB/s, about as the model has them


def document_of(share=1.0, **more):
    """A run of STREAM on one board of Noctua 1, at so many times these rates."""
    document = copy.deepcopy(samples.result(device=BOARD, operations=tuple(RATES), **more))
    document["run"]["kernel"] = dict(KERNEL)
    document["run"]["command"] = ["fm_stream", *OPTIONS]
    document["parameters"] |= PARAMETERS
    document["measurements"] = [
        samples.measurement(name, [[samples.SIZE * 4 * samples.STREAMS[name] / (share * rate * 1e9)] * 3])
        for name, rate in RATES.items()
    ]
    return document


@pytest.fixture(name="file_of")
def file_of_fixture(tmp_path):
    def write(document, name="stream.json"):
        path = tmp_path / name
        path.write_text(json.dumps(document))
        return path

    return write


def test_a_result_is_a_run_of_its_system(file_of):
    (run,), without = own_results.of_files([file_of(document_of())])
    assert without == []
    assert {one.pool for one in run.places} == {("stream", "noctua1", "520n", "none")}
    assert {one.metric[1] for one in run.places} == set(RATES)
    assert run.places[0].design == "stream" and run.labels[0].startswith("stream.json bandwidth")
    assert run.predicted(run.system) == pytest.approx(run.values, rel=0.05)


def test_predictions_learn_from_a_folder_of_results(file_of, predict, tmp_path):
    for at in range(3):
        file_of(document_of(0.6), f"{at}.json")
    words = ["stream", "--system", "noctua1"]
    usual, now = predict(*words), predict(*words, "--calibrate", tmp_path)
    assert now.returncode == 0, now.stderr
    assert "4 values of 1 runs" in now.stdout  # of the same settings: the best counts
    values = [float(one.stdout.splitlines()[3].split()[2]) for one in (usual, now)]
    assert values[1] / values[0] == pytest.approx(0.6, rel=0.05)


def test_rows_and_results_stand_side_by_side(file_of, predict):
    done = predict(
        "stream", "--system", "noctua1", "--calibrate", file_of(document_of()),
        "--calibrate", REPOSITORY / "docs" / "examples" / "own_rows.csv",
    )  # fmt: skip
    assert done.returncode == 0 and "own_rows.csv: " in done.stdout
    assert "calibrated with stream.json, own_rows.csv" in done.stdout


def test_the_best_of_repeated_runs_counts(file_of, tmp_path):
    for at, share in enumerate((0.9, 1.1, 1.0)):
        file_of(document_of(share), f"{at}.json")
    runs, _ = own_results.of_files([tmp_path])
    assert max(max(run.values) for run in runs) == pytest.approx(1.1 * max(RATES.values()))
    assert sum(len(run.values) for run in runs) == len(RATES)


def test_what_the_same_samples_make_counts_once(file_of):
    document = document_of()
    again = {**document["measurements"][3], "name": "performance", "axes": {"operation": "more"}}
    document["measurements"].append(again)
    (run,), _ = own_results.of_files([file_of(document)])
    assert len(run.values) == len(RATES)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one["verdicts"].append(samples.verdict("failed")), "INVALID"),
        (lambda one: one["run"].update(command=["fm_stream"]), "nothing describes its device"),
        (lambda one: one["environment"]["device"].update(emulated=True), "nothing describes its device"),
    ],
)
def test_a_result_that_tells_nothing_is_named(file_of, change, said):
    document = document_of()
    change(document)
    runs, (reason,) = own_results.of_files([file_of(document)])
    assert runs == [] and reason.startswith("stream.json: ") and said in reason


def test_results_that_nothing_predicts_are_refused(file_of, predict, one_error_line):
    document = document_of()
    document["run"]["command"] = ["fm_stream"]
    line = one_error_line(predict("stream", "--system", "noctua1", "--calibrate", file_of(document)), 2)
    assert "no row that a model predicts" in line and "nothing describes its device" in line


def test_more_values_than_a_posterior_is_for_are_refused(file_of, monkeypatch):
    monkeypatch.setattr(own_results, "MOST", 3)
    with pytest.raises(FabricmarkError, match="4 measured values"):
        own_results.of_files([file_of(document_of())])


def runs_of_a_processor(spread, device_class="cpu"):
    """40 runs whose values differ so much, of something that nothing predicts better."""
    system = systems.load("noctua1")
    drawn = random.Random(1)
    found = []
    for at in range(40):
        place = Place(
            "nobody", "here", "board", "none", (f"rate {at}", ""), 1, 1.0, device_class=device_class
        )
        value = float(np.exp(drawn.gauss(0, spread)))
        found.append(Observed(system, "none", [place], lambda system: [1.0], [value], [f"run {at}"]))
    return found


def test_a_processor_s_interval_follows_from_the_spread_of_its_own_values():
    """The narrower, the less they differ; 90 % of values like them are within."""
    asked = runs_of_a_processor(0.2)[0]
    new = replace(asked, places=[replace(asked.places[0], metric=("another", ""))])
    widths = []
    for spread in (0.03, 0.4):
        known = learned.learn(runs_of_a_processor(spread))
        width = learned.told(known, new).half_widths[0]
        widths.append(width)
        drawn = random.Random(2)
        within = [abs(np.exp(drawn.gauss(0, spread)) - 1) <= width for _ in range(1000)]
        assert 0.8 <= np.mean(within) <= 1.0
    assert widths[1] > 2 * widths[0]


def test_boards_keep_the_likeness_of_published_rows():
    assert learned.learn(runs_of_a_processor(0.4, "fpga")).spreads == {}
    assert learned.learn(runs_of_a_processor(0.4)).spreads["here"] > 1.5

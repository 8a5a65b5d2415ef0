"""The report: kinds are never mixed, damaged files do not hide the others, names are plain text."""

import io
import json
import os
import subprocess

import pytest
import samples
from compare_samples import own_kernel
from fabricmark import models, results
from fabricmark.base import paths, terminal
from fabricmark.report import run_tables
from fabricmark.systems import calibration, device_limits
from rich.console import Console

EMULATOR = {**samples.DEVICE, "name": "emulated board", "class": "emulator", "emulated": True}


def rows(place, document):
    """{operation: Row} of a document."""
    result = results.load(place.write("one.json", document))
    predicted = run_tables.predictions(result, device_limits.of_result(result))
    return {entry.operation: entry for entry in run_tables.rows(result.measurements, predicted)}


def text(place, document, width=120):
    console = Console(file=io.StringIO(), width=width)
    run_tables.show([results.load(place.write("one.json", document))], console)
    return console.file.getvalue()


def test_measured_beside_model_and_limit(calibrated):
    triad = rows(calibrated, samples.result())["triad"]
    assert triad.best == pytest.approx(40.27, rel=1e-3)
    assert triad.modelled == pytest.approx(49.8, rel=0.01)
    assert triad.limit == 50
    assert triad.efficiency == pytest.approx(triad.best / 50)
    assert (triad.kind, triad.bottleneck) == ("measured", "memory bandwidth")
    shown = text(calibrated, samples.result())
    assert "stream, base kernel, on sample-cpu, 1 rank" in shown
    for word in ("triad", "measured", "81 %", "memory bandwidth", "valid", "device_to_host"):
        assert word in shown


@pytest.mark.parametrize(
    "document, operation, unit, best, limit, bottleneck",
    [
        (samples.gemm(), "gemm", "GFLOP/s", 156.2, 200, "peak FLOP/s"),
        (samples.gemm(variant="base"), "gemm", "GFLOP/s", 156.2, 200, "peak FLOP/s"),
        (samples.fft(), "forward", "GB/s", 13.42, 32, "peak FLOP/s"),
        (samples.random_access(), "update", "GUOP/s", 0.08389, 0.1297, "random updates"),
    ],
)
def test_arithmetic_and_random_updates(calibrated, document, operation, unit, best, limit, bottleneck):
    entry = rows(calibrated, document)[operation]
    assert (entry.unit, entry.bottleneck) == (unit, bottleneck)
    assert (entry.best, entry.limit) == (pytest.approx(best, rel=1e-3), pytest.approx(limit, rel=1e-3))
    assert entry.modelled <= entry.limit
    shown = text(calibrated, document)
    assert unit in shown and bottleneck in shown


def test_two_metrics_of_an_operation_are_told_apart(calibrated):
    shown = [" ".join(line.split()) for line in text(calibrated, samples.fft()).splitlines()]
    for words in ("performance forward", "bandwidth forward", "performance inverse", "bandwidth inverse"):
        assert any(line.startswith(words) for line in shown)


@pytest.mark.parametrize(
    "kind, device", [("emulated", EMULATOR), ("emulated", samples.DEVICE), ("modelled", samples.DEVICE)]
)
def test_other_kinds_are_not_compared(calibrated, kind, device):
    for entry in rows(calibrated, samples.result(kind=kind, device=device)).values():
        assert (entry.kind, entry.modelled, entry.limit, entry.efficiency) == (kind, None, None, None)
        assert entry.bottleneck == "-"


@pytest.mark.parametrize("device_class", ["emulator", "cpu"])
def test_an_emulator_has_no_board_even_when_calibrated(place, device_class):
    device = {**EMULATOR, "class": device_class}
    document = samples.calibration(device)
    paths.write_atomically(calibration.file_for(document), json.dumps(document))
    entry = rows(place, samples.result(kind="measured", device=device))["triad"]
    assert (entry.modelled, entry.limit) == (None, None)


def test_each_row_carries_its_own_kind(calibrated):
    document = samples.result()
    document["measurements"][0] = samples.measurement("copy", ((0.01, 0.012, 0.011),), "emulated")
    found = rows(calibrated, document)
    assert (found["copy"].kind, found["copy"].modelled) == ("emulated", None)
    assert found["scale"].kind == "measured" and found["scale"].modelled is not None


def test_without_calibration(place):
    entry = rows(place, samples.result())["triad"]
    assert (entry.modelled, entry.limit, entry.bottleneck) == (None, None, "-")
    assert "run `fabricmark systems new`" in text(place, samples.result())


def test_parameters_that_the_model_does_not_know(calibrated):
    document = samples.result()
    del document["parameters"]["size"]
    assert rows(calibrated, document)["triad"].modelled is None


def test_benchmark_without_a_model(calibrated):
    document = samples.result()
    document["run"]["benchmark"] = "nothing"
    assert models.find("nothing") is None
    assert rows(calibrated, document)["triad"].modelled is None


def test_hosts_of_the_ranks_add_up(calibrated):
    document = samples.result(ranks=2)
    assert rows(calibrated, document)["triad"].limit == 50  # two ranks share one memory
    document["environment"]["ranks"]["placement"][1]["host"] = "there"
    assert rows(calibrated, document)["triad"].limit == 100


def test_a_time_is_better_when_it_is_shorter():
    prediction = models.Prediction("latency", {}, 2.0, "us", 1.0, "-", "")
    entry = {**samples.measurement(), "name": "latency", "axes": {}, "unit": "us", "better": "lower"}
    measured = results._measurement({**entry, "best": 4.0})
    assert run_tables.rows([measured], [prediction])[0].efficiency == pytest.approx(0.25)


@pytest.mark.parametrize(
    "change, word",
    [
        ({"status": "passed"}, "valid"),
        ({"status": "failed"}, "INVALID"),
        ({"status": "skipped"}, "not checked"),
    ],
)
def test_verdicts(place, change, word):
    assert word in text(place, samples.result(**change))


def test_a_failed_check_counts_whatever_the_exit_code(place):
    document = samples.result(status="failed")
    document["run"]["exit_code"] = 0
    assert "INVALID" in text(place, document)
    document = samples.result()
    document["run"]["exit_code"] = 1
    assert "INVALID" in text(place, document)


def test_incomplete_runs_say_so(place):
    document = samples.result()
    document["run"]["complete"] = False
    shown = text(place, document)
    assert "incomplete" in shown and " valid" not in shown


def test_failures_say_where(place):
    shown = " ".join(text(place, samples.result(status="failed")).split())
    assert "failed: array a: largest relative error 0.5 above 1e-06" in shown
    assert "worst at a[17] of rank 0: nan instead of 30.0" in shown


def test_names_are_text_and_cannot_move_the_cursor(place):
    device = {**samples.DEVICE, "name": "[red]x[/red]\x1b[2J \ud800"}
    document = samples.result(device=device)
    document["notes"] = ["[/bold] note\r\nnext"]
    shown = text(place, document)
    assert "[red]x[/red]\\x1b[2J \\ud800" in shown
    assert "[/bold] note next" in shown
    assert "\x1b" not in shown


def test_optimized_runs_are_marked(place):
    document = samples.result()
    document["run"]["class"] = "optimized"
    assert "optimized run" in text(place, document)
    assert "optimized run" not in text(place, samples.result())
    own_kernel(document, "mine.cl", "1")
    assert "stream, mine.cl 11111111 (base kernel), optimized run, on sample-cpu" in text(place, document)


def test_narrow_terminals(place):
    assert all(len(line) <= 80 for line in text(place, samples.result(), 80).splitlines())


@pytest.mark.parametrize(
    "value, shown", [(None, "-"), (0.0, "0"), (48.123, "48.12"), (1e-9, "1.000e-09"), (4387.2, "4387")]
)
def test_numbers(value, shown):
    assert terminal.number(value) == shown


def test_svg(place):
    place.write("one.json", samples.result())
    done = place.run("report", "results", "--full", "--svg", "picture.svg")
    assert done.returncode == 0, done.stderr
    picture = (place.folder / "picture.svg").read_text()
    assert picture.startswith("<svg") and "url(" not in picture.replace("url(#", "")
    assert "triad" in done.stdout


def test_svg_that_cannot_be_written(place, one_error_line):
    place.write("one.json", samples.result())
    (place.folder / "file").write_text("")
    done = place.run("report", "results", "--svg", "file/picture.svg")
    assert "cannot write" in one_error_line(done, 2)


def test_a_damaged_file_does_not_hide_the_others(place, one_error_line):
    place.write("a.json", samples.result())
    place.write("b.json", "")
    place.write("c.json", samples.result(ranks=2))
    done = place.run("report", "results", "--full")
    line = one_error_line(done, 2)
    assert "results/b.json: not valid JSON: the file is empty; run the benchmark again" in line
    assert "1 rank" in done.stdout and "2 ranks" in done.stdout


def test_a_newer_version(place, one_error_line):
    place.write("a.json", {**samples.result(), "schema": "fabricmark-result/3"})
    assert "newer version (fabricmark-result/3); update" in one_error_line(place.run("report", "results"), 2)


def test_nothing_to_report(place, one_error_line):
    place.results.mkdir()
    assert "no result files" in one_error_line(place.run("report", "results"), 2)
    assert "does not exist" in one_error_line(place.run("report", "absent.json"), 2)


def test_a_folder_of_folders_stands_for_the_newest(place):
    for name, age, ranks in (("run-b", 200, 1), ("suite", 100, 2), ("run-a", 300, 4)):
        (place.results / name).mkdir(parents=True)
        file = place.write(f"{name}/one.json", samples.result(ranks=ranks))
        os.utime(file, (1e9 - age, 1e9 - age))
    (place.results / "empty").mkdir()
    done = place.run("report", "results", "--full")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "no results directly in results; this is its newest folder: results/suite\n"
    assert "2 ranks" in done.stdout and "4 ranks" not in done.stdout
    place.write("own.json", samples.result())
    done = place.run("report", "results", "--full")
    assert done.stderr == "" and "1 rank" in done.stdout and "2 ranks" not in done.stdout


def test_unfinished_files_are_not_read(place):
    place.write("a.json", samples.result())
    place.write(".b.json.123.json", "{")
    assert place.run("report", "results").returncode == 0


def test_many_files(place):
    for number in range(30):
        place.write(f"{number:02}.json", samples.result(operations=("triad",)))
    done = place.run("report", "results", "results/00.json", "--full")
    assert done.returncode == 0
    assert done.stdout.count("triad") == 30  # a file that is named twice is shown once


def test_a_reader_that_goes_away(place):
    for number in range(100):  # more than a pipe holds
        place.write(f"{number:02}.json", samples.result())
    process = subprocess.Popen(
        place.command("report", "results", "--full"), env=place.environment, cwd=place.folder,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait(30)
    process.stderr.close()

"""`predict --from`: many devices from measured runs of one, as Fig. 4.15 of Meyer 2024 has it."""

import json

import pytest
import samples
from conftest import REPOSITORY
from fabricmark.predict import extrapolate, measured
from fabricmark.results import published

ROWS = REPOSITORY / "data" / "published" / published.HPCC_FPGA
FIGURE = ["hpl", "--from", ROWS, "--system", "noctua1", "--scaling", "strong", "--set", "size=24576"]


def row_of(benchmark, transport, devices, width, **more):
    """The published value of so many devices."""
    (found,) = [
        row.value
        for row in published.load(ROWS)
        if (row.benchmark, row.system, row.transport, row.devices)
        == (benchmark, "noctua1", transport, devices)
        and (row.matrix_width_printed, row.metric) == (width, "lu_gflops")
        and all(getattr(row, name) == value for name, value in more.items())
    ]
    return found


def values_of(done):
    lines = [line.split() for line in done.stdout.splitlines()]
    return {int(line[0]): float(line[2]) for line in lines if line and line[0].isdigit()}


def test_figure_4_15_over_channels(predict):
    """Speed-up of a matrix of 24576: N times what one device did with its part, 12288 and 6144."""
    done = predict(*FIGURE, "--transport", "channels", "--devices", "1..25")
    found = values_of(done)
    alone = row_of("hpl", "channels", 1, 24576)
    assert found[1] == pytest.approx(alone, rel=1e-3)
    assert found[4] == pytest.approx(4 * row_of("hpl", "channels", 1, 12288), rel=1e-3)
    assert found[16] == pytest.approx(16 * row_of("hpl", "channels", 1, 6144), rel=1e-3)
    # It leaves out what is exchanged: an upper end, which the measured runs come near.
    assert 1 < found[4] / row_of("hpl", "channels", 4, 12288) < 1.05
    assert 1 < found[16] / row_of("hpl", "channels", 16, 6144) < 1.15
    assert "4 devices 2692 GFLOP/s (+3.8 %), 16 devices 5410 GFLOP/s (+11.7 %)" in done.stdout
    assert "what devices exchange is left out" in done.stdout


def test_over_the_host_the_exchange_shows(predict):
    done = predict(*FIGURE, "--transport", "host", "--set", "block_size=512", "--devices", "1,4,16")
    found = values_of(done)
    assert found[4] == pytest.approx(4 * row_of("hpl", "host", 1, 12288, block=512), rel=1e-3)
    assert 1.15 < found[16] / row_of("hpl", "host", 16, 6144) < 1.3


def test_weak_scaling_keeps_the_size_of_a_device(predict):
    words = ["hpl", "--from", ROWS, "--system", "noctua1", "--transport", "channels", "--set", "size=24576"]
    done = predict(*words, "--devices", "1,4,16")
    assert "4 devices 3377 GFLOP/s (+1.5 %), 16 devices 1.333e+04 GFLOP/s (+2.8 %)" in done.stdout


def test_times_of_parts_are_not_added(predict):
    """PTRANS was measured in seconds: many devices take as long as one with its part."""
    words = [
        "ptrans",
        "--from",
        ROWS,
        "--system",
        "noctua1",
        "--transport",
        "channels",
        "--devices",
        "1,4,16",
    ]
    done = predict(*words)
    assert len({value for value in values_of(done).values()}) == 1
    assert "4 devices 0.2339 s (-0.2 %)" in done.stdout


def test_between_measured_sizes_along_a_line_of_both_logarithms():
    assert extrapolate.between({100.0: 10.0, 400.0: 40.0}, 200.0, "hpl") == pytest.approx(20)
    assert extrapolate.between({100.0: 10.0}, 100.0, "hpl") == 10


def runs(folder, *sizes, change=lambda document: None):
    """Result files of GEMM on one device."""
    files = []
    for size in sizes:
        document = samples.gemm()
        document["parameters"]["size"] = size
        change(document)
        files.append(folder / f"gemm_{size}.json")
        files[-1].write_text(json.dumps(document))
    return [word for file in files for word in ("--from", file)]


def test_from_result_files(predict, tmp_path):
    """Of GEMM each device has a problem of its own: as many times as much."""
    done = predict("gemm", *runs(tmp_path, 256, 1024), "--devices", "1,4", "--csv", tmp_path / "found.csv")
    assert done.returncode == 0, done.stderr
    found = values_of(done)
    best = samples.gemm()["measurements"][0]["best"]
    assert found[1] == pytest.approx(best, rel=1e-3) and found[4] == pytest.approx(4 * best, rel=1e-3)
    assert "2 sizes that" in done.stdout and (tmp_path / "found.csv").exists()


def emulated(document):
    for one in document["measurements"]:
        one["kind"] = one["samples"]["kind"] = "emulated"


def other_device(document):
    if document["parameters"]["size"] == 1024:
        document["environment"]["device"]["name"] = "another"


REFUSED = (
    (["--system", "noctua1"], "differ in transport: channels, host", "--transport channels"),
    (["--system", "noctua1", "--transport", "host"], "differ in block: 256, 512", "block_size=256"),
    (["--system", "noctua1", "--transport", "mpi"], "no row is of hpl there", "choose another system"),
    (["--transport", "host"], "not enough to choose its rows", "and --system"),
    (["--system", "noctua1", "--transport", "channels", "--set", "size=512"], "have 1024 to", "measure one"),
    (
        ["--system", "noctua1", "--transport", "channels", "--set", "lookahead=1"],
        "not with --from",
        "set size",
    ),
    (["--system", "noctua1", "--transport", "channels", "--set", "size=a"], "no size", "whole number"),
    (["--system", "noctua1", "--sensitivity"], "--from takes --devices", "leave out the others"),
)


@pytest.mark.parametrize("words, cause, remedy", REFUSED)
def test_rows_that_do_not_say_enough_are_refused(predict, one_error_line, words, cause, remedy):
    line = one_error_line(predict("hpl", "--from", ROWS, *words), 2)
    assert cause in line and remedy in line.partition("; ")[2], line


@pytest.mark.parametrize("name, cause", [("stream", "which metric"), ("b_eff", "no row is of")])
def test_rows_without_one_metric_or_a_size_are_refused(predict, one_error_line, name, cause):
    line = one_error_line(predict(name, "--from", ROWS, "--system", "noctua1", "--transport", "none"), 2)
    assert cause in line, line


def test_result_files_that_are_no_measured_runs_of_one_device_are_refused(predict, one_error_line, tmp_path):
    for change, cause in (
        (lambda document: document["run"].update(benchmark="stream"), "is of stream"),
        (emulated, "no measured performance"),
        (other_device, "not like"),
    ):
        line = one_error_line(predict("gemm", *runs(tmp_path, 256, 1024, change=change)), 2)
        assert cause in line, line
    two = samples.gemm(ranks=2)
    (tmp_path / "two.json").write_text(json.dumps(two))
    assert "ran on 2 ranks" in one_error_line(predict("gemm", "--from", tmp_path / "two.json"), 2)
    line = one_error_line(predict("gemm", *runs(tmp_path, 256), "--transport", "host"), 2)
    assert "leave out --transport" in line
    assert "give --system, or --from" in one_error_line(predict("gemm"), 2)


@pytest.mark.usefixtures("of_the_repository")
def test_the_plot_has_the_measured_points_of_the_same_matrix_only():
    """Strong scaling: of 4 devices the run with parts of 12288, and of one device not that size."""
    where = {"system": "noctua1", "transport": "channels", "board": None}
    case = extrapolate.case("hpl", [ROWS], {"size": "24576"}, (1, 4, 16), "strong", where)
    values = [row_of("hpl", "channels", *of) for of in ((1, 24576), (4, 12288), (16, 6144))]
    assert sorted(measured.points(case)) == list(zip((1.0, 4.0, 16.0), values, strict=True))

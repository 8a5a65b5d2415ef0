"""Text output of other benchmarks: read as results, shown and compared."""

import json
import random
import re

import log_samples
import pytest
from fabricmark import results
from fabricmark.base.errors import FabricmarkError
from fabricmark.report import groups, page, pictures
from fabricmark.results import figures, logs, published
from fabricmark.results.log_table import Fault
from fabricmark.results.logs import parse


def values(text, name="x"):
    """{(metric, size, other axes): value} of a text."""
    return {
        (one.name, one.axes.get("message_bytes"), *(value for axis, value in one.axes.items()
         if axis != "message_bytes")): one.value
        for one in parse(text, name).values
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "program", "ranks", "count", "key", "value"),
    [
        ("latency.log", "latency", 2, 4, ("latency", 4194304), 589.62),
        ("latency_5.log", "latency", 2, 3, ("latency", 0), 1.10),
        ("bw.out", "bw", 2, 9, ("bandwidth", 1048576), 12.5),
        ("bw.out", "bw", 2, 9, ("bandwidth", 1024, "P99"), 2.0),
        ("mbw_mr.txt", "mbw_mr", 30, 6, ("message_rate", 1), 6385003.80),
        ("barrier.log", "barrier", None, 3, ("latency", None, "maximum"), 1.70),
        ("ialltoall.log", "ialltoall", None, 18, ("overlap", 1), 3.46),
        ("ialltoall.log", "ialltoall", None, 18, ("latency", 1, "minimum"), 5.0),
        ("allreduce.log", "allreduce", None, 4, ("latency", 8, "mpi_float"), 3.30),
        ("all_reduce_perf.log", "allreduce", 2, 8, ("bus_bandwidth", 134217728, "in place"), 382.34),
        ("all_gather_perf.log", "all_gather_perf", None, 12, ("latency", 33554432, "out of place"), 4393.9),
        ("hpccoutf.txt", "hpcc", 2, 27, ("performance", None, "HPL"), 52.1428),
        ("hpccoutf.txt", "hpcc", 2, 27, ("bandwidth", None, "StarSTREAM", "Triad"), 78.1886),
        ("hpccoutf.txt", "hpcc", 2, 27, ("updates", None, "MPIRandomAccess"), 0.0429889),
        ("hpccoutf.txt", "hpcc", 2, 27, ("latency", None, "RandomlyOrderedRing"), 0.246349),
        ("fpga_stream.txt", "hpcc_fpga", 1, 3, ("bandwidth", None, "STREAM", "Triad"), 69.0),
        ("fpga_old.txt", "hpcc_fpga", 2, 1, ("bandwidth", None, "STREAM", "Add"), 62.0005),
        ("fpga_gemm.txt", "hpcc_fpga", 1, 1, ("performance", None, "GEMM"), 687.195),
        ("fpga_updates.txt", "hpcc_fpga", None, 1, ("updates", None, "random access"), 0.512),
        ("fpga_fft.txt", "hpcc_fpga", None, 1, ("performance", None, "FFT"), 110.5),
        ("fpga_linpack.txt", "hpcc_fpga", None, 3, ("performance", None, "LINPACK", "GEFA"), 194.784),
        (
            "fpga_transpose.txt",
            "hpcc_fpga",
            None,
            3,
            ("bandwidth", None, "matrix transposition", "link"),
            19.1115,
        ),
    ],
)
def test_every_number_is_found(name, program, ranks, count, key, value):
    log = parse(log_samples.ALL[name], name)
    assert (log.program, log.ranks, len(log.values)) == (program, ranks, count)
    assert values(log_samples.ALL[name], name)[key] == pytest.approx(value, rel=1e-12)


def test_what_headings_tell_is_kept():
    assert parse(log_samples.LATENCY_5, "").parameters == {"memory": "cuda", "placement": "D H"}
    rates = parse(log_samples.MESSAGE_RATE, "").parameters
    assert rates == {"pairs": 15, "window_size": 64}
    reduced = parse(log_samples.ALL_REDUCE, "all_reduce_perf.log")
    assert reduced.parameters == {"data_type": "float", "reduction": "sum", "root": "-1"}
    assert (reduced.hosts, reduced.devices) == (["nid005098", "nid005099"], ["NVIDIA GH200 120GB"])
    ours = log_samples.LATENCY.replace("# Datatype", "# [ H/D ]\n# Datatype")
    assert parse(ours, "").parameters["placement"] == "H D"
    assert parse(ours, "").kind == "measured"
    assert parse(ours.replace("# Datatype", "# Times: emulated\n# Datatype"), "").kind == "emulated"


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("latency.log", "not checked"), ("bw.out", "INVALID"), ("all_reduce_perf.log", "INVALID"),
     ("all_gather_perf.log", "valid"), ("hpccoutf.txt", "valid"), ("fpga_stream.txt", "valid"),
     ("fpga_old.txt", "INVALID")],
)  # fmt: skip
def test_the_programs_own_check_counts(tmp_path, name, verdict):
    path = tmp_path / name
    path.write_text(log_samples.ALL[name])
    assert logs.load(path).verdict() == verdict
    cut = tmp_path / "all_reduce_perf.txt"
    cut.write_text(log_samples.ALL_REDUCE.partition("# Out of bounds")[0].replace("      2\n", "      0\n"))
    assert logs.load(cut).verdict() == "incomplete"


FAULTS = {
    "empty": ("", "the file is empty"),
    "blank": (" \n\n", "the file is empty"),
    "other text": ("hello\nworld\n", "neither a result file nor an output"),
    "bytes": (b"\x00\xff\xfe\x80" * 99, "neither a result file nor an output"),
    "no rows": (log_samples.LATENCY.partition("1  ")[0], "line 3: a title without rows"),
    "cut row": (log_samples.LATENCY.removesuffix("589.62\n"), "line 9: 1 values below 2 headings"),
    "cut number": (log_samples.LATENCY.removesuffix(".62\n"), "line 9: the value '589' is cut off"),
    "cut word": (log_samples.BANDWIDTH.replace("Fail", "Fa"), "validation 'Fa' is neither"),
    "no number": (log_samples.LATENCY.replace("2.49", "nan"), "line 7: Avg Latency(us) 'nan' is no number"),
    "negative": (log_samples.LATENCY.replace("2.49", "-2.49"), "is no number from 0 on"),
    "endless": (log_samples.LATENCY.replace("2.49", "1e999"), "is no number from 0 on"),
    "half a size": (log_samples.LATENCY.replace("\n2  ", "\n2.5"), "message size '2.5'"),
    "other heading": (log_samples.LATENCY.replace("Avg L", "Odd L"), "the heading 'Odd Latency(us)'"),
    "two runs": (log_samples.LATENCY + log_samples.LATENCY, "line 12: a second run"),
    "a size twice": (log_samples.LATENCY.replace("\n2 ", "\n1 "), "line 7: a size that line 6 has"),
    "both kinds": (log_samples.LATENCY + log_samples.ALL_REDUCE, "outputs of OSU and of nccl-tests"),
    "two tables": (log_samples.ALL_REDUCE * 2, "a second table after that of line 8"),
    "no program": (log_samples.ALL_GATHER_OLD, "no program is named"),
    "hpcc, cut": (log_samples.HPCC.partition("End of Summary")[0], "the summary has no end"),
    "hpcc, no summary": (
        log_samples.HPCC.partition("Begin of Summ")[0],
        "no summary: the run ended before it",
    ),
    "hpcc, two runs": (log_samples.HPCC * 2, "a second summary after that of line"),
    "hpcc, no number": (log_samples.HPCC.replace("PTRANS_GBs=", "PTRANS_GBs=x"), "PTRANS_GBs 'x"),
    "fpga, two runs": (log_samples.HPCC_FPGA_GEMM * 2, "a second run after that of line 1"),
    "fpga, no table": (log_samples.HPCC_FPGA_GEMM.partition("best")[0], "no table of results"),
    "fpga, cut row": (log_samples.HPCC_FPGA_GEMM.partition("6.87")[0], "2 numbers below 3 headings"),
    "fpga, odd unit": (log_samples.HPCC_FPGA_GEMM.replace(" GFLOP/s", " MOPS/s"), "the unit 'MOPS/s' is not"),
    "nccl, cut row": (log_samples.ALL_REDUCE.partition("382.34")[0], "line 14: time 'sum' is no number"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_log_is_one_line(tmp_path, fault):
    text, words = FAULTS[fault]
    path = tmp_path / "a.log"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FabricmarkError, match=re.escape(words)) as raised:
        logs.load(path)
    assert raised.value.exit_code == 2 and "\n" not in str(raised.value) and "a.log" in str(raised.value)


def test_settings_and_versions_of_hpcc_are_kept():
    log = parse(log_samples.HPCC, "x")
    assert log.writer == "HPC Challenge 1.5.0f" and log.parameters["HPL_N"] == 600
    log = parse(log_samples.HPCC_FPGA_STREAM, "x")
    assert log.writer == "HPCC FPGA STREAM 2.6" and log.devices == [
        "p520_max_sg280l : BittWare board (aclbitt0)"
    ]
    assert log.parameters["array_size"] == 134217728 and "kernel_file" not in log.parameters


def test_no_text_ends_in_anything_but_a_fault():
    random_ = random.Random(20261124)
    read = refused = 0
    for _ in range(3000):
        name = random_.choice(list(log_samples.ALL))
        text = list(log_samples.ALL[name])
        for _ in range(random_.randint(1, 6)):
            place = random_.randrange(len(text))
            match random_.randrange(4):
                case 0:
                    del text[place : place + random_.randint(1, 30)]
                case 1:
                    text.insert(place, random_.choice("0123456789.-+eE#:[]()\n \t\x00é٣\u2028"))
                case 2:
                    text[place:place] = text[: random_.randint(0, place)]
                case _:
                    text[place] = random_.choice("9xN\n# ")
            text = text or [" "]
        try:
            log = parse("".join(text), name)
        except Fault as fault:
            assert fault.cause and fault.remedy
            refused += 1
            continue
        read += 1
        assert log.values and all(0 <= one.value < float("inf") for one in log.values)
        assert len({(one.name, *one.axes.items()) for one in log.values}) == len(log.values)
    assert read > 100 and refused > 100


def test_old_logs_stand_beside_each_other(tmp_path):
    for name, factor in (("old.log", 1), ("new.log", 2)):
        (tmp_path / name).write_text(log_samples.scaled(log_samples.LATENCY, factor))
    found = logs.find_files([tmp_path])
    assert [path.name for path in found] == ["new.log", "old.log"]
    grouped = groups.make([logs.load(path) for path in found])
    assert len(grouped) == 2, "two logs are never repetitions of one run"
    (plot,) = page.all_plots(grouped)["latency"]["curves"]
    assert [series.name.partition("/")[2] for series in plot.series] == [
        "new.log (measured)", "old.log (measured)",
    ]  # fmt: skip
    assert plot.series[1].y == [2.48, 2.49, 2.51, 589.62]


def test_report_says_what_is_unknown_and_skips_what_is_damaged(place, tmp_path, one_error_line):
    tmp_path = tmp_path / "logs"
    tmp_path.mkdir()
    for name, text in log_samples.ALL.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "notes.txt").write_text("no log at all\n")
    (tmp_path / "cut.log").write_text(FAULTS["cut row"][0])
    made = tmp_path / "page.html"
    error = one_error_line(place.run("report", str(tmp_path), "--html", str(made)), 2)
    assert "cut.log line 9: 1 values below 2 headings" in error
    shown = made.read_text()
    assert "of which nothing is known" in shown and "unknown (mpi)" in shown and "notes.txt" not in shown
    assert all(f'id="of-{name}"' in shown for name in ("latency", "bw", "mbw-mr", "barrier", "allreduce"))


def test_compare_gives_ratios_and_no_interval(place, tmp_path):
    sides = {"old": 1.0, "new": 3.0}
    for name, factor in sides.items():
        (tmp_path / f"{name}.log").write_text(log_samples.scaled(log_samples.LATENCY, factor))
    words = ("--base", tmp_path / "old.log", "--new", tmp_path / "new.log", "--json", tmp_path / "c.json")
    ended = place.run("compare", *map(str, words))
    assert ended.returncode == 1 and "no interval can be given" in ended.stderr
    found = json.loads((tmp_path / "c.json").read_text())["metrics"]
    assert [one["axes"]["message_bytes"] for one in found] == [1, 2, 4, 4194304]
    assert all(one["ratio"] == pytest.approx(3, rel=1e-3) for one in found)
    assert all(one["interval"] is None and one["verdict"] == "worse" for one in found)


def test_several_logs_a_side_have_an_interval(place, tmp_path):
    for side, factor in (("old", 1.0), ("new", 1.5)):
        (tmp_path / side).mkdir()
        for number in range(3):
            text = log_samples.scaled(log_samples.LATENCY, factor * (1 + 0.01 * number))
            (tmp_path / side / f"{number}.log").write_text(text)
    ended = place.run("compare", str(tmp_path / "old"), str(tmp_path / "new"), "--json", str(tmp_path / "c"))
    found = json.loads((tmp_path / "c").read_text())["metrics"]
    assert ended.returncode == 1 and {one["verdict"] for one in found} == {"worse"}
    assert all(one["interval"][0] < 1.5 < one["interval"][1] for one in found)


def test_result_files_are_read_as_before(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("")
    with pytest.raises(FabricmarkError, match="not valid JSON"):
        logs.load(path)
    assert results.SCHEMA == "fabricmark-result/2"


def test_published_figures_stand_beside_curves_of_the_same_program(tmp_path, of_the_repository):
    for name in ("bw.out", "latency.log"):
        (tmp_path / name).write_text(log_samples.ALL[name])
    drawn = page.all_plots(groups.make([logs.load(path) for path in logs.find_files([tmp_path])]))
    (plot,) = drawn["bw"]["curves"]
    points = {one.name: (*one.x, *one.y) for one in plot.series if one.style == "points"}
    assert points == {
        "u280 between nodes, Contini et al. 2024 (measured)": (1 << 20, 7.0),
        "u280 in a node, Contini et al. 2024 (measured)": (1 << 24, 7.0),
        "host memory in a node, Contini et al. 2024 (measured)": (1 << 24, 26.0),
        "host memory between nodes, Contini et al. 2024 (measured)": (1 << 24, 12.0),
    }
    assert len({one.colour for one in plot.series}) == len(plot.series)
    assert not [one for plot in drawn["latency"]["curves"] for one in plot.series if one.style == "points"]
    assert pictures.picture(plot, "png").startswith(b"\x89PNG")


def test_a_damaged_row_of_figures_is_named(tmp_path):
    text = (published.folder() / figures.FILE).read_text()
    assert len(figures.load()) == 37
    for old, new in (("measured,test", "guessed,test"), (",26,GB/s", ",x,GB/s"), (",26,GB/s", ",26,GiB/s")):
        file = tmp_path / "a.csv"
        file.write_text(text.replace(old, new))
        with pytest.raises(FabricmarkError, match=r"a\.csv line "):
            figures.load(file)

"""data/published: what is there is read as told, and a bad row is refused with its line and a remedy."""

from dataclasses import replace

import pytest
from fabricmark.base.errors import FabricmarkError
from fabricmark.results import published

ROWS = published.load()
HEAD = ",".join(published.COLUMNS)
ROW = "hpl,here,board,host,4,2,test,1024,strong,256,2,float,lu_gflops,,1.5e2,GFLOP/s,a.txt"


def of(benchmark):
    return [row for row in ROWS if row.benchmark == benchmark]


def test_every_row_is_there():
    assert len(ROWS) == 514
    assert {name: len(of(name)) for name in ("b_eff", "hpl", "ptrans", "stream")} == {
        "b_eff": 352, "hpl": 77, "ptrans": 33, "stream": 36,
    }  # fmt: skip
    assert {row.role for row in of("hpl")} == {"test"}


def test_widths_of_the_whole_matrix():
    assert {f.matrix_width for f in of("hpl") if f.devices == 16} == {4 * 24576, 24576}
    assert {f.matrix_width for f in of("hpl") if f.scaling == "strong"} == {24576}
    assert {f.matrix_width for f in of("ptrans") if f.scaling == "strong"} == {32768}
    assert {f.matrix_width for f in of("ptrans") if f.devices == 16 and not f.scaling} == {4 * 32768}
    with pytest.raises(ValueError, match="no matrix"):
        _ = of("gemm")[0].matrix_width
    two = replace(of("hpl")[0], devices=2, matrix_width_printed=10000)
    assert two.matrix_width == 14142  # no square: the part of a device is as large


def test_ptrans_times_add_up():
    """The sum of transfer and calculation is the total, run by run."""
    runs = {}
    for row in of("ptrans"):
        runs.setdefault(row.source, {})[row.metric] = row.value
    assert len(runs) == 11
    for times in runs.values():
        assert times["transfer_time"] + times["calc_time"] == pytest.approx(times["total_time"], rel=1e-3)


@pytest.fixture(name="written")
def written_file(tmp_path):
    def write(*lines):
        path = tmp_path / "figures.csv"
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


def test_one_row(written):
    (row,) = published.load(written(HEAD, ROW))
    assert (row.devices, row.block, row.message_bytes, row.value) == (4, 256, None, 150)
    assert (row.scaling, row.dtype, row.matrix_width) == ("strong", "float", 2048)


BAD = {
    "unknown benchmark": (("hpl,", "hpk,"), "line 3: benchmark 'hpk' is unknown; use one of b_eff, fft"),
    "unknown unit": (("GFLOP/s", "GFLOPS"), "line 3: unit 'GFLOPS' is unknown; use one of B/s"),
    "unknown scaling": (("strong", "weak"), "line 3: scaling 'weak' is unknown; use one of nothing, strong"),
    "no source": (("a.txt", ""), "line 3: source is empty; say where the value is from"),
    "no devices": ((",4,2,", ",,2,"), "line 3: devices '' is no positive whole number; correct it"),
    "half a block": (("256", "25.6"), "line 3: block '25.6' is no positive whole number; correct it"),
    "nothing measured": (("1.5e2", "0"), "line 3: value '0' is no positive number; correct it"),
    "no number": (("1.5e2", "nan"), "line 3: value 'nan' is no positive number; correct it"),
    "a comma too many": (("a.txt", "a,b"), "line 3: not 17 values; put commas between them"),
    "a value missing": ((",a.txt", ""), "line 3: not 17 values; put commas between them"),
}


@pytest.mark.parametrize("change, message", BAD.values(), ids=BAD)
def test_a_bad_row_is_refused_with_its_line(written, change, message):
    assert change[0] in ROW
    with pytest.raises(FabricmarkError) as caught:
        published.load(written(HEAD, ROW, ROW.replace(*change, 1)))
    assert f"figures.csv {message}" in str(caught.value)


def test_other_files_are_refused(written, tmp_path):
    with pytest.raises(FabricmarkError, match="line 1: the columns are not the known ones; name them"):
        published.load(written(HEAD.replace("block", "blocks"), ROW))
    with pytest.raises(FabricmarkError, match=r"cannot be read: .*; restore"):
        published.load(tmp_path / "absent.csv")
    path = written(HEAD, ROW)
    path.write_bytes(path.read_bytes() + b"\xff\n")
    with pytest.raises(FabricmarkError, match="not CSV in UTF-8"):
        published.load(path)


PRINTED_HEAD = ",".join(published.PRINTED_COLUMNS)
PRINTED_ROW = "Table 9.9,gemm,520n,,none,1,1,4096,float,performance,1.5e2,GFLOP/s,section 9"


def test_every_figure_of_the_dissertation_is_there():
    tables = [row.table for row in published.printed()]
    assert {name: tables.count(name) for name in sorted(set(tables))} == {
        "Table 3.10": 48, "Table 3.11": 50, "Table 3.12": 24, "Table 3.6": 68, "Table 3.7": 6,
        "Table 4.10": 4, "Table 4.8": 27,
    }  # fmt: skip


def test_both_files_tell_of_the_same_runs():
    """Table 4.8 prints the runs on 16 boards of Noctua 1 that the evaluation repository has."""
    printed = {
        (one.benchmark, one.transport, one.metric): one.value
        for one in published.printed()
        if one.table == "Table 4.8" and one.system == "noctua1" and one.board == "520n"
    }
    runs = [row for row in ROWS if row.devices == 16]
    largest = {
        row.transport: row.value / 16
        for row in runs
        if row.benchmark == "b_eff" and row.message_bytes == 2**20
    }
    gflops = {row.transport: row.value for row in runs if row.benchmark == "hpl" and row.scaling == ""}
    for transport in ("host", "channels"):
        assert printed["b_eff", transport, "bandwidth"] * 1e9 == pytest.approx(largest[transport], rel=0.01)
        assert printed["hpl", transport, "performance"] == pytest.approx(gflops[transport], rel=1e-4)


BAD_PRINTED = {
    "unknown type": (("float", "flaot"), "line 2: dtype 'flaot' is unknown; use one of nothing, half"),
    "no table": (("Table 9.9", ""), "line 2: table is empty; say where the value is from"),
    "no value": (("1.5e2", "n/a"), "line 2: value 'n/a' is no positive number; correct it"),
    "half a matrix": (("4096", "40.96"), "line 2: size '40.96' is no positive whole number; correct it"),
    "a value missing": ((",section 9", ""), "line 2: not 13 values; put commas between them"),
}


@pytest.mark.parametrize("change, message", BAD_PRINTED.values(), ids=BAD_PRINTED)
def test_a_bad_row_of_the_dissertation_is_refused(written, change, message):
    assert change[0] in PRINTED_ROW
    assert published.printed(written(PRINTED_HEAD, PRINTED_ROW))[0].value == 150
    with pytest.raises(FabricmarkError) as caught:
        published.printed(written(PRINTED_HEAD, PRINTED_ROW.replace(*change, 1)))
    assert f"figures.csv {message}" in str(caught.value)

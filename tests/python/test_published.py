"""data/published: what is there is read as told, and a bad row is refused with its line and a remedy."""

import pytest
from fabricmark import published
from fabricmark.errors import FabricmarkError

FIGURES = published.load()
HEAD = ",".join(published.COLUMNS)
ROW = "hpl,here,board,host,4,2,test,1024,strong,256,2,float,lu_gflops,,1.5e2,GFLOP/s,a.txt"


def of(benchmark):
    return [figure for figure in FIGURES if figure.benchmark == benchmark]


def test_every_row_is_there():
    assert len(FIGURES) == 514
    assert {name: len(of(name)) for name in ("b_eff", "hpl", "ptrans", "stream")} == {
        "b_eff": 352, "hpl": 77, "ptrans": 33, "stream": 36,
    }  # fmt: skip
    assert {figure.role for figure in of("hpl")} == {"test"}


def test_widths_of_the_whole_matrix():
    assert {f.matrix_width for f in of("hpl") if f.devices == 16} == {4 * 24576, 24576}
    assert {f.matrix_width for f in of("hpl") if f.scaling == "strong"} == {24576}
    assert {f.matrix_width for f in of("ptrans") if f.scaling == "strong"} == {32768}
    assert {f.matrix_width for f in of("ptrans") if f.devices == 16 and not f.scaling} == {4 * 32768}
    with pytest.raises(ValueError, match="no matrix"):
        _ = of("gemm")[0].matrix_width
    with pytest.raises(ValueError, match="no square"):
        _ = next(figure for figure in FIGURES if figure.devices == 2).grid_width


def test_ptrans_times_add_up():
    """The sum of transfer and calculation is the total, run by run."""
    runs = {}
    for figure in of("ptrans"):
        runs.setdefault(figure.source, {})[figure.metric] = figure.value
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
    (figure,) = published.load(written(HEAD, ROW))
    assert (figure.devices, figure.block, figure.message_bytes, figure.value) == (4, 256, None, 150)
    assert (figure.scaling, figure.dtype, figure.matrix_width) == ("strong", "float", 2048)


BAD = {
    "unknown benchmark": (("hpl,", "hpk,"), "line 3: benchmark 'hpk' is unknown; use one of b_eff, fft"),
    "unknown unit": (("GFLOP/s", "GFLOPS"), "line 3: unit 'GFLOPS' is unknown; use one of B/s"),
    "unknown scaling": (("strong", "weak"), "line 3: scaling 'weak' is unknown; use one of nothing, strong"),
    "no source": (("a.txt", ""), "line 3: source is empty; say where the figure is from"),
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

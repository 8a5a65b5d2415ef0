"""Published rows beside predictions: what is counted, what is refused, and that wrong systems show."""

import re
from dataclasses import replace
from functools import lru_cache

import pytest
from conftest import REPOSITORY
from fabricmark import validate
from fabricmark.base.errors import FabricmarkError
from fabricmark.results import published
from fabricmark.validate import distribution, outcomes

ROWS = outcomes.read()
HEAD = ",".join(published.COLUMNS)
LAST_LINE = re.compile(r"median \d+\.\d % p90 \d+\.\d % coverage \d+\.\d % rows \d+")
load = lru_cache(maxsize=None)(outcomes.loaded("fitted"))


@pytest.fixture(scope="module", name="found")
def found_outcomes():
    return validate.predict_rows(ROWS, load=load)


def spread_of(changed, **wanted):
    """The spread of the rows that have `wanted`, with systems changed by `changed`."""
    chosen = [
        (line, row)
        for line, row in ROWS
        if row.role == "calibration" or all(getattr(row, name) == value for name, value in wanted.items())
    ]
    return validate.spread(validate.predict_rows(chosen, load=lambda *key: changed(load(*key))))


def test_every_row_of_the_given_file_is_predicted(found):
    assert len(found) == len([row for _, row in ROWS if row.role == "test"]) == 382
    assert validate.unpredicted(found) == []


def test_the_bars_are_kept(found):
    names = [bar.name for bar, errors, kept in validate.against_bars(found) if kept]
    assert names == ["all but b_eff over the host", "b_eff over the host"]


def test_bars_notice_what_is_missed(found):
    worse = [replace(one, predicted=one.row.value * 1.2) for one in found]
    assert [kept for _, _, kept in validate.against_bars(worse)] == [False, False]


def test_error_of_a_row(found):
    one = found[0]
    assert replace(one, predicted=1.25 * one.row.value).error == pytest.approx(0.25)
    assert replace(one, predicted=0.75 * one.row.value).error == pytest.approx(0.25)
    assert replace(one, predicted=None).error == 1


def faster_clock(system):
    streams = tuple(one.having({"clock": one["clock"] * 1.5}) for one in system.bitstreams)
    return replace(system, bitstreams=streams)


def slower_memory(system):
    board = system.board
    return replace(system, board=board.having({"memory.bank_bandwidth": board["memory.bank_bandwidth"] / 2}))


def longer_channels(system):
    network = system.networks["channels"]
    wrong = network.having({"latency": 2 * network["latency"]})
    return replace(system, networks={**system.networks, "channels": wrong})


def slower_links(system):
    board = system.board
    names = ("host.write_bandwidth", "host.read_bandwidth")
    return replace(system, board=board.having({name: board[name] / 2 for name in names}))


WRONG = {
    "clock, gemm": (faster_clock, {"benchmark": "gemm"}),
    "clock, hpl": (faster_clock, {"benchmark": "hpl", "transport": "channels"}),
    "memory, stream": (slower_memory, {"benchmark": "stream", "metric": "stream_triad"}),
    "latency, b_eff": (longer_channels, {"benchmark": "b_eff", "transport": "channels"}),
    "link, ptrans": (slower_links, {"benchmark": "ptrans", "metric": "transfer_time"}),
    "link, stream": (slower_links, {"benchmark": "stream", "metric": "stream_pci_write"}),
}


@pytest.mark.parametrize("change, rows", WRONG.values(), ids=WRONG)
def test_a_wrong_figure_makes_the_errors_grow(change, rows):
    right, wrong = spread_of(lambda system: system, **rows), spread_of(change, **rows)
    assert wrong.median > 3 * right.median
    assert wrong.median > 0.15


def test_distribution_counts_every_row(found):
    groups = validate.grouped(found, ("benchmark", "transport"))
    assert sum(errors.rows for errors in groups.values()) == len(found)
    assert groups["hpl", "channels"].rows == 21
    (whole,) = validate.grouped(found, ()).values()
    assert whole == validate.spread(found)
    assert validate.spread([]) is None


def test_lines_are_named_in_ranges():
    assert distribution._lines([3]) == " 3"
    assert distribution._lines([3, 5, 6, 7, 9]) == "s 3, 5 to 7, 9"


@pytest.fixture(name="written")
def written_file(tmp_path):
    def write(*rows):
        path = tmp_path / "figures.csv"
        path.write_text("\n".join((HEAD, *rows)) + "\n")
        return path

    return write


def validated(place, *words):
    """`fabricmark validate` in the real repository."""
    return place.run("validate", *words, FABRICMARK_ROOT=str(REPOSITORY))


def test_the_command_ends_with_its_line(place):
    done = validated(place, "--by", "benchmark")
    assert (done.returncode, done.stderr) == (0, "")
    assert LAST_LINE.fullmatch(done.stdout.splitlines()[-1])
    assert done.stdout.splitlines()[-1].endswith("rows 382")
    assert done.stdout.count(": kept") == 2


def test_every_row_is_written(place, written):
    path = place.folder / "out.csv"
    rows = written(
        "hpl,noctua1,520n,channels,9,5,test,24576,,512,5,float,lu_gflops,,7600,GFLOP/s,made up",
        "hpl,nowhere,520n,channels,9,5,test,24576,,512,5,float,lu_gflops,,7600,GFLOP/s,made up",
    )
    done = validated(place, "--data", rows, "--csv", path)
    assert done.returncode == 0
    head, known, unknown = [line.split(",") for line in path.read_text().splitlines()]
    assert float(known[head.index("predicted")]) > 0
    assert unknown[head.index("predicted")] == ""
    assert unknown[head.index("error")] == "1.0000"


def test_coverage_of_given_rows(place, written):
    """A row that is far off is outside of its interval, of a benchmark with few rows, too."""
    row = "hpl,noctua1,520n,channels,4,2,test,24576,,512,5,float,lu_gflops,,{},GFLOP/s,made up"
    for value, share in ((3300, "100.0 %"), (2000, "0.0 %")):
        done = validated(place, "--data", written(row.format(value)))
        assert done.stdout.splitlines()[-1].endswith(f"coverage {share} rows 1")
    fft = "fft,noctua1,520n,none,4,2,test,,,,2,float,fft_gflops,,{},GFLOP/s,made up"
    for value, share in ((960, "100.0 %"), (500, "0.0 %")):
        done = validated(place, "--data", written(fft.format(value)))
        assert done.stdout.splitlines()[-1].endswith(f"coverage {share} rows 1")


def test_rows_that_repeat_others_or_are_beyond_their_system(place, written):
    row = "hpl,noctua1,520n,channels,{},{},test,24576,,512,5,float,lu_gflops,,7600,GFLOP/s,{}"
    done = validated(
        place, "--data", written(row.format(9, 5, "a"), row.format(9, 5, "b"), row.format(400, 200, "c"))
    )
    assert "counted once: line 3 repeats line 2" in done.stdout
    assert "noctua1 has no 400 devices, at most 32 (line 4)" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("rows 2")


def test_coverage_of_the_published_profile_is_that_of_its_own_errors(place):
    fitted, published = (
        validated(place, "--profile", profile).stdout.splitlines()[-1] for profile in ("fitted", "published")
    )
    assert LAST_LINE.fullmatch(published)
    assert published.split("coverage")[0] != fitted.split("coverage")[0]
    half_widths = [
        float(line.split("half-width ")[1].split(" ")[0])
        for profile in ("fitted", "published")
        for line in validated(place, "--profile", profile).stdout.splitlines()
        if line.startswith("left out by groups")
    ]
    assert half_widths[1] > 2 * half_widths[0]


def test_inputs_are_named(place):
    assert "inputs: 132 rows with the role calibration" in validated(place).stdout


def test_an_unknown_system_counts_as_wholly_wrong(place, written):
    rows = [f"gemm,nowhere,520n,none,{n},1,test,23040,,,5,,gflops,,1,GFLOP/s,made up" for n in (1, 2)]
    rows.append("gemm,noctua1,520n,none,1,1,test,23040,,,5,,gflops,,1232.41,GFLOP/s,measured")
    done = validated(place, "--data", written(*rows))
    assert done.returncode == 0
    assert (
        "not predicted, counts as 100 %: gemm on nowhere, transport none: there is no system" in done.stdout
    )
    assert "(lines 2 to 3)" in done.stdout
    assert re.fullmatch(r"median 100.0 % p90 100.0 % coverage .* rows 3", done.stdout.splitlines()[-1])


SPOILED = {
    "a word": (("host,", "hots,"), "line 2: transport 'hots' is unknown"),
    "no devices": ((",4,2,", ",x,2,"), "line 2: devices 'x' is no positive whole number"),
    "no value": (("1.5e2", "fast"), "line 2: value 'fast' is no positive number"),
    "cut off": ((",GFLOP/s,a.txt", ""), "line 2: not 17 values"),
}
ROW = "hpl,noctua1,520n,host,4,2,test,1024,,512,5,float,lu_gflops,,1.5e2,GFLOP/s,a.txt"


@pytest.mark.parametrize("change, message", SPOILED.values(), ids=SPOILED)
def test_a_corrupted_row_is_refused_with_its_line(place, written, one_error_line, change, message):
    assert change[0] in ROW
    assert validated(place, "--data", written(ROW)).returncode == 0
    line = one_error_line(validated(place, "--data", written(ROW.replace(*change, 1))), 2)
    assert f"figures.csv {message}" in line


def test_other_bad_use(place, written, one_error_line):
    assert "there is no file" in one_error_line(validated(place, "--data", "absent.csv"), 2)
    assert "no profile best" in one_error_line(validated(place, "--profile", "best"), 2)
    assert "'colour' is no column" in one_error_line(validated(place, "--by", "colour"), 2)
    inputs = ROW.replace("test", "calibration")
    assert "no row with the role test" in one_error_line(validated(place, "--data", written(inputs)), 2)


def test_published_values_alone_are_worse_but_there(found):
    """The profile without any fit: its errors are shown, never mixed with those of the other."""
    try:
        alone = validate.predict_rows(ROWS, "published")
    except FabricmarkError as error:
        pytest.fail(str(error))
    assert validate.spread(alone).median > validate.spread(found).median

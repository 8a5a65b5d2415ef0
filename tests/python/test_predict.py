"""`fabricmark predict`: what it prints, writes and refuses."""

import csv
import io
import re

import pytest
from conftest import REPOSITORY
from described import rewrite
from fabricmark.base.errors import FabricmarkError
from fabricmark.predict import options

TABLE_4_10 = {(1, 3072): 0.18, (64, 8 * 3072): 8.48, (1, 24576): 0.86, (64, 8 * 24576): 48.78}  # TFLOP/s


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def headline(found, name, operation):
    return [one for one in found if (one["name"], one["operation"]) == (name, operation)]


def test_cygnus_as_table_4_10_has_it(predict, tmp_path):
    for size in (3072, 24576):
        file = tmp_path / "found.csv"
        words = ["hpl", "--system", "cygnus", "--devices", "1,64", "--set", f"size={size}", "--csv", file]
        done = predict(*words)
        assert done.returncode == 0, done.stderr
        assert "hpl on cygnus over channels, modelled" in done.stdout
        assert "error bar: median" in done.stdout
        for row in headline(rows(file.read_text()), "performance", "lu"):
            key = int(row["devices"]), int(row["size"])
            assert float(row["value"]) == pytest.approx(TABLE_4_10[key] * 1e3, rel=0.10)
            assert row["kind"] == "modelled" and float(row["limit"]) > float(row["value"])
            assert float(row["update_seconds"]) > 0 and 0 < float(row["error_bar"]) < 0.2


def counts(done):
    """The first column of a table."""
    return re.findall(r"^ *(\d+) ", done.stdout, re.MULTILINE)


def test_ranges_stand_for_squares_or_powers_of_two(predict):
    squares = predict("ptrans", "--system", "noctua1", "--devices", "2..20")
    assert "squares" in squares.stdout
    assert counts(squares) == ["4", "9", "16"]
    powers = predict("stream", "--system", "noctua1", "--devices", "2..20")
    assert "powers of two" in powers.stdout
    assert counts(powers) == ["2", "4", "8", "16"]


@pytest.mark.parametrize(
    "text, benchmark, expected",
    [("64", "hpl", (64,)), ("4,1,4", "hpl", (1, 4)), ("1..64", "hpl", (1, 4, 9, 16, 25, 36, 49, 64)),
     ("3..9", "b_eff", (4, 8)), ("1..2,5", "gemm", (1, 2, 5))],
)  # fmt: skip
def test_device_counts(text, benchmark, expected):
    assert options.device_counts(text, benchmark) == expected


@pytest.mark.parametrize(
    "text, whole, expected",
    [("a=1024:8192", True, [1024, 2048, 4096, 8192]), ("a=1:10:x3", True, [1, 3, 9]),
     ("a=10:40:15", True, [10, 25, 40]), ("a=0.1:0.3:0.1", False, [0.1, 0.2, 0.3])],
)  # fmt: skip
def test_values_of_an_axis(text, whole, expected):
    (one,) = options.sweeps([text])
    step = float(one.step) if one.step else None
    assert options.values(float(one.first), float(one.last), step, one.factor, whole, "a") == expected


def test_too_many_points_are_refused():
    with pytest.raises(FabricmarkError, match="more than 4096 values"):
        options.values(1, 1e6, 1.0, 0.0, True, "size")
    with pytest.raises(FabricmarkError, match="5000 points"):
        options.check_points(range(50), {"size": range(100)})


def test_weak_and_strong(predict, tmp_path):
    sizes = {}
    for scaling in ("weak", "strong"):
        file = tmp_path / "found.csv"
        words = ["hpl", "--system", "noctua1", "--devices", "1,4", "--set", "size=10240", "--csv", file]
        assert predict(*words, "--scaling", scaling).returncode == 0
        sizes[scaling] = [int(row["size"]) for row in headline(rows(file.read_text()), "performance", "lu")]
    assert sizes == {"weak": [10240, 20480], "strong": [10240, 10240]}
    file = tmp_path / "stream.csv"
    words = ["stream", "--system", "noctua1", "--devices", "1,4", "--scaling", "strong", "--csv", file]
    assert predict(*words).returncode == 0
    found = [int(row["size"]) for row in headline(rows(file.read_text()), "bandwidth", "triad")]
    assert found[0] == 4 * found[1]


def test_sweeps_over_parameters_and_values_of_the_system(predict, tmp_path):
    file = tmp_path / "found.csv"
    words = ["b_eff", "--system", "noctua1", "--sweep", "network.latency=100ns:10us:x10", "--csv", file]
    done = predict(*words)
    assert "100 ns" in done.stdout and "10 us" in done.stdout
    assert "wider by once as much for each doubling of network.latency, which nobody measured" in done.stdout
    values = [float(row["value"]) for row in rows(file.read_text()) if row["name"] == "effective_bandwidth"]
    assert len(values) == 3 and values == sorted(values, reverse=True)
    done = predict(
        "gemm", "--system", "noctua1", "--sweep", "size=1024:8192", "--set", "bitstream.clock=100 MHz"
    )
    assert done.stdout.count("GFLOP/s") == 4
    slow, usual = (
        float(
            predict("gemm", "--system", "noctua1", "--csv", file, *more)
            and rows(file.read_text())[0]["value"]
        )
        for more in (("--set", "bitstream.clock=100 MHz"), ())
    )
    assert slow < usual


def test_a_system_file_of_ones_own(predict, copied, tmp_path):
    rewrite(copied / "boards" / "520n.toml", "banks", "2")
    file = tmp_path / "found.csv"
    values = []
    for system in ("noctua1", copied / "noctua1.toml"):
        assert predict("stream", "--system", system, "--csv", file).returncode == 0
        values.append(float(headline(rows(file.read_text()), "bandwidth", "triad")[0]["value"]))
    assert values[1] < 0.6 * values[0]


def test_the_published_profile_is_worse_and_says_so(predict):
    fitted, published = (
        predict("b_eff", "--system", "noctua1", "--profile", profile).stdout
        for profile in ("fitted", "published")
    )
    medians = [float(text.split("median ")[1].split("%")[0]) for text in (fitted, published)]
    assert medians[0] < medians[1]


def test_plots(predict, tmp_path):
    for name, start in (("found.png", b"\x89PNG"), ("found.svg", b"<?xml")):
        words = ["hpl", "--system", "cygnus", "--devices", "1..64", "--plot", tmp_path / name]
        assert predict(*words).returncode == 0
        assert (tmp_path / name).read_bytes().startswith(start)
    assert (
        b"modelled" in (tmp_path / "found.svg").read_bytes() or (tmp_path / "found.svg").stat().st_size > 5000
    )


def test_defaults_that_do_not_fit_are_made_smaller_but_not_what_was_asked_for(predict, one_error_line):
    assert predict("fft", "--system", "noctua1").returncode == 0
    line = one_error_line(predict("fft", "--system", "noctua1", "--set", "batch=65536"), 2)
    assert "32772 MiB are to lie in bank 0 of DDR memory, which holds 8192 MiB" in line


@pytest.mark.parametrize("board, log_points", [("520n", 28), ("h200", 26), ("cpu", 23)])
def test_a_default_batch_follows_from_the_size_as_in_a_run(predict, tmp_path, board, log_points):
    system = tmp_path / "system.toml"
    lines = ['name = "One"', 'summary = "a device"', "[[devices]]", f'board = "{board}"']
    lines += [f'{key} = {{ value = 1, source = "here" }}' for key in ("per_node", "most")]
    lines += ['bitstreams = ["520n_single"]'] if board == "520n" else []
    system.write_text("\n".join(lines))
    file = tmp_path / "found.csv"
    done = predict("fft", "--system", system, "--sweep", "log_size=12:17:5", "--csv", file)
    assert done.returncode == 0, done.stderr
    sizes = {(int(row["log_size"]), int(row["batch"])) for row in rows(file.read_text())}
    assert sizes == {(12, 1 << log_points - 12), (17, 1 << log_points - 17)}


@pytest.mark.parametrize("benchmark", ["hpl", "gemm", "stream", "lbm"])
@pytest.mark.parametrize("board", ["h200", "cpu"])
def test_a_kernel_that_nobody_measured_has_a_limit_and_no_prediction(predict, tmp_path, benchmark, board):
    file = tmp_path / "found.csv"
    done = predict(benchmark, "--system", board, "--csv", file)
    assert done.returncode == 0, done.stderr
    assert "limits, no predictions: no run says what the kernel reaches" in " ".join(done.stdout.split())
    found = rows(file.read_text())
    assert found and all(not row["value"] for row in found)
    assert any(float(row["limit"]) > 0 for row in found if row["limit"])


def test_a_kernel_that_was_measured_is_predicted(predict, tmp_path, one_error_line):
    """The same device with what short runs would have told of GEMM: a curve, or an efficiency."""
    source = (REPOSITORY / "systems" / "boards" / "h200.toml").read_text()
    lines = ['name = "Mine"', 'summary = "one"', "[[devices]]", 'board = "mine"', 'bitstreams = ["mine"]']
    lines += [f'{key} = {{ value = 1, source = "here" }}' for key in ("per_node", "most")]
    told = {
        "a curve": "[bitstreams.gemm.curves]\n"
        "kernel = { bytes = [1e9, 4e9, 16e9], seconds = [0.05, 0.32, 2.2] }\n",
        "an efficiency": "[bitstreams.gemm.measured]\nefficiency = 0.3\n",
    }
    words = ["gemm", "--system", tmp_path / "system.toml", "--set", "size=30000"]
    for folder, text in (("boards", source), ("bitstreams", "")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.toml").write_text(text)
    (tmp_path / "system.toml").write_text("\n".join(lines))
    kernel = (
        'board = "mine"\n[bitstreams.gemm]\nbenchmark = "gemm"\nvariant = "throughput"\nsource = "a run"\n'
    )
    for measured in told.values():
        (tmp_path / "bitstreams" / "mine.toml").write_text(kernel + measured)
        done = predict(*words, "--reach", "10 TFLOP/s")
        assert done.returncode == 0 and "no predictions" not in done.stdout, done.stderr
        assert "10 TFLOP/s: 1 devices reach" in done.stdout
    assert "only a limit" in one_error_line(predict("gemm", "--system", "h200", "--reach", "1 TFLOP/s"), 2)


REFUSED = {
    "benchmark": (["nope", "--system", "cygnus"], "no benchmark"),
    "system": (["hpl", "--system", "nowhere"], "there is no system nowhere"),
    "too many devices": (["hpl", "--system", "cygnus", "--devices", "65"], "use at most 64"),
    "no square": (["hpl", "--system", "cygnus", "--devices", "5"], "square grid"),
    "no square in range": (["hpl", "--system", "cygnus", "--devices", "5..8"], "no square"),
    "no number": (["hpl", "--system", "cygnus", "--devices", "x"], "no number of devices"),
    "falling": (["hpl", "--system", "cygnus", "--devices", "9..4"], "falls"),
    "transport": (["hpl", "--system", "cygnus", "--transport", "accl-udp"], "use one of channels"),
    "no exchange": (["gemm", "--system", "cygnus", "--transport", "host"], "leave out --transport"),
    "no bitstream": (["hpl", "--system", "520n_mx"], "no bitstream of hpl"),
    "no network": (["b_eff", "--system", "cpu"], "no network"),
    "parameter": (["hpl", "--system", "cygnus", "--set", "foo=1"], "no parameter foo"),
    "value": (["hpl", "--system", "cygnus", "--set", "size=abc"], "size = 'abc' (--size) cannot be used"),
    "range": (
        ["hpl", "--system", "cygnus", "--set", "block_size=0"],
        "block_size = 0 (--block-size) cannot be used",
    ),
    "memory": (["hpl", "--system", "cygnus", "--set", "size=200000"], "154445 MiB are to lie in the 4 banks"),
    "setting": (["hpl", "--system", "cygnus", "--set", "size"], "no name and value"),
    "twice": (["hpl", "--system", "cygnus", "--set", "size=1", "--set", "size=2"], "given twice"),
    "both": (["hpl", "--system", "cygnus", "--set", "size=1", "--sweep", "size=1:2"], "set and swept"),
    "key": (["hpl", "--system", "cygnus", "--set", "network.foo=1us"], "no value"),
    "unit": (["hpl", "--system", "cygnus", "--set", "network.latency=1"], "has no unit"),
    "negative": (["hpl", "--system", "cygnus", "--set", "network.latency=-1us"], "negative"),
    "nothing": (["hpl", "--system", "cygnus", "--set", "board.memory.banks=0"], "above 0"),
    "sweep": (["hpl", "--system", "cygnus", "--sweep", "size"], "no name and range"),
    "factor": (["hpl", "--system", "cygnus", "--sweep", "size=1:9:x1"], "no factor above 1"),
    "sweep of words": (["hpl", "--system", "cygnus", "--sweep", "data_type=float:double"], "no number"),
    "scaling": (["hpl", "--system", "cygnus", "--scaling", "up"], "no scaling"),
    "own problem": (["gemm", "--system", "cygnus", "--scaling", "strong"], "use --scaling weak"),
    "profile": (["hpl", "--system", "cygnus", "--profile", "best"], "no profile"),
    "picture": (["hpl", "--system", "cygnus", "--plot", "a.pdf"], "end the name"),
    "csv": (["hpl", "--system", "cygnus", "--csv", "/dev/null/a.csv"], "/dev/null"),
}


@pytest.mark.parametrize("words, says", REFUSED.values(), ids=REFUSED)
def test_what_a_system_does_not_have_is_refused_in_one_line(predict, one_error_line, words, says):
    assert says in one_error_line(predict(*words), 2)

"""What `fabricmark predict` and `validate` refuse: each message has its cause and a remedy that does not
contradict it.

And what they do not refuse stays within its own limit, on any system and size.
"""

import os
import random
import re
from functools import cache

import pytest
from conftest import REPOSITORY
from fabricmark import models, systems
from fabricmark.base import kernels
from fabricmark.base.errors import FabricmarkError
from fabricmark.predict import command, points
from fabricmark.systems import files

HPL = ["predict", "hpl", "--system", "cygnus"]
B_EFF = ["predict", "b_eff", "--system", "noctua1"]
GEMM = ["predict", "gemm", "--system", "noctua1"]
GPU = ["predict", "gemm", "--system", "h200"]
# Words, cause, remedy.
REFUSALS = {
    "benchmark": (["predict", "nope", "--system", "cygnus"], "no benchmark 'nope'", "use one of b_eff"),
    "system": (["predict", "hpl", "--system", "nowhere"], "there is no system nowhere", "arria10_ring"),
    "system twice": (["predict", "hpl", "--system", "cygnus,cygnus"], "stands twice", "name each once"),
    "board": ([*HPL, "--board", "h200"], "h200 is no board of this system", "use one of 520n_100g"),
    "too many devices": ([*HPL, "--devices", "65"], "cygnus has no 65 devices", "at most 64, or --beyond"),
    "no square": ([*HPL, "--devices", "5"], "square grid of devices, not 5", "use 4 or 9"),
    "no square in range": ([*HPL, "--devices", "5..8"], "no square in that range", "name the numbers"),
    "no number": ([*HPL, "--devices", "x"], "'x' is no number of devices", "write 8, 1,4,16 or 1..64"),
    "falling": ([*HPL, "--devices", "9..4"], "the range falls", "swap its two ends"),
    "transport": ([*HPL, "--transport", "accl-udp"], "no transport accl-udp", "use one of channels, host"),
    "transport of another": (
        ["predict", "hpl", "--system", "noctua2", "--board", "u280_ddr", "--transport", "accl-tcp"],
        "no bitstream of hpl over accl-tcp",
        "use --transport host",
    ),
    "no exchange": ([*GEMM, "--transport", "host"], "gemm exchanges nothing", "leave out --transport"),
    "no bitstream": (["predict", "hpl", "--system", "520n_mx"], "no bitstream of hpl", "predict fft, gemm"),
    "no bitstream alone": (
        ["predict", "hpl", "--system", "u280_ddr"],
        "only over host",
        "use a system that has one",
    ),
    "only of another": (
        ["predict", "fft", "--system", "arria10_ring"],
        "no bitstream of fft",
        "predict lbm, tsunami, or use --system cygnus",
    ),
    "no network": (["predict", "b_eff", "--system", "cpu"], "cpu has no network", "use another system"),
    "a curve": ([*B_EFF, "--transport", "cpu"], "a curve that was measured", "use --closed-form"),
    "parameter": ([*HPL, "--set", "foo=1"], "hpl has no parameter foo", "use one of"),
    "parameter not read": (
        [*GEMM, "--set", "alpha=0.5"],
        "reads no parameter alpha",
        "set one of b_copies, block_size",
    ),
    "value": ([*HPL, "--set", "size=abc"], "size = 'abc'", "whole number"),
    "range": ([*HPL, "--set", "block_size=0"], "block_size = 0", "give"),
    "banks": (
        [*HPL, "--set", "size=200000"],
        "in the 4 banks of DDR memory, which hold 32768 MiB",
        "smaller size",
    ),
    "memory": ([*GPU, "--set", "size=262144"], "GiB of a device's 131 GiB", "set a smaller size"),
    "setting": ([*HPL, "--set", "size"], "no name and value", "write --set size=8192"),
    "twice": ([*HPL, "--set", "size=1", "--set", "size=2"], "size is given twice", "leave out one"),
    "swept twice": ([*HPL, "--sweep", "size=1:2", "--sweep", "size=1:2"], "is given twice", "leave out one"),
    "both": ([*HPL, "--set", "size=1", "--sweep", "size=1:2"], "set and swept", "leave out one of them"),
    "key": ([*HPL, "--set", "network.foo=1us"], "network.foo is no value", "use one of"),
    "place": (
        [*HPL, "--set", "host.foo=1us"],
        "host.foo is no value",
        "begin with board, network or bitstream",
    ),
    "unit": ([*HPL, "--set", "network.latency=1"], "has no unit", "correct the value"),
    "negative": ([*HPL, "--set", "network.latency=-1us"], "negative", "correct the value"),
    "nothing": ([*HPL, "--set", "board.memory.banks=0"], "without it nothing moves", "a number above 0"),
    "not read": (
        [*GEMM, "--set", "board.memory.bank_bandwidth=1GB/s"],
        "reads no board.memory.bank_bandwidth",
        "use one of board.memory.clock",
    ),
    "no network to set": (
        [*GEMM, "--set", "network.latency=1us"],
        "there is no network to change",
        "leave it out",
    ),
    "no bitstream to set": (
        [*B_EFF, "--transport", "host", "--set", "bitstream.clock=200MHz"],
        "uses no bitstream",
        "leave it out",
    ),
    "the bitstream's": (
        ["predict", "gemm", "--system", "u280_hbm", "--set", "board.memory.clock=99MHz"],
        "has its own, which counts",
        "set bitstream.memory.clock",
    ),
    "overridden by a curve": (
        [*B_EFF, "--transport", "host", "--set", "network.latency=9us"],
        "a measured curve",
        "use --closed-form",
    ),
    "overridden by the width": (
        [*B_EFF, "--set", "network.links.bandwidth=9GB/s"],
        "override it",
        "set these, or use --closed-form",
    ),
    "absent": (
        ["predict", "host_transfer", "--system", "u250", "--profile", "published"],
        "no file says board.host.read_latency",
        "--set board.host.read_latency=520 ns",
    ),
    "does not fit": ([*GEMM, "--set", "replications=50"], "33180 of 5760 DSPs", "at most 5 replications fit"),
    "never so full": ([*GEMM, "--set", "replications=6"], "more than 77 %", "at most 5 replications fit, or"),
    "clock": ([*GEMM, "--set", "bitstream.clock=2GHz"], "cannot be reached", "set at most 620 MHz"),
    "sweep": ([*HPL, "--sweep", "size"], "no name and range", "write --sweep size=1024:32768:x2"),
    "factor": ([*HPL, "--sweep", "size=1:9:x1"], "no factor above 1", "write --sweep"),
    "falling sweep": (
        [*HPL, "--sweep", "size=9:1"],
        "the range does not rise",
        "the smaller end first",
    ),
    "step": ([*HPL, "--sweep", "size=1:9:a"], "step 'a'", "write a number"),
    "sweep of words": ([*HPL, "--sweep", "data_type=float:double"], "is no number", "use --set"),
    "too many": ([*HPL, "--sweep", "size=1:99999:1"], "more than 4096 values", "use a larger step"),
    "too many points": (
        [*B_EFF, "--sweep", "network.latency=1us:100us:0.02us"],
        "4096 values",
        "use a larger step",
    ),
    "scaling": ([*HPL, "--scaling", "up"], "there is no scaling up", "use weak or strong"),
    "own problem": ([*GEMM, "--scaling", "strong"], "a problem of its own", "use --scaling weak"),
    "profile": ([*HPL, "--profile", "best"], "no profile best", "use one of fitted, published"),
    "picture": ([*HPL, "--plot", "a.pdf"], "no kind of picture", "end the name with .png or .svg"),
    "csv": ([*HPL, "--csv", "/dev/null/a.csv"], "/dev/null", ""),
    "reach": ([*HPL, "--reach", "20 GB/s"], "no amount of GFLOP/s", 'write for example "1.2 TFLOP/s"'),
    "enough": ([*HPL, "--enough", "network.foo"], "reads no such value", "use one of"),
    "no data": (["validate", "--data", "absent.csv"], "there is no file absent.csv", "name a CSV file"),
    "by": (["validate", "--by", "colour"], "'colour' is no column", "use some of benchmark"),
}


@pytest.fixture(name="run")
def command_of_the_repository(place):
    own = {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": os.devnull}
    return lambda words: place.run(*words, **own)


def test_there_are_at_least_forty():
    assert len(REFUSALS) >= 40
    assert len({tuple(words) for words, _, _ in REFUSALS.values()}) == len(REFUSALS)


@pytest.mark.parametrize("words, cause, remedy", REFUSALS.values(), ids=REFUSALS)
def test_each_names_cause_and_remedy(run, one_error_line, words, cause, remedy):
    line = one_error_line(run(words), 2)
    said, _, advice = line.rpartition("; ")
    assert cause in said, line
    assert remedy in advice, line
    assert_no_contradiction(words, advice)


def test_a_board_of_no_design_is_told_to_get_one(place, one_error_line, tmp_path):
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "bare.toml").write_text('like = "de5a_net"\nname = "a board of ones own"\n')
    own = {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": str(tmp_path)}
    line = one_error_line(place.run("predict", "fft", "--system", "bare", **own), 2)
    assert "bare has no bitstream of fft; add one to its file" in line


def assert_no_contradiction(words, advice):
    """The remedy does not offer what was refused."""
    match = re.search(r"(?:use one of|use|set one of|predict one of|predict|--transport) (.+)", advice)
    offered = re.split(r", | or ", match[1]) if match else []
    given = {word.partition("=")[0] for word in words[1:] if not word.startswith("--")}
    named = given - {"noctua1", "noctua2", "cygnus", "u280_ddr", "u280_hbm", "channels"}
    assert not named & set(offered), (named, offered)


def test_a_design_of_what_has_no_kernels_has_no_model(monkeypatch):
    known = [name for name in kernels.benchmark_names() if name != "tsunami"]
    monkeypatch.setattr(kernels, "benchmark_names", lambda: known)
    with pytest.raises(FabricmarkError, match=r"tsunami has bitstreams .*; predict one of b_eff"):
        command.check_benchmark("tsunami")


def test_a_contradiction_would_be_noticed():
    with pytest.raises(AssertionError):
        assert_no_contradiction(["predict", "hpl"], "it has b_eff, use one of fft, hpl, stream")


FOLLOWED = {
    "transport": ("--transport", "channels"),
    "transport of another": ("--transport", "host"),
    "no square": ("--devices", "4"),
    "a curve": ("--closed-form",),
    "overridden by the width": ("--closed-form",),
    "overridden by a curve": ("--closed-form",),
    "too many devices": ("--beyond",),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_following_the_remedy_helps(run, name):
    option, *value = FOLLOWED[name]
    words = list(REFUSALS[name][0])
    if option in words:
        words[words.index(option) + 1] = value[0]
    else:
        words += [option, *value]
    if name == "too many devices":
        words[words.index("--devices") + 1] = "81"
    done = run(words)
    assert done.returncode == 0, done.stderr


@cache
def fpga_systems():
    found = []
    for name in sorted({*files.listed("system"), *files.listed("board")}):
        for board in systems.load(name).boards:
            system = systems.load(name, board=board)
            found.append(system)
    return found


def random_request(source):
    system = source.choice(fpga_systems())
    benchmark = source.choice(models.names())
    exchanges = models.traits(benchmark).exchanges
    transport = source.choice(["none", *system.networks]) if exchanges and system.networks else "none"
    given = {}
    for name, most in (("size", 15), ("log_size", 28), ("largest", 22)):
        if benchmark in SIZED[name]:
            power = source.uniform(6, most)
            given[name] = round(power) if name != "size" else 64 * round(2 ** (power - 6))
    closed = source.random() < 0.2
    system = points.settings.without_curves(system) if closed else system
    devices = 2 ** source.randrange(12)
    devices = round(devices**0.5) ** 2 if models.traits(benchmark).on_grid else devices
    request = points.PredictionRequest(
        benchmark, system, transport, points.WEAK, given, beyond=True, closed_form=closed
    )
    return request, devices


SIZED = {"size": ("gemm", "hpl", "ptrans", "stream"), "log_size": ("random_access",), "largest": ("b_eff",)}


def assert_within_limits(count, seed):
    """No prediction over its own limit; returns how many there were."""
    source, found = random.Random(seed), 0
    for _ in range(count):
        request, devices = random_request(source)
        try:
            (one,), _ = points.predict(request, (devices,), {})
        except FabricmarkError as error:
            assert "; " in str(error) and "its model cannot use" not in str(error), str(error)
            continue
        for prediction in one.predictions:
            if prediction.limit is not None and prediction.value is not None:
                if prediction.unit.endswith("/s"):
                    assert prediction.value <= prediction.limit * (1 + 1e-9), (
                        request.about,
                        devices,
                        prediction,
                    )
                assert prediction.value > 0
        found += 1
    return found


def test_no_random_prediction_is_over_its_limit():
    assert assert_within_limits(300, 1) > 60


@pytest.mark.full
def test_no_prediction_of_ten_thousand_is_over_its_limit():
    assert assert_within_limits(10_000, 2) > 2000


def test_a_prediction_over_its_limit_would_be_noticed(monkeypatch):
    monkeypatch.setattr(points.models, "capped", lambda found: list(found))
    monkeypatch.setattr(points.models, "limits_alone", lambda found: list(found))  # of a perfect kernel
    request = points.PredictionRequest("hpl", systems.load("h200"), "none", points.WEAK)
    (one,), _ = points.predict(request, (1,), {})
    assert one.headline.value > one.headline.limit

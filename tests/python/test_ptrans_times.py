"""PTRANS over direct channels by the clock, against what was measured, the closed form and itself."""

import itertools
import tomllib

import numpy as np
import pytest
from conftest import REPOSITORY
from published_ptrans import rows
from simulated_runs import best, exported, predicted, program, samples, timing

BITSTREAM = "520n_multi/ptrans_channels"
TRANSPOSE = ("bandwidth", "transpose", None)
PUBLISHED = [row for row in rows() if (row.metric, row.transport) == ("calc_time", "channels")]
MOST, MEDIAN = 0.15, 0.05  # by which the clock may differ from what was measured
CLOSED = 0.05  # and from the closed form
WORDS = 0.02  # and that where only the width of words differs

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]


def clocked(folder, file, size, ranks, *more):
    """GB/s, and all parameters of the run."""
    words = ("--transport", "channels", "--size", size, "--ranks", ranks, "--repetitions", 1, "--warmup", 0)
    document = timing(folder, "ptrans", file, BITSTREAM, *words, *more)
    return best(document)[TRANSPOSE], document["parameters"]


def errors(folder, file):
    """|modelled / measured - 1| of every published run."""
    matrices = [(row.matrix_width, row.devices, row.value) for row in PUBLISHED]
    rates = [clocked(folder, file, size, ranks)[0] for size, ranks, _ in matrices]
    times = [4e-9 * size**2 / rate for (size, _, _), rate in zip(matrices, rates, strict=True)]
    return [abs(time / value - 1) for time, (*_, value) in zip(times, matrices, strict=True)]


def test_published_times(system, tmp_path):
    found = errors(tmp_path, system)
    assert len(found) == 5
    assert np.median(found) <= MEDIAN and np.quantile(found, 0.9) <= MOST


def test_published_bandwidth_of_sixteen_boards(system, tmp_path):
    """Table 4.8: 293.45 GB/s."""
    assert clocked(tmp_path, system, 131072, 16)[0] == pytest.approx(293.45, rel=0.1)


CHANGES = {
    "links": ("networks", "clock_hz", 0.8),
    "efficiency": ("bitstreams", "channel_efficiency", 0.8),
    "memory": ("devices", "bank_bytes_per_second", 0.5),
}


@pytest.mark.parametrize("part, value, factor", CHANGES.values(), ids=CHANGES)
def test_the_comparison_notices_a_wrong_figure(tmp_path, part, value, factor):
    def change(document):
        for one in document[part]:
            if value in one["values"]:
                one["values"][value]["value"] *= factor

    assert np.median(errors(tmp_path, exported(tmp_path, change=change))) > MEDIAN


def test_the_start_counts(tmp_path, system):
    """620 us, and four launches of 60 us."""

    def without(document):
        for one in document["bitstreams"]:
            if "start_seconds" in one["values"]:
                one["values"]["start_seconds"]["value"] = 0

    rates = [clocked(tmp_path, file, 4096, 1)[0] for file in (system, exported(tmp_path, change=without))]
    slower, faster = (4e-9 * 4096**2 / rate for rate in rates)
    assert slower - faster == pytest.approx(620.1e-6, rel=1e-6)
    of_words = 4 * 4096**2 / 4 / (32 * 156.25e6 * 0.9274)
    assert faster == pytest.approx(4 * 60e-6 + of_words, rel=0.05)


# Of so many blocks that all boards and channels have nearly as many, as the closed form takes it.
GRIDS = [
    *((size, ranks, "pq") for size, ranks in itertools.product((8192, 32768), (1, 4, 16))),
    *((32768, ranks, "diagonal") for ranks in (2, 16)),
]
CASES = [(*grid, *how) for grid, how in itertools.product(GRIDS, (("float", 4), ("float", 2), ("double", 4)))]


@pytest.mark.parametrize("size, ranks, distribution, data_type, replications", CASES)
def test_clock_and_closed_form_agree(tmp_path, system, size, ranks, distribution, data_type, replications):
    wide = ("--data-type", data_type, "--channel-width", {"float": 8, "double": 4}[data_type])
    more = (*wide, "--replications", replications, "--distribution", distribution)
    found, parameters = clocked(tmp_path, system, size, ranks, *more)
    closed = predicted("ptrans", parameters, ranks, bitstream=BITSTREAM, transport="channels")
    assert found == pytest.approx(closed[TRANSPOSE], rel=CLOSED)


DECLARED = tomllib.loads((REPOSITORY / "kernels" / "ptrans" / "kernel.toml").read_text())
WIDTHS = DECLARED["parameters"]["channel_width"]["values"]


@pytest.mark.parametrize("data_type", ["float", "double"])
@pytest.mark.parametrize("width", WIDTHS)
def test_words_of_all_widths_take_whole_cycles_of_a_link(tmp_path, system, width, data_type):
    more = ("--data-type", data_type, "--channel-width", width)
    found, parameters = clocked(tmp_path, system, 32768, 4, *more)
    closed = predicted("ptrans", parameters, 4, bitstream=BITSTREAM, transport="channels")
    assert found == pytest.approx(closed[TRANSPOSE], rel=WORDS)


def test_the_memory_bounds_both_alike(tmp_path):
    """Eq. 4.6: three times the bandwidth of the channels is needed."""

    def change(document):
        for one in document["devices"]:
            one["values"]["bank_bytes_per_second"]["value"] = 5e9

    found, parameters = clocked(tmp_path, exported(tmp_path, change=change), 32768, 4)
    slow = {"bank_bytes_per_second": 5e9}
    closed = predicted("ptrans", parameters, 4, bitstream=BITSTREAM, transport="channels", board=slow)
    assert found == pytest.approx(closed[TRANSPOSE], rel=CLOSED)
    assert found < 4 * 4 * 5 / 3


def test_words_that_stand_for_many_take_as_long(tmp_path_factory, system):
    """And over engines, where none do, the time is the same to the last bit."""
    made = program(tmp_path_factory.mktemp("ptrans"), "ptrans")
    words = ("--size", 2048, "--block-size", 128, "--ranks", 4, "--repetitions", 1, "--warmup", 0)
    over = ("--system", system, "--bitstream-id", BITSTREAM, "--transport", "channels")
    computed = best(made.valid(*words, *over).document)[TRANSPOSE]
    assert best(made.run("--timing-only", *words, *over).document)[TRANSPOSE] == pytest.approx(computed, 0.01)
    other = exported(tmp_path_factory.mktemp("noctua2"), "noctua2")
    for mode in ("buffered", "streaming"):
        over = ("--system", other, "--transport", "accl-tcp", "--mode", mode)
        alone = made.run("--timing-only", *words, *over).document
        assert samples(alone) == samples(made.valid(*words, *over).document)

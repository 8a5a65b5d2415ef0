"""Values that no fit had a part in: other systems and device counts, and rows that leave columns empty."""

from functools import lru_cache
from math import isqrt

import pytest
from fabricmark import validate
from fabricmark.results import published
from fabricmark.results.published import PublishedValue
from fabricmark.validate import outcomes, runs

load = lru_cache(maxsize=None)(outcomes.loaded("fitted"))
EMPTY = PublishedValue(
    "gemm", "noctua1", "520n", "none", 1, 1, "test", None, "", None, None, "", "gflops", None, 1.0,
    "GFLOP/s", "made up",
)  # fmt: skip


def row(benchmark, system, board, metric, unit, **more):
    """A row with nothing but what it must have, and `more`."""
    names = {"benchmark": benchmark, "system": system, "board": board, "metric": metric, "unit": unit}
    return PublishedValue(**{**EMPTY.__dict__, **names, **more})


def predicted(one):
    """The prediction of a row, in its unit."""
    (found,) = validate.predict_rows([(2, one)], load=load)
    assert found.reason == ""
    return found.predicted


def printed(table, benchmark, metric, **more):
    found = [
        one
        for one in published.printed()
        if (one.table, one.benchmark, one.metric) == (f"Table {table}", benchmark, metric)
        and all(getattr(one, name) == value for name, value in more.items())
    ]
    return found if len(found) > 1 else found[0]


@pytest.mark.parametrize("place", range(4))
def test_hpl_on_cygnus(place):
    """Table 4.10: another system, another clock, 64 boards in a torus; the sources of Noctua 1."""
    one = printed("4.10", "hpl", "performance")[place]
    width = one.size // isqrt(one.devices)
    run = row(
        "hpl", "cygnus", "520n_100g", "lu_gflops", "TFLOP/s", transport="channels", devices=one.devices,
        nodes=-(-one.devices // 2), matrix_width_printed=width,
    )  # fmt: skip
    assert predicted(run) == pytest.approx(one.value, rel=0.10)


HACC = {
    "stream": (("stream_triad", "GB/s", "none"), {}, 4, 0.05),
    "gemm": (("gflops", "GFLOP/s", "none"), {}, 4, 0.05),
    "random_access": (("guops", "GUOP/s", "none"), {}, 4, 0.05),
    "b_eff": (("bandwidth", "GB/s", "host"), {"message_bytes": 2**20}, 4, 0.10),
}


@pytest.mark.parametrize("benchmark", HACC)
def test_four_boards_of_the_hacc(benchmark):
    """Table 4.8; no row of the given file has so many boards of the HACC. Means of devices are times 4."""
    (metric, unit, transport), more, times, bar = HACC[benchmark]
    name = {"stream": "triad", "random_access": "updates", "b_eff": "bandwidth"}.get(benchmark, "performance")
    one = printed("4.8", benchmark, name, system="hacc")
    run = row(benchmark, "hacc", "u280_ddr", metric, unit, transport=transport, devices=4, nodes=2, **more)
    assert predicted(run) == pytest.approx(one.value * times, rel=bar)


PER_DEVICE = {
    "gemm": ("gflops", "GFLOP/s", "none"),
    "fft": ("fft_gflops", "GFLOP/s", "none"),
    "stream": ("stream_triad", "MB/s", "none"),
    "random_access": ("guops", "GUOP/s", "none"),
    "b_eff": ("b_eff", "B/s", "channels"),
}


@pytest.mark.parametrize("benchmark", PER_DEVICE)
@pytest.mark.parametrize("devices", [2, 9, 26, 64])
def test_any_device_count_with_empty_columns(benchmark, devices):
    metric, unit, transport = PER_DEVICE[benchmark]
    of = {"transport": transport, "nodes": -(-devices // 2), "devices": devices}
    one = predicted(row(benchmark, "noctua1", "520n", metric, unit, transport=transport))
    all_of_them = predicted(row(benchmark, "noctua1", "520n", metric, unit, **of))
    # The 32 generators of random_access are too few for the 256 kernels of 64 boards (section 4.2.1).
    assert all_of_them == pytest.approx(devices * one, rel=0.25 if benchmark == "random_access" else 0.05)


@pytest.mark.parametrize("transport", ["host", "channels"])
@pytest.mark.parametrize("devices", [9, 25, 36])
def test_weak_scaling_of_hpl_and_ptrans(transport, devices):
    width = isqrt(devices)
    of = {"transport": transport, "devices": devices, "nodes": -(-devices // 2)}
    hpl = predicted(row("hpl", "noctua1", "520n", "lu_gflops", "GFLOP/s", **of))
    alone = predicted(row("hpl", "noctua1", "520n", "lu_gflops", "GFLOP/s", transport=transport))
    assert 0.9 * devices * alone < hpl < 1.3 * devices * alone
    seconds = predicted(row("ptrans", "noctua1", "520n", "calc_time", "s", **of))
    strong = predicted(
        row("ptrans", "noctua1", "520n", "calc_time", "s", **of, matrix_width_printed=32768 * width)
    )
    assert strong < 1.5 * seconds / devices


def width(row):
    return runs.published_of(row).size(row, {})["size"]


def test_sizes_by_the_columns():
    hpl = row("hpl", "noctua1", "520n", "lu_gflops", "GFLOP/s", devices=9, matrix_width_printed=4096)
    assert width(hpl) == 3 * 4096
    ptrans = row("ptrans", "noctua1", "520n", "calc_time", "s", devices=9, matrix_width_printed=294912)
    assert width(ptrans) == 98304
    assert width(row("hpl", "hacc", "u280_ddr", "lu_gflops", "GFLOP/s", devices=2)) == 34756


def test_what_a_row_names_decides():
    """Block and replications choose the bitstream; what none has is put in place of the nearest one's."""
    of = {"transport": "host", "matrix_width_printed": 8192}
    hpl = row("hpl", "noctua1", "520n", "lu_gflops", "GFLOP/s", **of)
    rates = [predicted(PublishedValue(**{**hpl.__dict__, "block": block})) for block in (256, 512, 128)]
    assert len(set(rates)) == 3
    assert predicted(hpl) == rates[1]
    gemm = row("gemm", "noctua1", "520n", "gflops", "GFLOP/s")
    fewer = PublishedValue(**{**gemm.__dict__, "replications": 4})
    assert predicted(fewer) == pytest.approx(predicted(gemm) * 4 / 5, rel=1e-3)


def test_one_device_without_a_transport_is_that_over_the_host():
    for benchmark, metric, unit in (("hpl", "lu_gflops", "GFLOP/s"), ("ptrans", "calc_time", "s")):
        rates = {
            predicted(row(benchmark, "noctua1", "520n", metric, unit, transport=transport))
            for transport in ("none", "host")
        }
        assert len(rates) == 1


def test_boards_by_less_than_their_id():
    """A row may call the board of Cygnus what Noctua 1 calls its; where there are several it tells them."""
    of = {"transport": "channels", "matrix_width_printed": 8192}
    rates = {
        predicted(row("hpl", "cygnus", name, "lu_gflops", "GFLOP/s", **of)) for name in ("520n", "520n_100g")
    }
    assert len(rates) == 1
    (found,) = validate.predict_rows([(2, row("gemm", "noctua2", "h200", "gflops", "GFLOP/s"))], load=load)
    assert (found.predicted, found.error) == (None, 1)
    assert "has no board h200, but 520n" in found.reason


def test_sizes_between_and_beyond_those_of_b_eff():
    of = {"transport": "channels", "devices": 2}
    rates = [
        predicted(row("b_eff", "noctua1", "520n", "bandwidth", "B/s", message_bytes=size, **of))
        for size in (2048, 3000, 4096, 2**20, 2**22)
    ]
    assert rates == sorted(rates)
    assert rates[4] < 1.05 * rates[3]


def test_curves_of_the_given_file_are_inputs():
    """A slow MPI between the hosts makes b_eff over the host slower; a new device count is taken."""
    of = {"transport": "host", "devices": 8, "nodes": 4, "message_bytes": 2**20}
    test = row("b_eff", "noctua1", "520n", "bandwidth", "B/s", **of)
    before = predicted(test)
    curve = [
        row(
            "b_eff", "noctua1", "520n", "bandwidth", "B/s", transport="cpu", devices=8, nodes=4,
            role="calibration", message_bytes=2**power, value=2.0**power * 1e3,
        )
        for power in range(21)
    ]  # fmt: skip
    given = [(line, one) for line, one in enumerate([test, *curve], 2)]
    (found,) = validate.predict_rows(given, load=load)
    assert found.predicted < before / 2


def test_metrics_and_units_that_nothing_has():
    def reason(**more):
        (found,) = validate.predict_rows([(2, PublishedValue(**{**EMPTY.__dict__, **more}))], load=load)
        assert found.predicted is None
        return found.reason

    assert reason(metric="joules") == "no model has the metric joules of gemm"
    assert reason(unit="s") == "the metric gflops is in GFLOP/s, not in s"
    assert "no network for the transport accl-tcp" in reason(transport="accl-tcp")
    assert "there is no system nowhere" in reason(system="nowhere")
    assert reason(dtype="quad") == "the dtype quad is unknown"
    assert reason(devices=2**30) == "more than 1048576 devices"
    assert reason(benchmark="hpl", metric="lu_gflops", devices=10**4) == "more than 4096 devices"
    assert reason(matrix_width_printed=10**12) == "a matrix wider than 67108864"

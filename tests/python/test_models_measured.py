"""Values of kernels from short runs: what the models find is what the runs were made with."""

import dataclasses

import pytest
import samples
from fabricmark import models
from fabricmark.base import kernels, measured_keys
from fabricmark.measure import short_runs
from fabricmark.models import _measured, _transfers
from fabricmark.models._measured import Run
from fabricmark.models.host_transfer import measured
from fabricmark.models.machine import Bitstream, Curve, Network, Times
from fabricmark.results import Measurement
from fabricmark.systems import calibration

BOARD = calibration.board(samples.calibration())
NETWORK = Network(
    "host", "host",
    curves=tuple(Curve(ranks, 1, (1.0, 2.0**16, 2.0**20), (1e-6, 2e-5, 3e-4)) for ranks in (1, 2)),
)  # fmt: skip
TRANSFERS = {
    f"{direction}_{name}": value
    for direction in ("to_device", "from_device")
    for name, value in (("bytes_per_second", 9e9), ("limit_bytes_per_second", 15e9))
}
COPY = {"start_seconds": 2e-5, "cached_bytes_per_second": 2e10, "memory_bytes_per_second": 8e9}
LINES = {f"{name}_{part}": value for name in measured_keys.COPIES for part, value in COPY.items()}
# Times of a transfer, whatever its kind, along a law that lines between few sizes only come near to.
SIZES = tuple(2.0**power for power in range(10, 31))
TIMES = Times(SIZES, tuple(2e-5 + size / 8e9 for size in SIZES))
KINDS = [
    {"direction": direction, "method": method, "memory": "page-aligned", "buffers": buffers}
    for direction in ("to_device", "from_device", "both")
    for method in ("queued", "blocking")
    for buffers in ((1, 4) if method == "queued" else (1,))
]
CURVES = {"host_transfer": {measured.curve_name(kind): TIMES for kind in KINDS}, "gemm": {}, "hpl": {}}
TRUTH = {
    "stream": {"efficiency": 0.8, "start_seconds": 1e-4, **TRANSFERS},
    "gemm": {"efficiency": 0.3, "start_seconds": 2e-4, **TRANSFERS},
    "fft": {"efficiency": 0.05, "start_seconds": 1e-4, **TRANSFERS},
    "ptrans": {
        "efficiency": 0.2, "start_seconds": 0.0, "exchange_efficiency": 0.7, "exchange_start_seconds": 0.0,
        **TRANSFERS,
    },
    "random_access": {"number_seconds": 2e-8, **TRANSFERS},
    "hpl": {"panel_efficiency": 0.1, "multiply_efficiency": 0.3, "solve_efficiency": 0.5, **TRANSFERS},
    "b_eff": {"cached_bytes": 2.0**18, **LINES},
    "host_transfer": {"kernel_bytes_per_second": 6e9, "overlap_speed_up": 1.4},
    "lbm": {"efficiency": 0.1, "start_seconds": 1e-4},
    "tsunami": {"efficiency": 0.05, "start_seconds": 1e-4},
    "shallow_water": {"efficiency": 0.2, "start_seconds": 5e-5},
}  # fmt: skip


CPU = {"class": "cpu", "compute_units": 2}


def defaults(name):
    """The parameters of a benchmark's defaults on a CPU of two cores."""
    (found,) = kernels.ask([kernels.wanted(name, "cpu", {}, 2, variant="base")])
    return {**found["parameters"], "variant": "base"}


def as_measured(entry):
    better = "lower" if entry.unit in ("s", "ms", "us") else "higher"
    values = dict.fromkeys(("best", "median", "mean", "minimum", "maximum"), entry.value)
    return Measurement(
        entry.name, entry.axes, entry.unit, better, "measured", **values, work_amount=None, samples_unit="s",
        per_rank=[],
    )  # fmt: skip


def transfers(parameters):
    """What host_transfer measures: its model only predicts what was asked for."""
    for kind in KINDS:
        for power in range(parameters["smallest"], parameters["largest"] + 1, 2):
            axes = {**kind, "bytes": 2**power}
            yield as_measured(models.Prediction("bandwidth", axes, 1.0, "GB/s", None, "", ""))


def predicted(name, parameters, ranks, values, own_ranks=1, curves=None):
    curves = CURVES.get(name, {}) if curves is None else curves
    bitstream = Bitstream(name, name, "", "base", "none", {"ranks": own_ranks}, curves)
    asked = tuple(transfers(parameters)) if name == "host_transfer" else ()
    return models.find(name).predict(
        parameters,
        BOARD,
        ranks,
        measurements=asked,
        network=NETWORK,
        bitstream=bitstream.with_measured(values),
    )


def made_up(name, chosen, ranks):
    """A short run as a machine with the true values would have done it."""
    parameters = {**defaults(name), **chosen}
    if ranks > 1 and "replications" in parameters:
        parameters["replications"] = 1
    known = [one for one in predicted(name, parameters, ranks, TRUTH[name], ranks) if one.value is not None]
    return Run(parameters, BOARD, ranks, [as_measured(one) for one in known], NETWORK)


def short_runs_of(name, ranks):
    model = models.find(name)
    todo = short_runs.plan(model, kernels.kernel(name), CPU, "base")
    if models.traits(name).by_ranks:
        todo = [entry for entry in todo if entry[1] == ranks]
    return model, [made_up(name, *entry) for entry in todo]


def found_parameters(name, ranks):
    model, runs = short_runs_of(name, ranks)
    return model.fit_parameters(runs)


def test_every_benchmark_is_among_these():
    assert set(TRUTH) == set(kernels.benchmark_names())


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", sorted(TRUTH))
def test_defaults_are_predicted_from_other_sizes(name, ranks):
    model, runs = short_runs_of(name, ranks)
    curves = model.processor_curves(runs) if name in CURVES else {}
    expected = made_up(name, {}, ranks)
    again = predicted(name, expected.parameters, ranks, model.fit_parameters(runs), ranks, curves)
    known = {(one.name, frozenset(one.axes.items()), one.unit): one.value for one in again}
    assert expected.measurements
    for entry in expected.measurements:
        value = known[entry.name, frozenset(entry.axes.items()), entry.unit]
        bar = 0.08 if curves else 0.03  # between two sizes of which one is four times the other
        assert value == pytest.approx(entry.best, rel=bar), (name, entry.name, entry.axes)


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_the_runs_are_not_the_defaults(name):
    known = defaults(name)
    for chosen in models.find(name).short_runs(known):
        assert any(known[key] != value for key, value in chosen.items())


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_every_figure_has_a_key_and_moves_a_prediction(name):
    """No value is written that nothing reads."""
    values = found_parameters(name, 2)
    assert set(values) <= set(measured_keys.MEANINGS)
    ranks = 2
    parameters = defaults(name) | ({"replications": 1} if "replications" in defaults(name) else {})
    parameters |= {"buffers": "1,4"} if name == "host_transfer" else {}
    parameters |= {"chunk_bytes": 2**18} if name == "b_eff" else {}  # else only the faster way counts
    truth = TRUTH[name]
    before = [one.value for one in predicted(name, parameters, ranks, truth, ranks)]
    alone = [one.value for one in predicted(name, parameters, 1, truth, 1)]
    for value in values:
        changed = {**truth, value: truth[value] * 2 + (1e-3 if truth[value] == 0 else 0)}
        after = [one.value for one in predicted(name, parameters, ranks, changed, ranks)]
        assert (
            after != before or [one.value for one in predicted(name, parameters, 1, changed, 1)] != alone
        ), value


def test_a_doubled_efficiency_halves_the_time():
    parameters = {**defaults("gemm"), "replications": 2}
    rates = [predicted("gemm", parameters, 1, {"efficiency": share})[0].value for share in (0.1, 0.2)]
    launch = 2 * BOARD["host.launch_latency"]
    work = 2e-9 * parameters["size"] ** 3
    assert work / rates[0] - launch == pytest.approx(2 * (work / rates[1] - launch))


def test_efficiency_of_disturbed_runs():
    """One short run that took far too long is no start; without pairs there is nothing."""
    assert _measured.efficiency([]) == {}
    assert _measured.efficiency([(1.0, 2.0)]) == {"efficiency": 0.5, "start_seconds": 0.0}
    disturbed = _measured.efficiency([(1.0, 20.0), (2.0, 20.5)])
    assert disturbed["start_seconds"] == 0.0
    exact = _measured.efficiency([(1.0, 2.5), (2.0, 4.5), (3.0, 6.5)], "exchange")
    assert exact == pytest.approx({"exchange_efficiency": 0.5, "exchange_start_seconds": 0.5})


def test_parts_are_never_much_faster_than_their_limits():
    parts = [[1.0, 1.0], [2.0, 4.0]]
    assert _measured.shares(parts, [4.0, 12.0]) == pytest.approx([0.5, 0.5], rel=0.01)
    assert max(_measured.shares(parts, [0.1, 0.2])) <= _measured.MOST_EFFICIENT * (1 + 1e-9)


def test_more_ranks_than_cores_share_the_copies():
    bitstream = Bitstream("b_eff", "b_eff", "", "base", "none", {"ranks": 2}).with_measured(TRUTH["b_eff"])
    assert [_measured.crowding(bitstream, BOARD, ranks) for ranks in (1, 2, 4, 8)] == [1, 1, 2, 4]
    alone = dataclasses.replace(bitstream, parameters={"ranks": 1})
    assert _measured.crowding(alone, BOARD, 2) == 1


def transfer_run(size, ranks, rate):
    entry = models.Prediction("bandwidth", {"operation": "host_to_device"}, rate, "GB/s", None, "", "")
    return Run({"size": size}, BOARD, ranks, [as_measured(entry)])


def test_transfers_are_those_of_the_largest_runs_of_all_passes():
    one_pass = [(256, 1, 20.0), (512, 1, 8.0), (512, 2, 14.0)]
    next_pass = [(256, 1, 30.0), (512, 1, 12.0), (512, 2, 18.0)]
    found = _transfers.fit_parameters([transfer_run(*run) for run in (*one_pass, *next_pass)])
    assert found == {"to_device_bytes_per_second": 10e9, "to_device_limit_bytes_per_second": 16e9}
    assert _transfers.fit_parameters([]) == {}


def test_a_curve_lies_between_its_sizes():
    times = _measured.means([{4: 1.0, 16: 3.0}, {4: 4.0, 16: 12.0}])
    assert times == Times((4.0, 16.0), (pytest.approx(2.0), pytest.approx(6.0)))
    seconds = _measured.interpolated_seconds(times.bytes, times.seconds, [1, 4, 8, 16, 32])
    assert list(seconds) == pytest.approx([2.0, 2.0, 12**0.5, 6.0, 12.0])


def test_a_further_kernel_of_host_transfer_measures_no_transfers_again():
    model = models.find("host_transfer")
    kernel = kernels.kernel("host_transfer")
    first = short_runs.plan(model, kernel, CPU, "base")
    further = short_runs.plan(model, kernel, CPU, "throughput")
    assert [ranks for _, ranks in first] == [1, 1, 2, 2] and [ranks for _, ranks in further] == [1]
    chosen = further[0][0]
    assert chosen["overlap_bytes"] == first[0][0]["overlap_bytes"]
    assert 2 ** chosen["smallest"] <= chosen["overlap_bytes"] <= 2 ** chosen["largest"]
    copies = {(one["direction"], one["method"], one["memory"]) for one in measured.COPIES}
    ways = chosen["directions"].split(",")
    assert copies == {(way, chosen["methods"], chosen["memories"]) for way in ways}


def grown(name, shares, operation):
    """Short runs of a kernel that reaches these shares of what was calibrated, from the smallest on."""
    sizes = models.find(name).short_runs(defaults(name))
    assert len(sizes) == len(shares)
    found = []
    for chosen, share in zip(sizes, shares, strict=True):
        parameters = {**defaults(name), **chosen}
        if name == "gemm":
            one = predicted(name, parameters, 1, {"efficiency": share})[0]
        else:
            told = {"panel_efficiency": share, "multiply_efficiency": share}
            one = predicted(name, parameters, 1, told)[0]
        assert one.axes == {"operation": operation}
        found.append(Run(parameters, BOARD, 1, [as_measured(one)], NETWORK))
    return found


@pytest.mark.parametrize("name, operation", [("gemm", "gemm"), ("hpl", "lu")])
def test_what_a_kernel_reaches_depends_on_the_size(name, operation):
    """At the sizes of the short runs as these were, between them in between. Beyond them GEMM's as at the
    nearest; of HPL multiplications count more and more, which are the faster part."""
    model, runs = models.find(name), grown(name, (0.1, 0.2, 0.3), operation)
    told = [model.fit_parameters(runs), 1, model.processor_curves(runs)]
    rates = []
    for run in runs:
        (rate,) = [one.best for one in run.measurements]
        found = predicted(name, run.parameters, 1, *told)[0]
        assert found.value == pytest.approx(rate, rel=1e-6)
        rates.append(rate)
    middle = (runs[0].parameters["size"] + runs[1].parameters["size"]) // 2
    between = predicted(name, {**runs[0].parameters, "size": middle}, 1, *told)[0].value
    assert rates[0] < between < rates[1]
    whole = predicted(name, defaults(name), 1, *told)[0].value
    alike = grown(name, (0.3, 0.3, 0.3), operation)
    even = [model.fit_parameters(alike), 1, model.processor_curves(alike)]
    as_nearest = predicted(name, defaults(name), 1, *even)[0].value
    assert whole == pytest.approx(as_nearest, rel=0.02 if name == "gemm" else 0.25)
    assert whole >= 0.98 * as_nearest


@pytest.mark.parametrize("name, operation", [("gemm", "gemm"), ("hpl", "lu")])
def test_a_kernel_that_reaches_the_same_at_all_sizes_does_so_between_them(name, operation):
    """Which asks for how operations grow with bytes."""
    runs = grown(name, (0.2, 0.2, 0.2), operation)
    model = models.find(name)
    told = [model.fit_parameters(runs), 1, model.processor_curves(runs)]
    for size in (defaults(name)["size"] * 3 // 8, defaults(name)["size"] * 2):
        parameters = {**defaults(name), "size": size}
        truth = {"efficiency": 0.2, "panel_efficiency": 0.2, "multiply_efficiency": 0.2}
        expected = predicted(name, parameters, 1, truth)[0].value
        assert predicted(name, parameters, 1, *told)[0].value == pytest.approx(expected, rel=1e-3)


def test_few_sizes_make_no_curve():
    model = models.find("gemm")
    runs = grown("gemm", (0.1, 0.2, 0.3), "gemm")[:2]
    assert model.processor_curves(runs) == {} and "efficiency" in model.fit_parameters(runs)
    assert "efficiency" not in model.fit_parameters(grown("gemm", (0.1, 0.2, 0.3), "gemm"))


def test_a_start_that_jumps_is_one_start():
    """Copies of 2 to 32 bytes take the same; what rises stays as it was measured."""
    known = Times((2.0, 8.0, 32.0, 128.0, 512.0), (8e-6, 32e-6, 16e-6, 40e-6, 80e-6))
    found = _measured.ascending(known)
    middle = pytest.approx((32e-6 * 16e-6) ** 0.5)
    assert found.seconds == (pytest.approx(8e-6), middle, middle, pytest.approx(40e-6), pytest.approx(80e-6))
    assert found.bytes == known.bytes
    falling = _measured.ascending(Times((1.0, 2.0, 4.0), (4.0, 2.0, 1.0)))
    assert falling.seconds == pytest.approx((2.0, 2.0, 2.0))

"""Predictions of b_eff beside the curves that its source published."""

import dataclasses

import numpy as np
import pytest
from fabricmark import systems
from fabricmark.models import b_eff
from fabricmark.models._fit import fit_latency_bandwidth
from published_b_eff import circuit_bytes_per_second, curves, peak_bytes_per_second


def found(predictions, name="bandwidth", operation="exchange", size=2**20):
    axes = {"operation": operation, "message_bytes": size} if operation else {}
    return next(entry for entry in predictions if (entry.name, dict(entry.axes)) == (name, axes))


@pytest.mark.parametrize("devices", [1, 2, 4, 16])
def test_published_direct_channels(devices):
    """Long messages within 7 %, the effective bandwidth within 10 %: the real latency is above 520 ns."""
    (published,) = [one for one in curves("channels") if one.devices == devices]
    channels = systems.load("noctua1", "published").networks["channels"]
    rates = devices * circuit_bytes_per_second(np.array(published.sizes), channels)
    long = np.array(published.sizes) >= 2**16
    assert np.max(np.abs(rates / published.rates - 1)[long]) < 0.07
    assert b_eff.effective_bytes_per_second(rates) == pytest.approx(published.effective, rel=0.10)
    assert np.max(np.abs(rates / published.rates - 1)[~long]) > 0.25  # the error of the printed 520 ns
    fitted = systems.load("noctua1").networks["channels"]
    rates = devices * circuit_bytes_per_second(np.array(published.sizes), fitted)
    assert np.max(np.abs(rates / published.rates - 1)) < 0.06
    assert b_eff.effective_bytes_per_second(rates) == pytest.approx(published.effective, rel=0.03)


def predicted_on(system, transport, devices, nodes, changes=None):
    """Predictions of a described system."""
    loaded = systems.load(system)
    one = dataclasses.replace(loaded.board, devices=devices, hosts=nodes).having(changes or {})
    network = loaded.networks[transport]
    parameters = {"transport": transport, "chunk_bytes": 0}
    return b_eff.predict(parameters, one, devices, network=network)


def test_published_curves_over_the_host():
    """Of every run the curve by its median; all sizes of a run of one host curve."""
    errors = []
    for one in curves("host"):
        known = predicted_on(one.system, "host", one.devices, one.nodes)
        rates = [found(known, size=size).value * 1e9 for size in one.sizes]
        away = np.abs(np.array(rates) / one.rates - 1)
        assert np.median(away) < 0.08
        errors += away.tolist()
        value = found(known, "effective_bandwidth", None).value * 1e9
        assert value == pytest.approx(one.effective, rel=0.09)
    assert np.median(errors) < 0.04 and np.quantile(errors, 0.9) < 0.2


WAYS = {
    "latency": {"host.write_latency": 200e-6},
    "page": {"host.page_latency": 0.0},
    "words": {"host.programmed_below": 0.0},
    "staging": {"host.staging_bandwidth": 4e9},
}


@pytest.mark.parametrize("change", WAYS.values(), ids=WAYS)
def test_the_comparison_over_the_host_notices_a_wrong_figure(change):
    (one,) = [one for one in curves("host") if (one.system, one.devices) == ("noctua1", 1)]
    known = predicted_on("noctua1", "host", 1, 1, change)
    rates = np.array([found(known, size=size).value * 1e9 for size in one.sizes])
    assert np.max(np.abs(rates / one.rates - 1)) > 0.25


def test_the_steps_over_the_host_add_up():
    known = predicted_on("noctua1", "host", 4, 2)
    whole = found(known, "latency", size=4096).value
    steps = [found(known, "latency", step, 4096).value for step in ("read", "message", "write")]
    assert whole == pytest.approx(sum(steps))
    assert sum(found(known, size=4096).phases.values()) == pytest.approx(whole * 1e-6)


def test_between_hosts_it_is_the_measured_curve():
    (curve,) = [one for one in curves("cpu") if (one.system, one.devices) == ("noctua1", 16)]
    known = predicted_on("noctua1", "cpu", 16, 8)
    rates = [found(known, size=size).value * 1e9 for size in curve.sizes]
    assert rates == pytest.approx(curve.rates.tolist(), rel=1e-6)


def test_published_effective_bandwidth_is_the_mean_of_its_curve():
    for transport in ("channels", "cpu", "host"):
        for one in curves(transport):
            assert b_eff.effective_bytes_per_second(one.rates) == pytest.approx(one.effective, rel=2e-3)


def test_published_curves_over_the_host_stay_below_the_peak():
    for one in curves("host"):
        peak = one.devices * peak_bytes_per_second(12.5e9, 8e9)
        assert max(one.rates) < peak
        seconds = 2 * one.devices * np.array(one.sizes) / one.rates
        fit = fit_latency_bandwidth(one.sizes, seconds)
        assert fit.latency_seconds > 20e-6 and fit.relative_error < 0.5


def test_published_curves_between_hosts_are_nearly_lines():
    for one in curves("cpu"):
        seconds = 2 * one.devices * np.array(one.sizes) / one.rates
        assert fit_latency_bandwidth(one.sizes, seconds).relative_error < 0.4

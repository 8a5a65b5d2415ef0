"""Short runs of `systems new`: every benchmark has some, and what a file lacks is measured."""

import pytest
from fabricmark import models
from fabricmark.base import kernels
from fabricmark.measure import short_runs
from fabricmark.models.machine import Bitstream

DEVICES = [{"class": "cpu", "compute_units": 2}, {"class": "gpu", "compute_units": 132}]
FITS = ("fit_parameters", "processor_curves")


def forgotten(device):
    """Benchmarks whose kernel that runs by default on a device is not measured on one rank and on two."""
    found = []
    for name in kernels.benchmark_names():
        model, kernel = models.find(name), kernels.kernel(name)
        if not hasattr(model, "short_runs") or not any(hasattr(model, one) for one in FITS):
            found.append(name)
            continue
        runs = short_runs.plan(model, kernel, device, short_runs.variants(kernel, device)[0])
        if {ranks for _, ranks in runs} != set(short_runs.RANKS):
            found.append(name)
    return found


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device["class"])
def test_every_benchmark_has_short_runs(device):
    """Also those that do not exist yet: a processor runs each of them, and predicts none without its runs."""
    assert kernels.benchmark_names() and forgotten(device) == []


def test_one_that_is_forgotten_is_noticed(monkeypatch, tmp_path):
    monkeypatch.delattr(models.find("lbm"), "short_runs")
    assert forgotten(DEVICES[0]) == ["lbm"]
    said = []
    planned = short_runs._planned("system", DEVICES[0], tmp_path, said.append, quick=True)
    assert said == ["left out: lbm: its model has no short runs"]
    assert {part.job.benchmark for part in planned} == set(kernels.benchmark_names()) - {"lbm"}


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device["class"])
def test_what_a_file_lacks(device):
    """The kernel that runs by default counts, whatever else of the benchmark was measured."""
    usual = {name: short_runs.variants(kernels.kernel(name), device)[0] for name in kernels.benchmark_names()}
    known = [Bitstream(name, name, "", variant, "none", {}) for name, variant in usual.items()]
    assert short_runs.unmeasured(device, known) == []
    assert short_runs.unmeasured(device, known[1:]) == [known[0].benchmark]
    others = {"base": "throughput", "throughput": "base"}
    other = Bitstream("x", known[0].benchmark, "", others[known[0].variant], "none", {})
    assert short_runs.unmeasured(device, [other, *known[1:]]) == [known[0].benchmark]
    assert short_runs.unmeasured(device, []) == list(usual)

"""Links of dataflow kernels, with the latency that was fitted, against the bandwidths that were measured."""

import subprocess

import pytest
from conftest import REPOSITORY
from published_b_eff import curves
from simulated_runs import exported

PROGRAM = REPOSITORY / "build" / "release" / "bin" / "link_times"
MOST = 0.1  # by which the clock may differ from a published bandwidth
MEDIAN = 0.02
PUBLISHED = [run for run in curves("channels") if run.system == "noctua1"]

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]


def seconds(file):
    """Modelled seconds of an exchange by bytes of its messages."""
    printed = subprocess.run([PROGRAM, file], capture_output=True, text=True, check=True).stdout
    return {int(size): float(time) for size, time in map(str.split, printed.splitlines())}


def errors(run, times):
    """Of each size, relative to the published value; both directions of all devices count."""
    rates = zip(run.sizes, run.rates, strict=True)
    return sorted(abs(2 * size * run.devices / times[size] / rate - 1) for size, rate in rates)


@pytest.mark.parametrize("run", PUBLISHED, ids=lambda run: f"{run.devices} devices")
def test_published_bandwidths(system, run):
    off = errors(run, seconds(system))
    assert off[-1] < MOST
    assert off[len(off) // 2] < MEDIAN


def test_another_latency_is_found(tmp_path):
    def slower(document):
        values = next(one["values"] for one in document["networks"] if one["kind"] == "direct")
        values["latency_seconds"]["value"] *= 1.2

    times = seconds(exported(tmp_path, change=slower))
    assert PUBLISHED and all(errors(run, times)[-1] > MOST for run in PUBLISHED)

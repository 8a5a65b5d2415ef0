"""Modelled times of HPL over channels: against what was published, and against the closed form."""

import json

import numpy as np
import pytest
from published_hpl import CYGNUS, described, runs
from simulated_runs import best, exported, program

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]

MEDIAN, NEARLY_ALL, MOST = 0.05, 0.15, 0.15  # of the errors against published values; nearly all: nine of ten
CLOSED = 0.05  # between clock and closed form
CHANNELS = ("--transport", "channels", "--timing-only")


@pytest.fixture(scope="module")
def hpl(tmp_path_factory):
    return program(tmp_path_factory.mktemp("hpl"), "hpl")


def performance(hpl, system, size, ranks):
    """GFLOP/s of lu."""
    done = hpl.run(*CHANNELS, "--system", system, "--size", size, "--ranks", ranks)
    assert done.code == 0, done.errors
    return best(done.document)["performance", "lu", None]


def published():
    return [row for row in runs()["520N IEC"] if row.metric == "lu_gflops"] or runs()["520N IEC"]


def errors(hpl, system, rows):
    times = {}
    found = []
    for row in rows:
        key = row.matrix_width, row.devices
        if key not in times:
            times[key] = performance(hpl, system, *key)
        found.append(times[key] / row.value - 1)
    return np.abs(found)


def test_published_runs_over_channels(hpl, system):
    off = errors(hpl, system, published())
    assert len(off) >= 20
    assert np.median(off) <= MEDIAN
    assert np.quantile(off, 0.9) <= NEARLY_ALL


@pytest.mark.parametrize(
    "width, size, teraflops",
    [pytest.param(*one, marks=pytest.mark.full if one[1] > 100000 else ()) for one in CYGNUS],
)
def test_the_64_boards_of_another_system(hpl, tmp_path, width, size, teraflops):
    """Meyer 2024, Table 4.10: no run had a part in any fit."""
    found = performance(hpl, exported(tmp_path, "cygnus"), size, width * width)
    assert found == pytest.approx(1000 * teraflops, rel=0.1)


def test_slower_multiplications_miss_the_published_runs(hpl, system, tmp_path):
    def slower(document):
        for bitstream in document["bitstreams"]:
            for value in bitstream.get("values", {}).values():
                if isinstance(value, dict) and value.get("value") == 244e6:
                    value["value"] *= 0.7

    changed = exported(tmp_path, change=slower)
    assert json.loads(changed.read_text()) != json.loads(system.read_text())
    assert np.median(errors(hpl, changed, [row for row in published() if row.devices == 1][-8:])) > MEDIAN


@pytest.mark.parametrize("size, devices", [(6144, 1), (24576, 1), (24576, 4), (49152, 16), (24576, 16)])
def test_closed_form(hpl, system, size, devices):
    closed = described("520N IEC").predict(size, devices, max(1, devices // 2)).value
    assert performance(hpl, system, size, devices) == pytest.approx(closed, rel=CLOSED)

"""Rates of skeletons: those of the benchmark's own model, for a design on the system's board."""

import re

import pytest
from fabricmark import models
from fabricmark.base import kernels
from fabricmark.models import hpl
from fabricmark.models import shallow_water as water
from fabricmark.predict import application, cables, skeleton

pytestmark = pytest.mark.usefixtures("of_the_repository")
# (skeleton, system, transport, board): designs of FPGAs.
DESIGNS = [
    ("hpl", "noctua1", "channels", None),
    ("hpl", "cygnus", "channels", None),
    ("hpl", "noctua2", "host", "u280_ddr"),
    ("shallow_water", "noctua2", "accl-udp", "u280_hbm"),
]


def work_of(benchmark, place, given, name):
    """Seconds of a phase of one rank alone, in all turns."""
    rates = skeleton.rates(benchmark, place, given)
    file = models.skeletons()[benchmark]
    read = application.read(file, application.load(file), {**rates.values, **given}, place.board, 1)
    (loop,) = read.phases
    (phase,) = (one for one in loop.phases if one.name == name)
    return loop.repeat * phase.work


def design_of(benchmark, place):
    system = place.system
    bitstream = system.bitstream(benchmark, place.transport)
    asked = kernels.wanted(benchmark, "fpga", {}, banks=system.board["memory.banks"])
    (resolved,) = kernels.ask([asked])
    parameters = {**resolved["parameters"], **bitstream.parameters, "variant": bitstream.variant}
    return parameters, system.board_with(bitstream, 1), bitstream


@pytest.mark.parametrize(("benchmark", "system", "transport", "board"), DESIGNS[:3])
def test_updates_take_what_the_multiplications_of_the_model_take(benchmark, system, transport, board):
    place = cables.place(benchmark, system, transport, board, 4, [])
    parameters, described, bitstream = design_of(benchmark, place)
    block = parameters["block_size"]
    steps = hpl.fpga_steps(parameters, described, 1, bitstream)
    blocks = 96
    every = hpl.phases(blocks, (1, 1), steps)
    modelled = float((every.first + every.rest).sum())
    simulated = work_of(benchmark, place, {"n": str(blocks * block)}, "update")
    assert simulated == pytest.approx(blocks**3 / 3 / steps.multipliers * steps.multiply)
    assert simulated == pytest.approx(modelled, rel=0.03)  # which has whole turns of the multipliers


def test_stages_take_what_the_pipelines_of_the_model_take():
    benchmark, system, transport, board = DESIGNS[3]
    place = cables.place(benchmark, system, transport, board, 2, [])
    parameters, described, bitstream = design_of(benchmark, place)
    parameters |= {"mesh": "parts:2048,0,0,0", "partition_elements": 0}
    (seconds,) = (
        one.value * 1e-6
        for one in water.predict(parameters, described, 1, bitstream=bitstream)
        if one.name == "step_time"
    )
    given = {"elements": "2048", "steps": "7"}
    assert work_of(benchmark, place, given, "elements") == pytest.approx(7 * seconds)


def test_values_of_the_system_change_the_rates():
    places = [
        cables.place("hpl", "noctua1", None, None, 4, words)
        for words in ([], ["board.memory.bank_bandwidth=1 GB/s"])
    ]
    usual, slower = (float(skeleton.rates("hpl", one, {}).values["rate"]) for one in places)
    assert slower < usual


def test_what_is_given_counts_and_where_rates_come_from_is_said(run):
    words = ("simulate", "hpl", "--ranks", "4", "--no-simgrid", "--set", "n=4096")
    said = " ".join(run(*words, "--system", "noctua1").stdout.split())
    assert re.search(
        r"from the model of hpl, design 520n_multi/hpl_channels: rate [0-9.e+]+, block 512", said
    )
    slow = " ".join(run(*words, "--system", "noctua1", "--set", "rate=1e9").stdout.split())
    assert "hpl_channels: block 512" in slow and "rate" not in slow
    own = " ".join(run(*words, "--system", "leaf_spine").stdout.split())
    assert "assumed: rates of the skeleton (no design of hpl on Terasic DE5A-NET)" in own
    assert "the model of" not in run("simulate", "b_eff", "--system", "noctua1", "--no-simgrid").stdout


def test_every_rate_is_a_parameter_of_its_skeleton():
    for benchmark, system, transport, board in DESIGNS:
        place = cables.place(benchmark, system, transport, board, 4, [])
        found = skeleton.rates(benchmark, place, {}).values
        text = models.skeletons()[benchmark].read_text()
        assert found and all(re.search(rf"(?m)^{name} =", text) for name in found)

"""Eq. 5.2 and 5.3 of the device design of shallow water, and what Meyer 2024, section 5.2.3, says of it."""

import pytest
from conftest import REPOSITORY
from fabricmark import models, systems
from fabricmark.base.errors import FabricmarkError
from fabricmark.models._mesh_parts import Part, parts_of
from fabricmark.models.shallow_water import device
from fabricmark.results.partitions import rows
from shallow_water_rows import path_of

pytestmark = pytest.mark.usefixtures("of_the_repository")

# The largest mesh of Table A.1, on 48 devices.
LARGEST = Part(6262, 245, 0, 8)
LARGEST_ELEMENTS = 312320


def predicted(transport, mesh, devices, **more):
    system = systems.load("noctua2", board="u280_hbm")
    bitstream = system.bitstream("shallow_water", transport)
    run = {
        **bitstream.parameters,
        "variant": "dataflow",
        "mesh": mesh,
        "order": 0,
        "data_type": "float",
        **more,
    }
    found = models.find("shallow_water").predict(
        run, system.board_with(bitstream, devices), devices,
        network=system.networks[transport], bitstream=bitstream,
    )  # fmt: skip
    return {(one.name, *one.axes.values()): one for one in found}


def weak(transport):
    """Rows of weak scaling with 6000 to 7000 elements a device."""
    found = [row for row in rows() if row.table == "A1" and row.part.elements >= 6000 and row.fits(transport)]
    return sorted(found, key=lambda row: row.devices)


def test_a_step_is_what_the_equations_say():
    over = device.HaloPath(hz=274e6, pipeline=687, call=60, copy=465.8, ping=822)
    one = device.step(Part(1621, 74, 83, 2), over)
    exchange = 74 + 2 * 2 * 60 + 2 * 465.8 + 822
    assert one.cycles == pytest.approx(exchange + 74 + 687)
    assert one.stall == pytest.approx(exchange - 1621 - 83)
    hidden = device.step(Part(6618, 148, 176, 2), over)
    assert hidden.cycles == 6618 + 176 + 148 + 687
    assert (hidden.stall, hidden.dominating) == (0, device.CORE)
    alone = device.step(Part(6784, 0, 312, 0), over)
    assert (alone.cycles, alone.stall) == (6784 + 312 + 687, 0)


def test_the_inputs_are_those_of_the_document():
    udp = path_of("accl-udp")
    assert (udp.hz, udp.call) == (274e6, pytest.approx(60))
    assert udp.copy == pytest.approx(1.7e-6 * 274e6)
    assert udp.ping == pytest.approx(3e-6 * 274e6)
    host = path_of("host")
    assert (host.hz, host.call, host.copy, host.ping) == (256e6, 0, 0, pytest.approx(120e-6 * 256e6))
    assert path_of("accl-tcp").hz == 252e6


def test_the_baseline_stands_still_for_75_to_80_percent():
    for row in weak("host"):
        if row.devices > 1:
            one = device.step(row.part, path_of("host"))
            assert 75 <= 100 * one.stall / one.cycles <= 80, row


def test_the_baseline_is_slower_on_two_devices_than_on_one():
    one, two = weak("host")[:2]
    assert (one.devices, two.devices) == (1, 2)
    cycles = [device.step(row.part, path_of("host")).cycles for row in (one, two)]
    assert two.elements / cycles[1] < one.elements / cycles[0]


def test_udp_avoids_stalls_in_weak_scaling():
    for row in weak("accl-udp"):
        assert device.step(row.part, path_of("accl-udp")).stall == 0, row


def test_strong_scaling_falls_where_neighbours_become_more():
    mesh = sorted(
        (row for row in rows() if row.table == "A2" and row.elements == 54272), key=lambda row: row.devices
    )
    rates = {
        row.part.neighbours: row.elements / device.step(row.part, path_of("accl-udp")).cycles for row in mesh
    }
    assert rates[9] < rates[7]


def test_the_printed_performance_takes_378_operations_an_element():
    found = predicted("accl-udp", "parts:6262,245,0,8", 48, partition_elements=8192)
    scale = LARGEST_ELEMENTS / (48 * LARGEST.elements)  # the largest partition stands for all
    published = found["performance", "steps", "as published"].value * scale
    assert published == pytest.approx(4500, rel=0.01)
    own = found["performance", "steps"].value * scale
    assert own == pytest.approx(published * models.find("shallow_water").FLOPS[0] / 378)
    assert own < 3000


@pytest.mark.parametrize(("transport", "most"), [("accl-udp", 8192), ("accl-tcp", 4096), ("host", 8192)])
def test_a_partition_that_does_not_fit_is_refused(transport, most):
    assert predicted(transport, f"parts:{most},0,0,0", 1)
    with pytest.raises(FabricmarkError, match=f"partition of {most + 1} elements does not fit .* {most}; "):
        predicted(transport, f"parts:{most + 1},0,0,0", 1)


def test_own_partitions_are_those_of_the_mesh_program(place):
    assert sum(part.elements for part in parts_of("bay:1000", 4)) == 1000
    words = ("--mesh", "bay:27136", "--devices", "4,16", "--transport", "accl-udp")
    done = place.run(
        "predict", "shallow_water", "--system", "noctua2", *words, FABRICMARK_ROOT=str(REPOSITORY)
    )
    assert done.returncode == 0, done.stderr
    assert device.COPIES in done.stdout

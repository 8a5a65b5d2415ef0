"""The emulated network of packets against the closed forms, over systems as they are exported."""

import json
import subprocess

import pytest
from conftest import DESCRIBE
from fabricmark import systems
from fabricmark.models import _network
from fabricmark.systems import export

pytestmark = pytest.mark.usefixtures("of_the_repository")
PROGRAM = DESCRIBE.with_name("packet_times")
SIZES = (0, 1, 1056, 1057, 65536, 4 * 2**20)
TOLERANCE = 0.01


def times(tmp_path, system, profile, topology, changed=None):
    """Of messages from device 0 to each other one, with what lies in between."""
    if not PROGRAM.exists():
        pytest.skip("packet_times is not built")
    document = export.document(system, profile)
    for name, factor in (changed or {}).items():
        document["networks"][0]["values"][name]["value"] *= factor
    file = tmp_path / "system.json"
    file.write_text(export.written(document))
    words = [PROGRAM, file, "channels", topology, *map(str, SIZES)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def closed_form(network, one):
    """Mondigo 2020, eq. 4.2 to 4.6; what passes a device starts again there."""
    passed, node = one["cables"] - 1 - one["switches"], network.get("node_latency")
    if node is not None:
        moving = node * (1 + passed) + network["cable_latency"] * one["cables"]
    else:
        moving = network["latency"] * (1 + passed)
    rate = _network.link_bytes_per_second(network)
    return (
        network["start_latency"] + moving + network["switch_latency"] * one["switches"] + one["bytes"] / rate
    )


CASES = [
    ("leaf_spine", "leaf-spine:2x2x3"),
    ("leaf_spine", "switch:4"),
    ("leaf_spine", "pair"),
    ("fat_tree", "fat-tree:4"),
    ("dragonfly", "dragonfly:3x2x2"),
    ("arria10_ring", "ring:8"),
    ("cygnus", "torus:4x4"),
    ("noctua1", "torus:4x4"),
]


@pytest.mark.parametrize("profile", systems.PROFILES)
@pytest.mark.parametrize("system, topology", CASES)
def test_packets_take_the_time_of_the_closed_form(tmp_path, system, topology, profile):
    network = systems.load(system, profile).networks["channels"]
    found = times(tmp_path, system, profile, topology)
    assert len(found) >= len(SIZES)
    for one in found:
        assert one["seconds"] == pytest.approx(closed_form(network, one), rel=TOLERANCE), one


def test_one_hop_is_that_of_the_models(tmp_path):
    """The closed form of b_eff over a direct link, and over the switch of a leaf."""
    for system, topology in (("arria10_ring", "pair"), ("leaf_spine", "switch:2")):
        network = systems.load(system).networks["channels"]
        for one in times(tmp_path, system, "fitted", topology):
            expected = float(_network.link_seconds(one["bytes"], network, 1))
            assert one["seconds"] == pytest.approx(expected, rel=TOLERANCE), one


@pytest.mark.parametrize("name", ["node_seconds", "cable_seconds", "switch_seconds", "link_bytes_per_second"])
def test_a_wrong_value_would_be_seen(tmp_path, name):
    network = systems.load("leaf_spine").networks["channels"]
    found = times(tmp_path, "leaf_spine", "fitted", "leaf-spine:2x2x3", {name: 1.2})
    expected = [pytest.approx(closed_form(network, one), rel=TOLERANCE) for one in found]
    assert [one["seconds"] for one in found] != expected


def test_the_topology_of_the_file(tmp_path):
    """2048 devices: 31 on the same leaf, all others three switches away."""
    found = times(tmp_path, "leaf_spine", "fitted", "")
    of_one_size = [one["switches"] for one in found if one["bytes"] == 0]
    assert (of_one_size.count(1), of_one_size.count(3)) == (31, 2016)

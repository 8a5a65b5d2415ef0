"""`fabricmark systems export`: every system as the models read it, and a schema that finds faults."""

import copy
import json

import pytest
from conftest import REPOSITORY
from fabricmark import systems
from fabricmark.base import keys
from fabricmark.base.schema import first_fault
from fabricmark.systems import PROFILES, export, files, local_machine

NAMES = sorted(path.stem for path in (REPOSITORY / "systems").glob("*.toml"))
BOARDS = sorted(path.stem for path in (REPOSITORY / "systems" / "boards").glob("*.toml"))

pytestmark = pytest.mark.usefixtures("of_the_repository")


def plain(values):
    return {name: one["value"] for name, one in values.items()}


def numbers(made):
    """All numbers of an object of the models by the names that exported systems have for them."""
    place = made.values.place
    found = {"memory_bytes": made.memory_bytes} if place == "board" and made.memory_bytes is not None else {}
    for name, key in keys.VALUES[place].items():
        number = made.values.known.get(name) if place == "bitstream" else made.get(name)
        found |= {key.symbol: number} if key.symbol and number is not None else {}
    return found


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", [*NAMES, *BOARDS])
def test_every_system_is_exported_with_the_numbers_of_the_models(name, profile):
    document = json.loads(export.text(name, profile))
    assert first_fault(export.SCHEMA, document) is None
    loaded = [systems.load(name, profile, board) for board in systems.load(name, profile).boards]
    assert [one["id"] for one in document["devices"]] == [one.board_id for one in loaded]
    networks = {one["id"]: one for one in document["networks"]}
    streams = iter(document["bitstreams"])
    for system, device, place in zip(loaded, document["devices"], document["topology"], strict=True):
        assert plain(device["values"]) == numbers(system.board)
        updates = [(one["table_bytes"], one["updates_per_second"]) for one in device["random_updates"]]
        assert updates == list(system.board.updates_per_second)
        assert (place["device"], place["devices_per_node"], place["most_devices"]) == (
            system.board_id, system.devices_per_node, system.most_devices,
        )  # fmt: skip
        assert place["networks"].keys() == system.networks.keys()
        for transport, network in system.networks.items():
            found = networks[place["networks"][transport]]
            assert plain(found["values"]) == numbers(network)
            assert found.get("topology", "") == network.topology
            assert [tuple(one["seconds"]) for one in found["curves"]] == [
                one.seconds for one in network.curves
            ]
        for one in system.bitstreams:
            found = next(streams)
            assert found["id"].split("/")[1] == one.name and found["device"] == system.board_id
            assert plain(found["values"]) == numbers(one) and found["parameters"] == one.parameters
    assert next(streams, None) is None
    ids = [one["id"] for one in document["bitstreams"]]
    assert len(set(ids)) == len(ids)


def test_values_keep_their_kind():
    for profile, kind, seconds in (("fitted", "fitted", 6.772e-7), ("published", "published", 520e-9)):
        document = export.document("noctua1", profile)
        network = next(one for one in document["networks"] if one["id"] == "520n_serial_40g")
        assert network["values"]["latency_seconds"] == {"value": seconds, "kind": kind}
        assert network["values"]["start_seconds"] == {"value": 0.0, "kind": "default"}
        bandwidth = document["devices"][0]["values"]["bank_bytes_per_second"]
        assert bandwidth == {"value": 19.2e9, "kind": "published"}
    changed = export.document("noctua2")["devices"][1]["values"]  # by [devices.host] of the system
    assert changed["host_to_device_bytes_per_second"] == {"value": 9.7e9, "kind": "published"}
    assert changed["device_to_host_bytes_per_second"]["kind"] == "fitted"


def test_what_the_fabric_takes_of_a_network():
    document = export.document("leaf_spine")
    network = document["networks"][0]
    assert network["topology"] == "leaf-spine:64x32x32"
    values = plain(network["values"])
    assert (values["frame_bytes"], values["frame_overhead_bytes"]) == (1056, 38)
    assert (values["node_seconds"], values["cable_seconds"]) == (0.336e-6, 0.496e-6)
    assert plain(document["devices"][0]["values"])["serial_ports"] == 4
    leaves, spines, below = (int(one) for one in network["topology"].split(":")[1].split("x"))
    assert leaves * below == document["topology"][0]["most_devices"]
    assert max(spines + below, leaves) <= values["switch_ports"]


def test_values_of_this_machine_are_measured(tmp_path):
    board = local_machine.key("cpu", "device", "driver") + "1"
    texts = {
        "mine.toml": f'name = "m"\nsummary = "s"\n[[devices]]\nboard = "{board}"\nsource = "run"\n'
        f'per_node = 1\nmost = 1\nbitstreams = ["{board}"]\n',
        f"boards/{board}.toml": 'name = "c"\nclass = "cpu"\nsource = "run"\n'
        '[memory]\nbanks = 1\nbank_bandwidth = "2 GB/s"\nbank_capacity = "4 GiB"\n'
        '[arithmetic]\nfloat = "3 GFLOP/s"\n[[random_updates]]\ntable = "1 KiB"\nrate = "5 UOP/s"\n',
        f"bitstreams/{board}.toml": f'board = "{board}"\n[bitstreams.stream-2r]\nbenchmark = "stream"\n'
        'source = "run"\nparameters = { size = 8, ranks = 2 }\nmeasured.start_seconds = "1 us"\n',
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    document = export.document(tmp_path / "mine.toml")
    assert first_fault(export.SCHEMA, document) is None
    values = document["devices"][0]["values"]
    assert values["bank_bytes_per_second"] == {"value": 2e9, "kind": "measured"}
    assert values["memory_bytes"] == {"value": 2.0**32, "kind": "measured"}
    assert values["float_flops_per_second"] == {"value": 3e9, "kind": "measured"}
    assert document["devices"][0]["random_updates"] == [{"table_bytes": 1024.0, "updates_per_second": 5.0}]
    stream = document["bitstreams"][0]
    assert (stream["id"], stream["ranks"], stream["parameters"]) == (f"{board}/stream-2r", 2, {"size": 8})
    assert stream["values"] == {"start_seconds": {"value": 1e-6, "kind": "measured"}}


def changed(document, *path, to):
    """A copy with one value changed; what is not there is added."""
    made = place = copy.deepcopy(document)
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return made


RATE = ("devices", 0, "values", "bank_bytes_per_second")
FAULTS = {
    "a text with its unit": (*RATE, "value", "19.2 GB/s"),
    "a rate in terabytes a second": (*RATE, "value", 0.0192),
    "a clock in millihertz": ("bitstreams", 0, "values", "kernel_hz", "value", 3e14),
    "a latency in nanoseconds": ("networks", 0, "values", "latency_seconds", "value", 520_000_000),
    "a name with another unit": ("devices", 0, "values", "bank_gb_per_s", {"value": 19.2, "kind": "fitted"}),
    "no topology": ("networks", 0, "topology", "4x4"),
    "no kind": (*RATE, {"value": 19.2e9}),
    "another kind": (*RATE, "kind", "guessed"),
    "another version": ("schema", "fabricmark-exported-system/2"),
    "an unknown key": ("bords", []),
    "an unknown key of a device": ("devices", 0, "clock", 3),
    "a parameter that is a list": ("bitstreams", 0, "parameters", "replications", [4]),
    "half a bank": ("devices", 0, "values", "banks", "value", 2.5),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_schema_finds_a_fault(name):
    *path, value = FAULTS[name]
    document = export.document("noctua1")
    assert first_fault(export.SCHEMA, changed(document, *path, to=value)) is not None


def test_the_command(place, tmp_path, one_error_line, monkeypatch):
    monkeypatch.setenv("FABRICMARK_ROOT", str(REPOSITORY))  # which `place` changed
    own = {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": str(tmp_path / "own")}
    path = tmp_path / "new" / "noctua1.json"
    written = place.run("systems", "export", "noctua1", "--output", path, **own)
    assert (written.returncode, written.stdout) == (0, f"wrote {path}\n")
    assert path.read_text() == export.text("noctua1")
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    printed = place.run("systems", "export", "noctua1", "--profile", "published", **own)
    assert printed.stdout == export.text("noctua1", "published")
    refused = place.run("systems", "export", "nothing", "--output", path, **own)
    assert "there is no system nothing; use one of arria10_ring" in one_error_line(refused, 2)
    assert path.read_text() == export.text("noctua1")


def test_the_names_are_all():
    assert set(NAMES) == set(systems.names()) and set(BOARDS) == set(files.listed("board"))

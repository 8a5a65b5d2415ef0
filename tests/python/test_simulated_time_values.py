"""The modelled clock: each value of a system moves it as the closed forms say."""

import copy
import json
from dataclasses import replace

import pytest
from fabricmark import systems
from fabricmark.base import keys
from simulated_runs import (
    CLOSED,
    LEAST,
    best,
    closed_form,
    compared,
    exported,
    predicted,
    retabled,
    run_case,
    timing,
)
from thinned import only

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]


def changed(name, number):
    """Twice as long, half as fast; of a size or a count twice."""
    return number / 2 if name.endswith(("_per_second", "_hz", "_efficiency")) else number * 2


def values_of(document, part, bitstream):
    """The values of one part of an exported system that a run of a bitstream may read."""
    if part == "board":
        return document["devices"][0]["values"]
    return next(one for one in document["bitstreams"] if one["id"] == bitstream)["values"]


# Which values of the system each of these runs takes time for.
MOVED = {
    "stream, longer blocks": {
        "bank_bytes_per_second", "bank_efficiency", "drain_cycles", "start_seconds", "launch_seconds",
        "kernel_hz",
    },
    "gemm": {"kernel_hz", "memory_hz", "launch_seconds"},
    "fft": {"bank_bytes_per_second", "kernel_hz", "pipeline_efficiency", "launch_seconds"},
    "random access": {"kernel_hz", "launch_seconds"},
    "random access, 4 boards": {"update_seconds", "launch_seconds"},
    "random access, a buffer": {"kernel_hz", "burst_seconds", "launch_seconds"},
    "hpl": {
        "kernel_hz", "bank_bytes_per_second", "matrix_banks", "burst_seconds", "multiply_seconds",
        "panel_efficiency",
    },
    "ptrans's kernels": {"kernel_hz", "bank_bytes_per_second"},
}  # fmt: skip


@pytest.mark.parametrize("case", only(MOVED, "gemm", "random access, a buffer"))
def test_each_value_of_a_system_moves_the_clock_as_the_formula_says(tmp_path, system, case):
    bitstream = CLOSED[case][1]
    before = run_case(tmp_path, system, case)
    closed_before = closed_form(before, case)
    moved = set()
    exported_document = json.loads(system.read_text())
    named_of_board = {keys.BITSTREAM[name].symbol for name in keys.SYNTHESISED}
    for part in ("board", "bitstream"):
        for key, entry in values_of(exported_document, part, bitstream).items():
            if key in ("banks", "memory_bytes"):  # the first also decides about parameters
                continue
            value = changed(key, entry["value"])
            edited = copy.deepcopy(exported_document)
            values_of(edited, part, bitstream)[key]["value"] = value
            file = tmp_path / "changed.json"
            file.write_text(json.dumps(edited))
            after = run_case(tmp_path, file, case)
            is_of_board = part == "board" or key in named_of_board
            if part == "board" and key in values_of(exported_document, "bitstream", bitstream):
                closed = closed_before  # the bitstream's counts
            else:
                closed = closed_form(before, case, **{"board" if is_of_board else "fitted": {key: value}})
            old = compared(before)
            for metric, new in compared(after).items():
                should = closed[metric] / closed_before[metric]
                assert new / old[metric] == pytest.approx(should, rel=LEAST), (key, metric)
                if abs(new / old[metric] - 1) > 1e-9:
                    moved.add(key)
    assert moved >= MOVED[case], MOVED[case] - moved


# Of messages: on Noctua 1 the hosts' curves count, on Noctua 2 the link.
MESSAGES = {
    ("noctua1", 4): {
        "device_to_host_bytes_per_second", "device_to_host_seconds", "host_to_device_bytes_per_second",
        "host_to_device_seconds", "neighbour_factor", "page_bytes", "page_seconds", "programmed_bytes",
        "programmed_at_once_bytes",
        "programmed_bytes_per_second", "programmed_seconds", "staging_bytes_per_second", "curve",
        "launch_seconds",
    },
    ("noctua2", 4): {"link_bytes_per_second", "latency_seconds", "switch_seconds", "start_seconds"},
    ("noctua2", 1): {"self_bytes_per_second"},
}  # fmt: skip


@pytest.mark.parametrize(("name", "ranks"), only(MESSAGES, ("noctua1", 4)))
def test_each_value_of_a_network_moves_messages_as_the_formula_says(tmp_path, name, ranks):
    asked = ("--ranks", ranks, "--chunk-bytes", 0)
    file = exported(tmp_path, name)
    before = best(timing(tmp_path, "b_eff", file, None, *asked))
    document = json.loads(file.read_text())
    by_id = {one["id"]: one for one in document["networks"]}
    network = document["topology"][0]["networks"]["host"]
    loaded = systems.load(name)

    def closed(**changes):
        return predicted(
            "b_eff", {"chunk_bytes": 0, "largest": 20}, ranks, system=name, transport="host", **changes
        )

    def edit(part, key):
        edited = copy.deepcopy(document)
        if part == "curve":
            doubled = tuple(
                replace(one, seconds=tuple(2 * each for each in one.seconds))
                for one in loaded.networks["host"].curves
            )
            changes = {"network": {"curves": doubled}}
            return retabled(edited, name, **changes), changes
        values = edited["devices"][0]["values"]
        if part == "network":
            values = next(one for one in edited["networks"] if one["id"] == network)["values"]
        number = values[key]["value"]
        values[key]["value"] = changed(key, number) if number else 1e-6
        changes = {part: {key: values[key]["value"]}}
        return retabled(edited, name, **changes), changes

    keys = [
        ("board", key) for key in document["devices"][0]["values"] if key not in ("banks", "memory_bytes")
    ]
    keys += [("network", key) for key in by_id[network]["values"] if key not in ("links", "ordering")]
    keys += [("curve", "curve")] if by_id[network]["curves"] else []
    closed_before, moved = closed(), set()
    for part, key in keys:
        edited, changes = edit(part, key)
        file.write_text(json.dumps(edited))
        after = best(timing(tmp_path, "b_eff", file, None, *asked))
        closed_after = closed(**changes)
        for metric, value in after.items():
            ratio = value / before[metric]
            if abs(ratio - 1) > 1e-9:
                moved.add(key)
            if "kernel" not in str(metric[1]):
                should = closed_after[metric] / closed_before[metric]
                assert ratio == pytest.approx(should, rel=LEAST), (key, metric)
    assert moved >= MESSAGES[name, ranks], MESSAGES[name, ranks] - moved


# Of the run below: each array goes in as many parts as there are replications.
ARRAYS, REPLICATIONS = 3, 4


@pytest.mark.parametrize("way", ["host_to_device", "device_to_host"])
@pytest.mark.parametrize("changes", [{}, {"seconds": 2}, {"bytes_per_second": 0.5}])
def test_arrays_are_copied_at_the_rate_of_their_way_after_a_latency_each(tmp_path, way, changes):
    def change(document):
        for name, factor in changes.items():
            document["devices"][0]["values"][f"{way}_{name}"]["value"] *= factor
        values = document["devices"][0]["values"]
        retabled(document, board={f"{way}_{name}": values[f"{way}_{name}"]["value"] for name in changes})

    file = exported(tmp_path, change=change)
    values = json.loads(file.read_text())["devices"][0]["values"]
    size = 2**24
    document = timing(tmp_path, "stream", file, "520n_single/stream", "--size", size)
    latency, rate = (values[f"{way}_{name}"]["value"] for name in ("seconds", "bytes_per_second"))
    moved = ARRAYS * size * 4
    seconds = ARRAYS * REPLICATIONS * latency + moved / rate
    assert best(document)["bandwidth", way, None] == pytest.approx(moved / seconds / 1e9, rel=1e-9)

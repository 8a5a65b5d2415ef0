"""Models on described systems: values of the files move predictions as the equations say."""

import ast

import described
import numpy as np
import pytest
from conftest import REPOSITORY
from described import RUNS, rewrite, run
from fabricmark import systems
from fabricmark.models import _sweep

BOARD, NETWORK, STREAMS = "boards/520n.toml", "networks/520n_serial_40g.toml", "bitstreams/520n_multi.toml"
HOSTS = "networks/noctua1_mpi.toml"
# Benchmark, transport, file, key, what it becomes; the phase that follows, and its time from those before (p)
# and from the fields of board, network and bitstream before (b).
CHANGES = {
    "stream, launch": ("stream", "none", BOARD, "launch_latency", '"120 us"', "launch",
                       lambda p, b: p["launch"] + 4 * 60e-6),
    # A phase of 32768 vectors: bound by its bank until the kernel, which is faster, drains for long.
    "stream, drain": (
        "stream", "none", BOARD, "drain", "10000", "memory and kernel",
        lambda p, b: p["memory and kernel"] * (42768 / 341.67e6) / (2**21 / 19.2e9),
    ),
    "stream, efficiency": (
        "stream", "none", BOARD, "bank_efficiency", "0.5", "memory and kernel",
        lambda p, b: p["memory and kernel"] * b["memory.bank_efficiency"] / 0.5,
    ),
    "stream, memory": (
        "stream", "none", BOARD, "bank_bandwidth", '"9.6 GB/s"', "memory and kernel",
        lambda p, b: 2 * p["memory and kernel"],
    ),
    "stream, start": ("stream", "none", STREAMS, "fitted.start_latency", '"3 ms"', "launch",
                      lambda p, b: p["launch"] + 1e-3),
    "gemm, memory clock": ("gemm", "none", BOARD, "clock", '"150 MHz"', "load", lambda p, b: 2 * p["load"]),
    "gemm, clock": ("gemm", "none", STREAMS, "clock", '"136.25 MHz"', "multiply",
                    lambda p, b: 2 * p["multiply"]),
    "fft, memory": (
        "fft", "none", BOARD, "bank_bandwidth", '"9.6 GB/s"', "transforms", lambda p, b: 2 * p["transforms"]
    ),
    "random_access, updates": (
        "random_access", "none", STREAMS, "memory.update_latency", '"43.36 ns"', "generation and updates",
        lambda p, b: p["generation and updates"] * 43.36e-9 / b["memory.update_latency"],
    ),
    "b_eff, latency": ("b_eff", "channels", NETWORK, "latency", '"2 us"', "message",
                       lambda p, b: p["message"] + 21 * (2e-6 - b["latency"])),
    "b_eff, clock": ("b_eff", "channels", NETWORK, "clock", '"78.125 MHz"', "message",
                     lambda p, b: 2 * p["message"] - 21 * b["latency"]),
    "b_eff, width": ("b_eff", "channels", NETWORK, "width", '"16 B"', "message",
                     lambda p, b: p["message"] + (2**15 + 5) * 6.4e-9),  # words of 32 B stay whole
    "b_eff, write": ("b_eff", "host", BOARD, "write_bandwidth", '"3.16 GB/s"', "write",
                     lambda p, b: p["write"] + 2 * (2**21 - 2**10) / 6.32e9),
    "b_eff, read latency": ("b_eff", "host", BOARD, "read_latency", '"1 ms"', "read",
                            lambda p, b: p["read"] + 2 * 11 * (1e-3 - b["host.read_latency"])),
    "b_eff, page": ("b_eff", "host", BOARD, "page_latency", '"1 ms"', "read",
                    lambda p, b: p["read"] + 2 * 9 * (1e-3 - b["host.page_latency"])),
    "b_eff, words": ("b_eff", "host", BOARD, "programmed_latency", '"1 ms"', "write",
                     lambda p, b: p["write"] + 2 * 10 * (1e-3 - b["host.programmed_latency"])),
    "b_eff, words at once": ("b_eff", "host", BOARD, "programmed_at_once", '"64 B"', "write",
                             lambda p, b: p["write"] + words(b, 64.0) - words(b)),
    "ptrans, channels": ("ptrans", "channels", NETWORK, "clock", '"78.125 MHz"', "exchange",
                         lambda p, b: 2 * p["exchange"] - b["latency"]),
    "ptrans, memory": (
        "ptrans", "channels", BOARD, "bank_bandwidth", '"9.6 GB/s"', "kernels", lambda p, b: 2 * p["kernels"]
    ),
    "ptrans, read": ("ptrans", "host", BOARD, "read_bandwidth", '"3.205 GB/s"', "exchange",
                     lambda p, b: p["exchange"] + 2**30 / 6.41e9),
    "ptrans, order": ("ptrans", "host", HOSTS, "ordering_bandwidth", '"0.5 GB/s"', "exchange",
                      lambda p, b: p["exchange"] + 2**30 * (1 / 0.5e9 - 1 / b["ordering_bandwidth"])),
    "hpl, launch": ("hpl", "channels", BOARD, "launch_latency", '"120 us"', "launch",
                    lambda p, b: 2 * p["launch"]),
    "hpl, clock": ("hpl", "channels", STREAMS, "clock", '"122 MHz"', "panels", lambda p, b: 2 * p["panels"]),
    "hpl, memory": ("hpl", "channels", BOARD, "bank_bandwidth", '"9.6 GB/s"', "update",
                    lambda p, b: p["update"] + 4 * 2**20 * 5 / 76.8e9 / b["fitted.multiply_efficiency"]),
    "hpl, read": ("hpl", "host", BOARD, "read_bandwidth", '"3.205 GB/s"', "exchange",
                  lambda p, b: p["exchange"] + 2 * 2**20 / 6.41e9),
}  # fmt: skip


def words(fields, at_once=None):
    """What 1 to 512 bytes take word by word to both neighbours, as it was [s]; with another `at_once`."""
    first = fields["host.programmed_at_once"] if at_once is None else at_once
    beyond = np.maximum(2.0 ** np.arange(10) - first, 0) / fields["host.programmed_bandwidth"]
    return 2 * (fields["host.programmed_latency"] + beyond).sum()


def phases(file, benchmark, transport):
    """Phases of one device, without overlap that would hide some: two blocks for HPL."""
    more = {"size": 1024} if benchmark == "hpl" else {}
    return run(benchmark, transport, file).headline(1, **more).phases


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_figure_in_a_copied_file_moves_its_phase_as_the_equation_says(copied, change):
    benchmark, transport, name, key, text, phase, expected = change
    system = copied / "noctua1.toml"
    before = phases(system, benchmark, transport)
    by = run(benchmark, transport, system).described
    fields = {}
    for one in (by.bitstream, by.network, by.board):  # the board has what stands in place of its own
        fields |= one.values.known if one else {}
    below = ""
    if name == STREAMS:
        below = f"[bitstreams.{by.bitstream.name}]"
    elif (name, key) == (BOARD, "clock") or key in ("bank_bandwidth", "bank_efficiency", "drain"):
        below = "[memory]"
    rewrite(copied / name, key, text, below)
    after = phases(system, benchmark, transport)
    assert after[phase] == pytest.approx(expected(before, fields), rel=1e-6)
    assert after[phase] > before[phase]
    if benchmark in ("hpl", "gemm") or key in ("page_latency", "programmed_latency", "programmed_at_once"):
        return  # several phases have this value
    untouched = [other for other in before if other != phase]
    assert all(after[other] == pytest.approx(before[other]) for other in untouched)


@pytest.mark.parametrize("benchmark, transport", RUNS)
def test_grids_have_what_predict_says(benchmark, transport):
    """The vectorised value at random points of an own grid is that of the scalar model."""
    one, random = run(benchmark, transport), np.random.default_rng(5)
    axes = {"devices": np.array([1, 4, 9, 16]), "board.memory.bank_bandwidth": np.geomspace(1e9, 1e11, 5)}
    axes["board.host.launch_latency"] = np.array([0.0, 1e-5, 1e-3])
    if "size" in one.parameters:
        axes["size"] = np.array([1000, 1024, 5000, 20000])
    if one.described.network is not None:
        axes["network.latency"] = np.array([1e-7, 1e-4])
        axes["board.host.write_bandwidth"] = np.geomspace(1e8, 1e10, 3)
    found = _sweep.sweep(benchmark, one.described, one.parameters, axes)
    assert found.shape == tuple(len(values) for values in axes.values())
    for _ in range(40):
        place = tuple(random.integers(length) for length in found.shape)
        at = {name: values[where].item() for (name, values), where in zip(axes.items(), place, strict=True)}
        board = {name[6:]: value for name, value in at.items() if name.startswith("board.")}
        network = {name[8:]: value for name, value in at.items() if name.startswith("network.")}
        size = {"size": at["size"]} if "size" in at else {}
        expected = one.headline(at["devices"], board=board, network=network, **size).value
        assert found[place] == pytest.approx(expected, rel=1e-12)


def test_large_grids_are_cut_without_a_seam(monkeypatch):
    one = run("hpl", "host")
    axes = {"size": np.arange(1, 40) * 512, "bitstream.clock": np.geomspace(1e8, 4e8, 7)}
    whole = _sweep.sweep("hpl", one.described, one.parameters, axes)
    monkeypatch.setattr(_sweep, "MOST_ELEMENTS", 30)
    assert np.array_equal(_sweep.sweep("hpl", one.described, one.parameters, axes), whole)


def test_what_no_grid_has_is_refused():
    one = run("stream", "none")
    for axis in ("board.nothing", "network.latency", "cable.length"):
        with pytest.raises(KeyError):
            _sweep.sweep("stream", one.described, one.parameters, {axis: np.ones(2)})
    processor = _sweep.Described(systems.load("cpu").board)
    with pytest.raises(ValueError, match="device_class"):
        _sweep.sweep("stream", processor, one.parameters, {"size": np.ones(2)})


# Values that a faster system has more of, and those that it has less of; of board and network.
FASTER = {
    "board.memory.bank_bandwidth": (1e9, 1e12), "bitstream.clock": (5e7, 1e9),
    "board.memory.clock": (5e7, 1e9), "board.host.write_bandwidth": (1e8, 1e11),
    "board.host.read_bandwidth": (1e8, 1e11),
    "board.memory.bank_efficiency": (0.2, 0.25),
    "board.host.staging_bandwidth": (1e9, 1e12), "board.host.array_staging_bandwidth": (1e9, 1e12),
    "board.host.programmed_bandwidth": (1e6, 1e9), "board.host.programmed_at_once": (1.0, 1e3),
    "network.links.clock": (1e7, 1e9),
    "network.ordering_bandwidth": (1e8, 1e11), "bitstream.fitted.multiply_efficiency": (0.2, 0.5),
    "bitstream.fitted.panel_efficiency": (0.2, 0.5), "bitstream.fitted.pipeline_efficiency": (0.2, 0.5),
    "bitstream.fitted.channel_efficiency": (0.2, 0.5),
}  # fmt: skip
SLOWER = {
    "board.memory.burst_latency": (1e-9, 1e-5), "board.host.launch_latency": (1e-7, 1e-2),
    "board.memory.update_latency": (1e-9, 1e-6), "board.memory.drain": (1.0, 1e5),
    "board.host.write_latency": (1e-7, 1e-3), "board.host.read_latency": (1e-7, 1e-3),
    "board.host.page_latency": (1e-7, 1e-3), "board.host.programmed_latency": (1e-7, 1e-3),
    "board.host.neighbour_factor": (1.0, 3.0), "network.latency": (1e-8, 1e-2),
    "network.start_latency": (1e-8, 1e-3), "bitstream.fitted.start_latency": (1e-6, 1e-1),
}  # fmt: skip


@pytest.mark.parametrize("benchmark, transport", RUNS)
def test_more_bandwidth_is_never_slower_and_more_latency_never_faster(benchmark, transport):
    """10 000 random systems for each value, and what of them the benchmark depends on at all."""
    count, random = 10_000, np.random.default_rng(11)
    one = run(benchmark, transport)
    by = one.described

    def applies(name):
        place = name.partition(".")[0]
        return {"network": by.network, "bitstream": by.bitstream, "board": by.board}[place] is not None

    ranges = {name: ends for name, ends in {**FASTER, **SLOWER}.items() if applies(name)}
    points = {name: np.exp(random.uniform(*np.log(ends), count)) for name, ends in ranges.items()}
    points["devices"] = random.integers(1, 6, count) ** 2
    if benchmark in ("hpl", "ptrans"):
        points["size"] = random.integers(1, 20000, count)
    usual = _sweep.at(benchmark, by, one.parameters, points)
    assert np.all(np.isfinite(usual)) and np.all(usual > 0)
    moved = set()
    for name in ranges:
        changed = _sweep.at(
            benchmark, by, one.parameters, {**points, name: points[name] * random.uniform(1, 4, count)}
        )
        slack = usual * 1e-12
        assert np.all(changed >= usual - slack if name in FASTER else changed <= usual + slack), name
        if np.any(changed != usual):
            moved.add(name)
    assert moved == DEPENDS[benchmark, transport]


KERNEL = {"bitstream.clock", "board.host.launch_latency"}
COPIES = {"board.host.write_bandwidth", "board.host.read_bandwidth"}
COPIES |= {"board.host.write_latency", "board.host.read_latency"}
MESSAGES = COPIES | {"board.host.staging_bandwidth", "board.host.page_latency", "board.host.neighbour_factor"}
HPL = KERNEL | {"board.memory.bank_bandwidth", "board.memory.burst_latency"}
HPL |= {"bitstream.fitted.multiply_efficiency", "bitstream.fitted.panel_efficiency"}
PTRANS = KERNEL | {"board.memory.bank_bandwidth", "bitstream.fitted.start_latency"}
LINKS = {"network.links.clock", "network.latency", "network.start_latency"}
DEPENDS = {
    ("stream", "none"): KERNEL
    | {"board.memory.bank_bandwidth", "board.memory.bank_efficiency", "board.memory.drain"}
    | {"bitstream.fitted.start_latency"},
    ("random_access", "none"): KERNEL | {"board.memory.update_latency"},
    ("fft", "none"): KERNEL | {"board.memory.bank_bandwidth", "bitstream.fitted.pipeline_efficiency"},
    ("gemm", "none"): KERNEL | {"board.memory.clock"},
    ("hpl", "channels"): HPL | LINKS,
    ("hpl", "host"): HPL | MESSAGES,
    ("ptrans", "channels"): PTRANS | LINKS | {"bitstream.fitted.channel_efficiency"},
    ("ptrans", "host"): PTRANS | COPIES | {"network.ordering_bandwidth"},
    ("b_eff", "channels"): LINKS | {"bitstream.clock"},
    ("b_eff", "host"): MESSAGES
    | {"board.host.programmed_bandwidth", "board.host.programmed_latency", "board.host.programmed_at_once"},
}


# Numbers that models may hold: those of formulas, of units, of sizes in bytes, and of the robust fit.
NUMBERS = {
    0,
    0.5,
    1,
    2,
    3,
    4,
    5,
    8,
    16,
    20,
    21,
    50,
    1e6,
    1e9,
    100e6,
    1e-6,
    1e-9,
    1e-12,
    1e-300,
    1.345,
    1.4826,
}
NUMBERS |= {_sweep.MOST_ELEMENTS}
NUMBERS |= {
    1e3,
    1e-3,
    1.25,
    0.1,
    27,
    22,
    19,
    60,
    512,
    1024,
    4096,
    8192,
}  # sizes of short runs, and what a fit to them holds on to
NUMBERS |= {
    222,
    1808,
    6867,
    2.5,
    10,
    7,
    100,
    200,
}  # a kernel of ours: operations, cycles, sizes; percent
NUMBERS |= {9, 92, 6, 156, 206, 14, 216}  # numbers of a cell, and operations of its step, by our kernels
NUMBERS |= {46}  # bytes of the shortest payload of an Ethernet frame
NUMBERS |= {64, 32768, 65536}  # bytes of our collective operations: words and headers, pieces, small ones


def test_no_modelled_figure_is_a_literal():
    """What a system has stands in its files: no number of a model looks like a rate, a clock or a latency.

    What published runs were like is no part of a model, nor what cases with a known solution have to reach.
    """
    files = set((REPOSITORY / "python" / "fabricmark" / "models").rglob("*.py"))
    for file in files - {one for one in files if one.name in ("published.py", "verification.py")}:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and type(node.value) in (int, float):
                assert node.value in NUMBERS, f"{file.name} line {node.lineno}: {node.value}"


def test_a_curve_of_one_device_says_nothing_of_others():
    hosts = systems.load("noctua1").networks["host"]
    assert (hosts.curve(1, 1).devices, hosts.curve(25, 13).devices, hosts.curve(25, 13).nodes) == (1, 16, 8)
    assert (hosts.curve(4, 4).devices, hosts.curve(4, 4).nodes) == (2, 2)  # one device a node
    assert (hosts.curve(2, 1).devices, hosts.curve(2, 1).nodes) == (2, 1)
    assert systems.load("hacc").networks["host"].curve(1, 1) is None
    assert described.run("b_eff", "host", "hacc").headline(1).value > 0

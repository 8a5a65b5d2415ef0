"""Runs whose time is simulated from a described system, and what the models predict of them."""

import json
from dataclasses import replace

from described import run as described_run
from fabricmark import models, systems
from fabricmark.base import keys
from fabricmark.models.machine import HOST
from fabricmark.systems import export, size_tables
from stream_program import PROGRAM, Stream

LEAST = 0.01  # of the time, between closed form and clock

# Runs of each program that fit every machine: the bitstream, and what else the command line says. Where a
# default depends on the device's class it is given: the two ways of a run are on devices of other classes.
SMALL = {
    "stream": ("520n_single/stream", ("--size", 100000)),
    "gemm": (
        "520n_single/gemm_double",
        ("--size", 512, "--block-size", 128, "--gemm-size", 4, "--unroll", 8),
    ),
    "ptrans": (
        "520n_multi/ptrans_host",
        ("--size", 1024, "--block-size", 64, "--ranks", 4, "--chunk-bytes", 0),
    ),
    "hpl": (
        "520n_multi/hpl_host",
        ("--size", 512, "--block-size", 64, "--ranks", 4, "--launch-items", 2, "--chunk-bytes", 0),
    ),
    "b_eff": (None, ("--ranks", 4, "--largest", 18, "--chunk-bytes", 4096, "--messages", 5)),
    "fft": ("520n_single/fft", ("--log-size", 8, "--batch", 64)),
    "random_access": ("520n_single/random_access", ("--log-size", 14)),
}


def program(folder, name):
    return Stream(folder, PROGRAM.with_name(f"fm_{name}"))


def exported(folder, name="noctua1", change=None):
    """The file of a system, with what `change` does to its document."""
    document = json.loads(export.text(name, "fitted"))
    if change is not None:
        change(document)
    file = folder / f"{name}.json"
    file.write_text(json.dumps(document))
    return file


def retabled(document, name="noctua1", **changes):
    """The exported system with the tables of other values of its board and of its hosts' network."""
    loaded = systems.load(name)
    networks = dict(loaded.networks)
    for transport, network in networks.items():
        if network.kind == HOST:
            networks[transport] = with_changes(network, changes.get("network", {}))
    board = with_changes(loaded.board, changes.get("board", {}))
    document["devices"][0]["copies"] = size_tables.copies(board)
    document["topology"][0]["messages"] = size_tables.messages(
        replace(loaded, board=board, networks=networks)
    )
    return document


def words(system, bitstream, *more):
    chosen = () if bitstream is None else ("--bitstream-id", bitstream)
    return ("--system", system, *chosen, *more)


def samples(document):
    """Modelled times by metric and axes: those of every rank and repetition."""
    return {
        (one["name"], *sorted(one["axes"].items())): one["samples"]["per_rank"]
        for one in document["measurements"]
        if one["kind"] == "modelled" and "samples" in one
    }


def best(document):
    """Modelled values by metric, operation and size of the message."""
    return {
        (one["name"], one["axes"].get("operation"), one["axes"].get("message_bytes")): one["best"]
        for one in document["measurements"]
        if one["kind"] == "modelled"
    }


def with_changes(described, changes):
    """A board, network or bitstream with other values, named as exported systems name them, or other curves.

    Of two values of a bitstream with one name there, that of short runs is of processors.
    """
    known = keys.OF_MODELS[described.values.place].items()
    names = {key.symbol: name for name, key in known if not name.startswith(keys.MEASURED)}
    values = {names[symbol]: value for symbol, value in changes.items() if symbol != "curves"}
    curves = {"curves": changes["curves"]} if "curves" in changes else {}
    return replace(described, **curves).having(values)


def bitstream_of(system, name):
    """Of a described system, by its id; None: it has no such."""
    return system.designs.get(name)


def predicted(
    benchmark, parameters, devices=1, bitstream=None, file="", system="noctua1", transport="none", **changes
):
    """What the models say; `changes`: values of the board, network or bitstream, named as exported systems
    name them."""
    run = described_run(benchmark, transport, system)
    found = bitstream_of(run.system, bitstream)
    board = with_changes(run.system.board_with(found, devices), changes.get("board", {}))
    network = run.system.networks.get(transport)
    if network is not None:
        network = with_changes(network, changes.get("network", {}))
    if found is not None:
        found = with_changes(found, changes.get("fitted", {}))
    known = {"variant": "base", "transport": transport, **(found.parameters if found else {}), **parameters}
    predictions = models.find(benchmark).predict(known, board, devices, network=network, bitstream=found)
    return {
        (one.name, one.axes.get("operation"), one.axes.get("message_bytes")): one.value for one in predictions
    }


def timing(folder, name, file, bitstream, *more):
    done = program(folder, name).run("--timing-only", *words(file, bitstream, *more))
    assert done.code == 0, done.errors
    return done.document


# Runs that a closed form stands for: program, bitstream, parameters, boards. Copies of whole arrays are left
# out: they are predicted without the latencies of their starts.
CLOSED = {
    "stream": ("stream", "520n_single/stream", {"size": 2**27}, 1),
    "stream, longer blocks": ("stream", "520n_single/stream_16k", {"size": 2**25}, 1),
    "stream, double": ("stream", "520n_single/stream_double", {"size": 2**26}, 1),
    "gemm": ("gemm", "520n_single/gemm", {"size": 5120}, 1),
    "gemm, dealt unevenly": ("gemm", "520n_single/gemm", {"size": 4096}, 1),  # 8 rows of blocks over 5
    "gemm, 7 replications": ("gemm", "520n_single/gemm", {"size": 8000, "replications": 7}, 1),
    "gemm, idle replications": ("gemm", "520n_single/gemm", {"size": 1500}, 1),
    "gemm, half": ("gemm", "520n_single/gemm_half", {"size": 4096}, 1),
    "fft": ("fft", "520n_multi/fft", {"batch": 4096}, 1),
    "random access": ("random_access", "520n_single/random_access", {"log_size": 29}, 1),
    "random access, 4 boards": (
        "random_access",
        "520n_multi/random_access",
        {"log_size": 29, "scope": "global"},
        4,
    ),
    "random access, a buffer": (
        "random_access",
        "520n_single/random_access",
        {"log_size": 29, "buffer_size": 64, "ignore_dependence": False},
        1,
    ),
    # The update hides the rest: the closed form copies blocks, too, that one rank sends to nobody.
    "hpl": ("hpl", "520n_multi/hpl_host", {"size": 45056, "chunk_bytes": 0}, 1),  # in a bank of 8 GiB
    "hpl, 4 boards": ("hpl", "520n_multi/hpl_host", {"size": 49152, "chunk_bytes": 0}, 4),
    "hpl, 16 boards": ("hpl", "520n_multi/hpl_host", {"size": 98304, "chunk_bytes": 0}, 16),
    "ptrans's kernels": ("ptrans", "520n_multi/ptrans_host", {"size": 65536}, 4),
}
COPIES = ("host_to_device", "device_to_host")
# Of PTRANS the closed form is that of another host program: see docs/simulated-time.md.
ELSEWHERE = (*COPIES, "transpose", "exchange")


def run_case(folder, file, case):
    name, bitstream, parameters, ranks = CLOSED[case]
    options = [
        word
        for key, value in parameters.items()
        for word in (f"--{key.replace('_', '-')}", str(value).lower() if isinstance(value, bool) else value)
    ]
    return timing(folder, name, file, bitstream, *options, "--ranks", ranks)


def closed_form(document, case, **changes):
    name, bitstream, _, ranks = CLOSED[case]
    transport = document["parameters"].get("transport", "none")
    return predicted(name, document["parameters"], ranks, bitstream=bitstream, transport=transport, **changes)


def compared(document):
    found = {key: value for key, value in best(document).items() if key[1] not in ELSEWHERE}
    assert found
    return found

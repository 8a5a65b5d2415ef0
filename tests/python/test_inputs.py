"""What models declare that they read of a system: all of it, and nothing else."""

import itertools
import re
from contextlib import suppress
from dataclasses import replace

import pytest
import samples
from fabricmark import models, systems
from fabricmark.base import kernels, keys
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import _collective_costs
from fabricmark.models.machine import HOST, Bitstream, Network, UndeclaredInput
from fabricmark.predict import points, settings
from fabricmark.systems import calibration
from test_models_measured import CURVES, TRUTH, as_measured
from test_predict_settings import requests

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]
HOSTS = Network("hosts", HOST).having({"links.bandwidth": 1e10, "latency": 1e-6})
KIND = {"method": "queued", "memory": "page-aligned", "buffers": 1, "bytes": 2**20}
A_TRANSFER = [
    models.Prediction("bandwidth", {"direction": direction, **KIND}, 1.0, "GB/s", None, "", "")
    for direction in ("to_device", "both")
]


def every_name():
    """Full names of all values that a model may look up."""
    return {
        f"{'bitstream' if name == 'clock' else place}.{name}"
        for place, known in keys.OF_MODELS.items()
        for name in known
    }


def declared_name(settable):
    """Of a value that may be set: what stands in place of a board's is the board's."""
    place, _, name = settable.partition(".")
    in_its_place = place == "bitstream" and name in keys.SYNTHESISED and name != "clock"
    return f"board.{name}" if in_its_place else settable


def on_boards(benchmark):
    """What a model reads of all systems of the repository, over all their networks."""
    found = set()
    for request in requests():
        if request.benchmark != benchmark:
            continue
        for closed in (False, True):
            one = replace(request, closed_form=closed)
            try:
                planned = points.planned(
                    one, [(count, {}) for count in (1, 4) if count <= one.system.most_devices]
                )
            except FabricmarkError:
                continue
            for plan, run in planned:
                network = plan.system.networks.get(request.transport)
                if closed and network is not None:
                    network = settings.closed_form(network).having({"ping_latency": None})
                # No system has its kernels on cables of which a file says that they are credit links.
                for linked in (network, network and network.having({"flow.packet": 32})):
                    seen = settings.watch(benchmark, run, plan.board, plan.devices, linked, plan.bitstream)
                    found |= seen.values
                found |= of_other_designs(benchmark, run, plan, network)
                found |= of_own_program(benchmark, run, plan, network)
    return {declared_name(name) for name in found}


def of_other_designs(benchmark, run, plan, network):
    """What it reads of a design that says nothing of its links, and of the base kernel on this board, which
    nobody may have built."""
    found = set()
    silent = plan.bitstream and plan.bitstream.having({"link_cycles": None, "fitted.link_bandwidth": None})
    for variant, devices, bitstream in ((run["variant"], plan.devices, silent), ("base", 1, silent)):
        with suppress(ValueError, FabricmarkError):
            changed = {**run, "variant": variant}
            found |= settings.watch(benchmark, changed, plan.board, devices, network, bitstream).values
    return found


def of_own_program(benchmark, run, plan, network):
    """What it reads of this project's program, where predictions are of another one."""
    seen, model = set(), models.find(benchmark)
    if run["transport"] in models.traits(benchmark).foreign and hasattr(model, "own_headline"):
        design = plan.bitstream and plan.bitstream.watched(seen)
        board, wired = plan.board.watched(seen), network.watched(seen)
        model.own_headline(run, board, plan.devices, network=wired, bitstream=design)
    return seen


def short_runs_of(benchmark):
    """A kernel as short runs have measured it."""
    one = Bitstream(benchmark, benchmark, "", "base", "none", {}, CURVES.get(benchmark, {}))
    return one.with_measured(TRUTH.get(benchmark, {}))


def on_processors(benchmark):
    """What it reads of a CPU and of a GPU, calibrated, for all that decides about it in its parameters."""
    found = set()
    for kind, ranks, transport in itertools.product(("cpu", "gpu"), (1, 2), ("cpu", "host")):
        board = calibration.board(samples.calibration({**samples.DEVICE, "class": kind}))
        known = kernels.kernel(benchmark).parameters
        (resolved,) = kernels.ask([kernels.wanted(benchmark, kind, {}, 2)])
        types = known["data_type"].values if "data_type" in known else ("float",)
        for data_type, variant, limits in itertools.product(
            types, ("base", "throughput"), (board.limits, None)
        ):
            run = {
                **resolved["parameters"],
                "data_type": data_type,
                "variant": variant,
                "transport": transport,
            }
            measured = [as_measured(one) for one in A_TRANSFER] if benchmark == "host_transfer" else ()
            seen = set()
            with suppress(models.MissingValue):
                models.predict(
                    models.find(benchmark), run, replace(board, limits=limits).watched(seen), ranks,
                    measurements=measured, network=HOSTS.watched(seen), bitstream=short_runs_of(benchmark),
                )  # fmt: skip
            found |= {declared_name(one) for one in seen}
    return found


@pytest.mark.parametrize("benchmark", models.names())
def test_a_model_reads_what_it_declares(benchmark):
    declared = models.inputs(models.find(benchmark))
    assert declared and declared <= every_name()
    never = declared - on_boards(benchmark) - on_processors(benchmark)
    assert not never, sorted(never)


def test_so_do_collective_operations():
    """Over all networks, as they are and in closed form: each value that they declare."""
    assert every_name() >= _collective_costs.INPUTS
    found = set()
    for request in requests():
        for network in request.system.networks.values():
            for described, issuer in itertools.product(
                (network, settings.closed_form(network)), ("host", "logic")
            ):
                seen = set()
                parameters = {"transport": request.transport, "issuer": issuer, "longest": 2**20}
                with suppress(models.MissingValue):
                    board = request.system.board_with(None, 2).watched(seen)
                    _collective_costs.of(parameters, board, described.watched(seen))
                found |= seen
    assert found == _collective_costs.INPUTS


@pytest.mark.parametrize("benchmark", models.names())
def test_what_is_not_declared_is_not_read(benchmark, monkeypatch):
    """None of the values that a model has read can be read any more once it does not declare it."""
    model, chosen = models.find(benchmark), {}
    for request in requests():
        if request.benchmark == benchmark:
            with suppress(FabricmarkError):
                planned = points.planned(request, [(1, {})])
                chosen[request.transport] = (request, *planned[0])
    assert chosen
    for request, plan, run in chosen.values():
        network = plan.system.networks.get(request.transport)
        of = (benchmark, run, plan.board, 1, network, plan.bitstream)
        monkeypatch.setattr(models, "inputs", lambda one: frozenset(model.INPUTS))
        for missing in {declared_name(name) for name in settings.watch(*of).values}:
            monkeypatch.setattr(models, "inputs", lambda one, name=missing: frozenset(model.INPUTS) - {name})
            with pytest.raises(UndeclaredInput, match=re.escape(missing)):
                settings.watch(*of)


def test_an_unknown_name_is_a_mistake():
    board = systems.load("noctua1").board
    with pytest.raises(KeyError, match=r"memory\.bank"):
        board["memory.bank"]
    with pytest.raises(KeyError, match=r"board\.memory\.bank"):
        board.having({"memory.bank": 1})

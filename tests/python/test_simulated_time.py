"""The modelled clock: the same bits with and without data, and what the closed forms predict."""

import os
import subprocess
from itertools import pairwise

import declared
import pytest
from conftest import REPOSITORY
from described import run as described_run
from fabricmark import systems
from fabricmark.models import _grid, _network, ptrans
from simulated_runs import (
    CLOSED,
    LEAST,
    SMALL,
    best,
    bitstream_of,
    closed_form,
    compared,
    exported,
    predicted,
    program,
    run_case,
    samples,
    timing,
    words,
)
from stream_program import mpirun, on_a_device, only_error
from thinned import only, some_of

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]


@pytest.mark.parametrize("name", SMALL)
def test_a_run_takes_the_same_modelled_time_to_the_last_bit_whether_it_computes_or_not(
    tmp_path_factory, system, name
):
    bitstream, more = SMALL[name]
    made = on_a_device(tmp_path_factory, name)
    asked = words(system, bitstream, "--variant", "base", "--repetitions", 2, *more)
    computed = made.valid("--simulate", *asked).document
    alone = made.run("--timing-only", *asked).document
    assert samples(computed) == samples(alone)
    assert samples(alone)
    kinds = {one["kind"] for one in computed["measurements"]}
    assert "modelled" in kinds and len(kinds) == 2


@pytest.mark.parametrize("name", ["stream", "b_eff", "ptrans"])
def test_the_timed_parts_of_a_run_make_one_timeline(tmp_path_factory, system, name):
    bitstream, more = SMALL[name]
    made = on_a_device(tmp_path_factory, name)
    asked = words(system, bitstream, "--variant", "base", "--repetitions", 2, "--timeline", *more)
    document = made.run("--timing-only", *asked).document
    timeline = document["modelled_timeline"]
    assert timeline == made.valid("--simulate", *asked).document["modelled_timeline"]
    assert "timeline" not in document, "nothing ran"

    done = {lane: [] for lane in ("part", "rank")}
    for one in timeline["series"]:
        lane = "part" if one["lane"] == "timed region" else "rank"
        done[lane] += [(start, end, one["what"]) for start, end, *_ in one["activities"]]
    parts = sorted(done["part"])
    assert parts[0][0] == 0
    assert all(before[1] == after[0] for before, after in pairwise(parts))
    assert max(end for _, end, _ in done["rank"]) <= parts[-1][1]
    ranks = document["environment"]["ranks"]["count"]
    assert {one["device"] for one in timeline["series"]} == set(range(ranks))
    found = 0
    for (_, *axes), per_rank in samples(document).items():
        axes = dict(axes)
        names = (axes.get("operation"), f"{axes.get('operation')}/{axes.get('message_bytes')}")
        lasting = [end - start for start, end, what in parts if what in names]
        slowest = [max(times) for times in zip(*per_rank, strict=True)]
        found += len(lasting)
        for length, seconds in zip(lasting, slowest, strict=bool(lasting)):
            # A part may do the same so many times.
            assert length / seconds == pytest.approx(round(length / seconds), rel=1e-6) and length > 0
    assert found > 0


@pytest.mark.parametrize("name", SMALL)
def test_timing_alone_claims_modelled_times_only_and_the_same_in_every_run(tmp_path, system, name):
    bitstream, more = SMALL[name]
    first, second = (timing(tmp_path, name, system, bitstream, *more) for _ in range(2))
    assert {one["kind"] for one in first["measurements"]} == {"modelled"}
    assert {verdict["status"] for verdict in first["verdicts"]} == {"skipped"}
    assert best(first) == best(second)
    assert first["environment"]["device"]["platform"] == "dry-run"


# What a laptop has no memory for: bytes of all arrays, and the run.
LARGE = {
    "stream": (1.6e12, "520n_single/stream", ("--size", 2**37)),
    "gemm": (1.1e12, "520n_single/gemm", ("--size", 262144)),
    "ptrans": (0.8e12, "520n_multi/ptrans_host", ("--size", 262144, "--ranks", 16)),
    "random_access": (2.1e12, "520n_single/random_access", ("--log-size", 38)),
    "fft": (1.0e12, "520n_single/fft", ("--batch", 1000000)),
    "hpl": (0.15e12, "520n_multi/hpl_host", ("--size", 196608, "--ranks", 25)),
}


@pytest.mark.parametrize("name", only(LARGE, *LARGE.keys() - {"hpl"}))
def test_timing_alone_needs_no_memory_for_the_arrays(tmp_path, name):
    _, bitstream, more = LARGE[name]

    def hold_all(document):
        for device in document["devices"]:
            device["values"]["memory_bytes"]["value"] = 2.0**46

    system = exported(tmp_path, change=hold_all)  # the boards' own memory does not hold them either
    command = [
        program(tmp_path, name).program,
        "--timing-only",
        *words(system, bitstream, *more),
    ]
    running = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 0, running.stderr.read()
    running.stderr.close()
    assert used.ru_maxrss * 1024 < 1e9


@pytest.mark.parametrize("case", CLOSED)
def test_the_clock_takes_what_the_closed_form_says(tmp_path, system, case):
    document = run_case(tmp_path, system, case)
    closed = closed_form(document, case)
    for key, value in compared(document).items():
        assert value == pytest.approx(closed[key], rel=LEAST), key


@pytest.mark.parametrize(
    "ranks, name, chunk", some_of([1, 2, 4, 16, 32], ["noctua1", "noctua2", "cygnus"], [0, 4096, 65536])
)
def test_b_eff_over_the_host_takes_what_the_closed_form_says(tmp_path, name, ranks, chunk):
    file = exported(tmp_path, name)
    document = timing(tmp_path, "b_eff", file, None, "--ranks", ranks, "--chunk-bytes", chunk)
    closed = predicted("b_eff", {"chunk_bytes": chunk, "largest": 20}, ranks, system=name, transport="host")
    found = {key: value for key, value in best(document).items() if "kernel" not in str(key[1])}
    assert len(found) == 1 + 5 * 21
    for key, value in found.items():
        assert value == pytest.approx(closed[key], rel=LEAST), key


@pytest.mark.parametrize("ranks", [1, 2, 4, pytest.param(16, marks=pytest.mark.full)])
def test_b_eff_between_the_hosts_takes_what_the_closed_form_says(tmp_path, system, ranks):
    document = timing(tmp_path, "b_eff", system, None, "--ranks", ranks, "--transport", "cpu")
    closed = predicted("b_eff", {"largest": 20}, ranks, transport="cpu")
    for key, value in best(document).items():
        assert value == pytest.approx(closed[key], rel=LEAST), key


def test_ranks_that_are_processes_take_what_ranks_of_one_process_take(tmp_path, system):
    bitstream, more = SMALL["hpl"]
    inside = timing(tmp_path, "hpl", system, bitstream, *more)
    asked = [word for word in more if word not in ("--ranks", 4)]
    hpl = program(tmp_path, "hpl")
    outside = hpl.run("--timing-only", *words(system, bitstream, *asked), launcher=mpirun(4))
    assert outside.code == 0, outside.errors
    assert samples(outside.document) == samples(inside)


def ptrans_exchange_seconds(ranks, blocks, block_bytes):
    """A rank that sends so many blocks: each is read, sent and written."""
    run = described_run("ptrans", "host")
    board = run.system.board_with(None, ranks)
    steps = _network.host_steps(block_bytes, board, run.system.networks["host"])
    return blocks * float(sum(steps)) / 2


@pytest.mark.parametrize("ranks", [4, 16])
def test_ptrans_exchanges_its_blocks_as_the_steps_over_the_host_say(tmp_path, system, ranks):
    options = ("--size", 8192, "--block-size", 512, "--chunk-bytes", 0, "--ranks", ranks)
    document = timing(tmp_path, "ptrans", system, "520n_multi/ptrans_host", *options)
    exchange = next(one for one in document["measurements"] if one["axes"].get("operation") == "exchange")
    slowest = max(max(one) for one in exchange["samples"]["per_rank"])
    blocks = 16 * 16 // ranks
    most = round(float(ptrans.shares_sent(_grid.shape(ranks, 0)).max()) * blocks)
    assert slowest == pytest.approx(ptrans_exchange_seconds(ranks, most, 512 * 512 * 4), rel=LEAST)


@pytest.mark.parametrize(
    "ranks, block, more",
    [
        (1, 512, ()),
        (2, 512, ()),
        (4, 64, ()),
        (4, 1024, ()),
        (4, 512, ("--chunk-bytes", 0, "--round-blocks", 0)),
        (4, 512, ("--chunk-bytes", 1 << 18, "--round-blocks", 3)),
        (6, 256, ()),
        (4, 512, ("--distribution", "diagonal")),
    ],
)
def test_ptrans_over_the_host_takes_what_the_form_of_this_program_says(tmp_path, ranks, block, more):
    """On boards whose host spreads B and C over banks, so that replicas have unequal parts of a round."""
    options = ("--size", 8192, "--block-size", block, "--ranks", ranks, "--replications", 3, *more)
    document = timing(tmp_path, "ptrans", exported(tmp_path, "hacc"), "u280_ddr_multi/ptrans_host", *options)
    loaded = systems.load("hacc")
    bitstream = bitstream_of(loaded, "u280_ddr_multi/ptrans_host")
    rate = ptrans.own_headline(
        document["parameters"], loaded.board_with(bitstream, ranks), ranks,
        network=loaded.networks["host"], bitstream=bitstream,
    )  # fmt: skip
    assert rate == pytest.approx(best(document)["bandwidth", "transpose", None], rel=LEAST)


def test_the_hosts_solve_of_hpl_and_kernels_without_costs_have_no_modelled_time(tmp_path, system):
    bitstream, more = SMALL["hpl"]
    document = timing(tmp_path, "hpl", system, bitstream, *more)
    assert {one["axes"]["operation"] for one in document["measurements"]} == {"lu", "host_to_device"}
    assert any("no modelled time where the hosts solve" in note for note in document["notes"])
    done = program(tmp_path, "stream").start(
        "--timing-only", *words(system, "520n_single/stream", "--variant", "throughput", "--size", 1000)
    )
    assert done.code == 0, done.errors
    assert "no modelled time where the kernel stream runs" in " ".join(done.output.split())
    assert "triad" not in done.output


WRONG = {
    "no system": (("--timing-only",), "--timing-only without --system"),
    "no system to simulate": (("--simulate",), "--simulate without --system"),
    "a device of one's own": (("--timing-only", "--device", "0", "--system", "FILE"), "exclude each other"),
    "several bitstreams": (("--timing-only", "--system", "FILE"), "several bitstreams of stream"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_simulated_is_said_in_one_line(tmp_path, system, case):
    asked, message = WRONG[case]
    done = program(tmp_path, "stream").start(*(system if word == "FILE" else word for word in asked))
    assert message in only_error(done, codes=(2,))


def test_a_value_that_a_system_lacks_is_named(tmp_path):
    def without(document):
        del document["devices"][0]["values"]["bank_bytes_per_second"]
        del document["devices"][0]["copies"]["to_device"]

    file = exported(tmp_path, change=without)
    done = program(tmp_path, "stream").start("--timing-only", *words(file, "520n_single/stream"))
    assert "bank_bytes_per_second of 520n is missing in" in only_error(done, codes=(2,))
    done = program(tmp_path, "b_eff").start("--timing-only", "--system", file, "--ranks", 2)
    assert "the time of copies to 520n is missing in" in only_error(done, codes=(2,))

    def unwired(document):
        del document["topology"][0]["messages"]["host"]

    file = exported(tmp_path, change=unwired)
    done = program(tmp_path, "b_eff").start("--timing-only", "--system", file)
    assert "the time of messages between hosts over the transport host" in only_error(done, codes=(2,))


@pytest.mark.parametrize("name", ["b_eff", "ptrans", "hpl"])
@pytest.mark.parametrize("way", ["--simulate", "--timing-only"])
def test_kernels_that_wait_for_each_other_are_simulated_on_emulated_boards_only(tmp_path, system, name, way):
    done = program(tmp_path, name).start(way, "--system", system, "--variant", "channels")
    line = only_error(done, codes=(2,))
    assert f"{way} with the variant channels, whose kernels wait for each other over channels" in line
    assert "use --variant dataflow" in line


def test_a_system_has_a_device_for_each_rank(tmp_path, system):
    for way in ("--timing-only", "--simulate"):
        done = program(tmp_path, "b_eff").start(way, "--system", system, "--ranks", 33, "--largest", 1)
        line = only_error(done, codes=(2,))
        assert "has 32 devices of the kind 520n, not one for each of 33 ranks" in line


def test_every_wait_and_efficiency_of_kernel_toml_is_a_value_that_systems_have():
    text = (REPOSITORY / "python" / "fabricmark" / "schemas" / "exported-system-1.schema.json").read_text()
    for file in sorted((REPOSITORY / "kernels").glob("*/kernel.toml")):
        variants = declared.kernel_toml(file)["variants"]
        for variant in variants.values():
            costs = variant.get("costs", {})
            if isinstance(costs, str):  # those of another variant
                costs = variants[costs]["costs"]
            loops = [loop for entry in costs.values() for loop in entry]
            for loop in loops:
                named = [*loop.get("waits", {}), *([loop["efficiency"]] if "efficiency" in loop else [])]
                for name in named:
                    assert f'"{name}"' in text, (file, name)

"""The real fm_random_access: valid for every division of the table, and each way to a wrong one is found."""

import itertools
import os
import re

import pytest
from stream_program import KERNELS, mpirun, on_a_device, one_error, only_error

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
SHORT = ("--log-size", "12", "--repetitions", "2")
# Kernels that lose no update, and that lose some: read before written by the cycles of a buffer.
BASE = ("--variant", "base", "--buffer-size", "1", "--log-rngs", "2", "--rng-distance", "3")
BUFFERED = ("--variant", "base", "--buffer-size", "16", "--log-rngs", "1")
THROUGHPUT = ("--variant", "throughput", "--lanes", "4", "--log-work-items", "0", "--buffer-size", "8")
ATOMIC = ("--variant", "throughput", "--lanes", "2", "--log-work-items", "4", "--atomic", "true")
KINDS = {"base": BASE, "throughput": THROUGHPUT, "atomic": ATOMIC}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return on_a_device(tmp_path_factory, "random_access")


def verdicts(done):
    return {v["name"]: (v["error"], v["threshold"], v["checked"]) for v in done.document["verdicts"]}


def failed(done):
    assert done.code == 1
    return {v["name"] for v in done.document["verdicts"] if v["status"] == "failed"}


def check_exact(done, items):
    """Not one item is wrong, nor could one be; all are checked after each repetition and at the end."""
    checked = items * (done.document["repetitions"]["count"] + 1)
    found = verdicts(done)
    assert done.zones["error"] == 0
    error, _, spread = found.pop("spread")
    assert (error, spread) == (0, checked)
    assert found == dict.fromkeys(("table", "whole updates"), (0, 0, checked))


# Divisions of the table -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["star", "global"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ranks", [1, 2, pytest.param(4, marks=FULL), 8])
def test_ranks_in_one_process_are_exact(program, kind, scope, ranks):
    done = program.valid(*SHORT, *KINDS[kind], "--scope", scope, "--ranks", ranks, "--replications", "2")
    check_exact(done, 4096 * ranks)
    update = done.measurement("update")
    assert (update["name"], update["unit"]) == ("updates", "GUOP/s")
    assert update["work"] == {"amount": 4 * 4096 * ranks, "unit": "updates"}


@pytest.mark.parametrize("scope", ["star", "global"])
@pytest.mark.parametrize(
    "kind, ranks",
    [
        ("base", 2),
        ("throughput", 4),
        *(pytest.param(kind, n, marks=FULL) for kind in KINDS for n in (1, 2, 4, 8)),
    ],
)
def test_ranks_of_mpi_are_exact(program, kind, scope, ranks):
    done = program.valid(*SHORT, *KINDS[kind], "--scope", scope, launcher=mpirun(ranks))
    check_exact(done, 4096 * ranks)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("log_size", [5, 9, 16, pytest.param(20, marks=FULL), pytest.param(22, marks=FULL)])
def test_sizes_and_replications_are_exact(program, kind, log_size):
    for replications in (1, 8):
        words = ("--log-size", log_size, "--repetitions", "2", "--replications", replications)
        check_exact(program.valid(*words, *KINDS[kind]), 1 << log_size)


@pytest.mark.parametrize("log_rngs, distance", [(0, 1), (3, 1), (5, 5)])
def test_any_generators_and_distance_make_the_same_updates(program, log_rngs, distance):
    words = ("--variant", "base", "--buffer-size", "1", "--log-rngs", log_rngs, "--rng-distance", distance)
    check_exact(program.valid(*SHORT, *words, "--replications", "4"), 4096)


@FULL
def test_every_shape_of_both_kernels_is_exact(program):
    for log_rngs, distance, dependence in itertools.product((0, 1, 4, 6), (1, 16), ("false", "true")):
        words = ("--buffer-size", "1", "--log-rngs", log_rngs, "--rng-distance", distance)
        done = program.valid(*SHORT, "--variant", "base", *words, "--ignore-dependence", dependence)
        assert verdicts(done)["table"][0] == 0  # a CPU waits for its writes whatever it is told
    for lanes, queue, log_items in itertools.product((1, 2, 4, 8, 16), (1, 7), (0, 3)):
        for replications in (1, 4):
            words = ("--lanes", lanes, "--buffer-size", queue, "--log-work-items", log_items)
            words = (*words, "--replications", replications, "--atomic", "true")
            check_exact(program.valid(*SHORT, "--variant", "throughput", *words), 4096)


def test_repetitions_begin_anew(program):
    check_exact(program.valid("--log-size", "8", "--repetitions", "9", *THROUGHPUT), 256)


# Updates that meet ----------------------------------------------------------------------------------------


def test_a_buffer_loses_updates_but_nothing_else(program):
    """The share depends on the order of the updates alone, so that it is the same on every device."""
    shares = []
    for log_size in (16, 18):
        done = program.valid("--log-size", log_size, "--repetitions", "1", *BUFFERED, "--replications", "1")
        share, threshold, _ = verdicts(done)["table"]
        assert 0 < share < threshold < 5 * share + 1e-3
        assert verdicts(done)["whole updates"][:2] == (0, 0)
        assert any("buffer_size" in note for note in done.document["notes"])
        shares.append(share)
    assert shares[1] < shares[0]


def test_too_long_a_buffer_for_the_table_is_invalid(program):
    words = ("--variant", "base", "--buffer-size", "1024", "--log-rngs", "1")
    assert failed(program.run("--log-size", "10", "--repetitions", "1", *words)) == {"table"}


def test_work_items_without_atomics_may_lose_updates_but_nothing_else(program):
    words = (
        "--variant",
        "throughput",
        "--log-work-items",
        "4",
        "--atomic",
        "false",
        "--work-group-size",
        "1",
    )
    done = program.valid("--log-size", "20", "--repetitions", "2", *words, "--replications", "1")
    share, threshold, _ = verdicts(done)["table"]
    stores = 64 * min(16, len(os.sched_getaffinity(0)))  # on their way, each meets 18.3 updates of its item
    assert share <= threshold <= (18.4 * stores + 16) / 2**20
    assert any("log_work_items" in note for note in done.document["notes"])


# Wrong results --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["element", "scale", "zeros", "stale", "swapped"])
@pytest.mark.parametrize("words", [BASE, THROUGHPUT], ids=["base", "throughput"])
def test_faults_are_found(program, words, fault):
    assert "table" in failed(program.run(*SHORT, *words, "--inject-fault", fault))


def test_faults_are_found_where_lost_updates_are_accepted(program):
    """One item in 65536 is less than the accepted share, but no lost update makes it."""
    words = ("--log-size", "16", "--repetitions", "1", *BUFFERED, "--replications", "1")
    assert failed(program.run(*words, "--inject-fault", "element")) == {"whole updates"}
    for fault in ("scale", "zeros", "swapped"):
        assert failed(program.run(*words, "--inject-fault", fault)) == {"table", "whole updates"}
    # The table without any update lacks all of them, which is more than the accepted share.
    assert failed(program.run(*words, "--inject-fault", "stale")) == {"table", "whole updates"}


@pytest.mark.parametrize("repetition", [0, 1, 2])
def test_a_fault_of_one_repetition_is_found_there(program, repetition):
    words = ("--log-size", "12", "--repetitions", "3", "--inject-fault", f"element#{repetition}")
    done = program.run(*words, *THROUGHPUT)
    assert "table" in failed(done)
    assert {v["repetition"] for v in done.document["verdicts"] if v["status"] == "failed"} == {repetition}


@pytest.mark.parametrize("scope", ["star", "global"])
@pytest.mark.parametrize("fault", ["element", "stale"])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_fault_of_one_rank_is_found_there(program, scope, fault, rank):
    words = (*SHORT, *THROUGHPUT, "--scope", scope, "--ranks", "2", "--inject-fault", f"{fault}@{rank}")
    done = program.run(*words)
    assert "table" in failed(done)
    table = next(v for v in done.document["verdicts"] if v["name"] == "table")
    assert table["worst"]["rank"] == rank and re.fullmatch(r"table\[\d+\]", table["worst"]["place"])


# Each is a kernel that forgets, repeats or misplaces updates: what is replaced, by what.
REST = "k < BUFFER_SIZE; ++k) {\n    if"
LANE_LOOP = "k < LANES; ++k) {\n      update_own"
BROKEN = {
    "half of the updates": ("base", "(long)(numbers_each * RNGS);", "(long)numbers_each * RNGS / 2;"),
    "another polynomial": ("base", "= next_number(", "= 1 + next_number("),
    "the neighbour's part": ("base", "part << log_part}", "(part ^ 1) << log_part}"),
    "other bits of the number": (
        "base",
        "own_item(update, log_part)] ^=",
        "own_item(update >> 3, log_part)] ^=",
    ),
    "the rest of the queue": ("throughput", REST, REST.replace("BUFFER_SIZE", "0")),
    "every other window": ("throughput", "left -= count;", "left -= min(left, 2UL * count);"),
    "half of the lanes": ("throughput", LANE_LOOP, LANE_LOOP.replace("LANES", "LANES / 2")),
}


@pytest.mark.parametrize("what", BROKEN)
def test_kernels_that_apply_other_updates_are_found(program, tmp_path, what):
    kind, old, new = BROKEN[what]
    text = (KERNELS / "random_access" / f"{kind}.cl").read_text()
    assert text.count(old) == 1
    path = tmp_path / "mine.cl"
    path.write_text(text.replace(old, new))
    words = (*SHORT, *KINDS[kind], "--replications", "2", "--kernel-file", path)
    assert "table" in failed(program.run(*words))


@pytest.mark.parametrize(
    "kind, parameter, built, said", [("base", "log_rngs", 2, 3), ("throughput", "lanes", 4, 2)]
)
def test_a_kernel_that_was_built_with_another_parameter_is_found(
    program, tmp_path, kind, parameter, built, said
):
    """An option that disagrees with the sidecar is refused; where the sidecar is wrong too, the items are."""
    bitstream = tmp_path / "saved.bin"
    program.valid(*SHORT, *KINDS[kind], "--replications", "2", "--save-bitstream", bitstream)
    words = (*SHORT, "--variant", kind, "--bitstream", bitstream, "--replications", "2")
    option = "--" + parameter.replace("_", "-")
    assert parameter in only_error(program.run(*words, option, said), codes=(2,))
    sidecar = bitstream.with_name("saved.bin.toml")
    text = sidecar.read_text()
    assert f"{parameter} = {built}\n" in text
    sidecar.write_text(text.replace(f"{parameter} = {built}\n", f"{parameter} = {said}\n"))
    assert "table" in failed(program.run(*words))


# Figures --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("replications", [1, 2])
def test_kernels_lie_in_the_timed_interval(program, replications):
    """Device events of the throughput kernel against the wall clock: each one is there, and none is outside.

    How much of the interval they fill depends on what else the machine does.
    """
    words = ("--log-size", "20", "--repetitions", "5", "--variant", "throughput", "--timeline")
    done = program.valid(*words, "--replications", replications)
    update = done.measurement("update")
    for repetition, seconds in enumerate(update["samples"]["per_rank"][0]):
        events = [e for e in done.document["timeline"] if e["repetition"] == repetition]
        assert [e["operation"] for e in events] == ["update"] * replications
        assert 0 < max(e["ended"] for e in events) - min(e["started"] for e in events) <= seconds


def test_a_table_in_the_cache_is_said(program):
    assert any("cache" in note for note in program.valid(*SHORT, *BASE).document["notes"])


# Bad input ------------------------------------------------------------------------------------------------

BAD = {
    "three ranks of one table": (["--scope", "global", "--ranks", "3"], "3 ranks"),
    "six ranks of one table": (["--scope", "global", "--ranks", "6"], "6 ranks"),
    "replications that are no power of two": (["--replications", "3"], "replications"),
    "more replications than items": (["--log-size", "4", "--replications", "8"], "log_size"),
    "no size": (["--log-size", "0"], "log_size"),
    "a size beyond the memory": (["--log-size", "40"], "log_size"),
    "a size beyond the range": (["--log-size", "41"], "log_size"),
    "unknown scope": (["--scope", "local"], "scope"),
    "no buffer": (["--buffer-size", "0"], "buffer_size"),
    "too many generators": (["--log-rngs", "7"], "log_rngs"),
    "generators without numbers": (["--log-size", "3", "--log-rngs", "6"], "log_rngs"),
    "no distance": (["--rng-distance", "0"], "rng_distance"),
    "three lanes": (["--lanes", "3"], "lanes"),
    "work-items without numbers": (["--log-size", "6", "--log-work-items", "8"], "log_work_items"),
    "dependences ignored with a buffer": (
        ["--ignore-dependence", "true", "--buffer-size", "2"],
        "ignore_dependence",
    ),
    "atomic that is no switch": (["--atomic", "maybe"], "atomic"),
    "fault of another array": (["--inject-fault", "element:a", "--log-size", "6"], "table"),
    "fault of messages": (["--inject-fault", "lost", "--log-size", "6"], "element"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line(program, what):
    words, name = BAD[what]
    assert name in only_error(program.run(*words, "--repetitions", "1"), codes=(2,))
    if "--ranks" not in words:
        assert name in only_error(program.run(*words, "--repetitions", "1", "--ranks", "2"), codes=(2,))


@pytest.mark.parametrize(
    "what, ranks", [("three ranks of one table", 3), pytest.param("three lanes", 2, marks=FULL)]
)
def test_bad_input_is_one_line_under_mpi(program, what, ranks):
    words, name = BAD[what]
    words = words[: words.index("--ranks")] if "--ranks" in words else words
    assert name in one_error(program.run(*words, "--repetitions", "1", launcher=mpirun(ranks)), codes=(2,))

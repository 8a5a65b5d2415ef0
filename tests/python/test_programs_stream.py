"""The real fm_stream: valid results for every shape, and each way to a wrong one is found."""

import itertools
import os
import resource
import shutil
import statistics

import pytest
from samples import spans
from stream_program import OPERATIONS, PROGRAM, SHORT, mpirun, one_error, only_error

pytestmark = pytest.mark.programs

STREAMS = {"copy": 2, "scale": 2, "add": 3, "triad": 3, "host_to_device": 3, "device_to_host": 3}
ARRAYS = ("a", "b", "c")
# Nothing divides these.
SIZES = (1, 7, 1001, 4097)


@pytest.fixture(scope="module")
def two_ranks(stream):
    return stream.valid("--size", "20000", "--repetitions", "5", "--ranks", "2")


# Shapes ---------------------------------------------------------------------------------------------------


def shape_words(variant, size, width, buffer_size, replications, unroll=1):
    values = {"size": size, "vector-width": width, "buffer-size": buffer_size, "unroll": unroll}
    words = ["--variant", variant, "--replications", replications, "--repetitions", 2]
    for name, value in values.items():
        words += [f"--{name}", value]
    return words


@pytest.mark.parametrize("variant", ["base", "throughput"])
@pytest.mark.parametrize("width, buffer_size, unroll", [(1, 64, 32), (4, 48, 16), (16, 1, 1)])
def test_sizes_that_nothing_divides_are_valid(stream, variant, width, buffer_size, unroll):
    for size, replications in itertools.product(SIZES, (1, 3)):
        done = stream.valid(*shape_words(variant, size, width, buffer_size, replications, unroll))
        # After each of two repetitions, and at the end.
        assert [verdict["checked"] for verdict in done.document["verdicts"]] == [3 * size] * 3


@pytest.mark.full
@pytest.mark.parametrize("variant", ["base", "throughput"])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("unroll", [1, 3, 16])
def test_every_shape_is_valid(stream, variant, width, unroll):
    for blocks in (1, 3, 16):
        buffer_size = unroll * blocks
        for size, replications in itertools.product((*SIZES, 3, 65537), (1, 2, 7, 64)):
            stream.valid(*shape_words(variant, size, width, buffer_size, replications, unroll))


@pytest.mark.parametrize("variant", ["base", "throughput"])
@pytest.mark.parametrize("data_type", ["half", "float", "double"])
def test_every_data_type_is_valid_or_refused_by_name(stream, variant, data_type):
    done = stream.run("--size", "4097", "--repetitions", "3", "--variant", variant, "--data-type", data_type)
    if done.code == 0:
        assert done.document["parameters"]["data_type"] == data_type
        assert {v["status"] for v in done.document["verdicts"]} == {"passed"}
    else:
        assert data_type != "float"
        assert data_type in only_error(done, codes=(2,))


def test_a_buffer_counts_vectors_and_has_to_fit_the_stack(stream, found):
    """4 MiB of floats, the longest that is published (Table 3.8), and more than the stack of a thread."""
    if found[0]["class"] != "cpu":
        pytest.skip("the buffer is not on a stack")
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if hard != resource.RLIM_INFINITY and hard < 8 << 20:
        pytest.skip("stacks cannot be as long as usual")
    words = ("--size", 1001, "--repetitions", 1, "--warmup", 0, "--buffer-size", 65536, "--vector-width", 16)
    try:
        resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, hard))
        stream.valid(*words, "--replications", 1)
        line = only_error(stream.run(*words, "--data-type", "double"), codes=(2,))
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
    assert "buffer_size = 65536 needs" in line and "stack" in line


def test_values_do_not_grow_with_the_repetitions(stream):
    done = stream.valid("--size", "1000", "--repetitions", "100")
    assert done.document["repetitions"]["count"] == 100
    assert all(verdict["error"] <= 2**-23 for verdict in done.document["verdicts"])


@pytest.mark.parametrize("memory", ["buffer", "host-pointer", "svm"])
def test_every_kind_of_memory_is_valid_or_refused_by_name(stream, memory):
    done = stream.run("--size", "4097", "--repetitions", "2", "--memory", memory, "--replications", "2")
    if done.code == 0:
        assert done.document["parameters"]["memory"] == memory
    else:
        assert memory == "svm" and "shared virtual memory" in only_error(done, codes=(2,))


# Ranks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ranks",
    [n if n in (1, 2, 3, 5, 8, 16) else pytest.param(n, marks=pytest.mark.full) for n in range(1, 17)],
)
def test_ranks_in_one_process_are_valid(stream, ranks):
    done = stream.valid(*SHORT, "--ranks", ranks)
    environment = done.document["environment"]["ranks"]
    assert environment["count"] == ranks
    assert environment["kind"] == ("single" if ranks == 1 else "in-process")
    assert [place["rank"] for place in environment["placement"]] == list(range(ranks))
    assert all(len(m["samples"]["per_rank"]) == ranks for m in done.document["measurements"])


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_ranks_of_mpi_are_valid(stream, ranks):
    done = stream.valid(*SHORT, launcher=mpirun(ranks))
    environment = done.document["environment"]["ranks"]
    assert (environment["count"], environment["kind"]) == (ranks, "mpi")
    assert environment["mpi_library"]
    assert done.document["verdicts"][0]["checked"] == 3 * 1000 * ranks


def test_ranks_on_one_cpu_are_told_and_take_turns(stream):
    if shutil.which("taskset") is None:
        pytest.skip("no taskset")
    one_cpu = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    done = stream.valid(*SHORT, launcher=[*one_cpu, *mpirun(3)])
    note = next(note for note in done.document["notes"] if "share 1 CPU of" in note)
    assert note.startswith("3 ranks") and "3 ranks share 1 CPU" in " ".join(done.output.split())
    for entry in done.document["measurements"]:
        found = entry["samples"]
        assert entry["best"] == pytest.approx(entry["work"]["amount"] / min(spans(entry)) / 1e9)
        assert min(max(rank) for rank in zip(*found["starts"], strict=True)) > 0
    assert "starts" not in stream.valid(*SHORT).document["measurements"][0]["samples"]


def test_ranks_that_share_a_device_share_its_units(stream, found, two_ranks):
    if found[0]["class"] != "cpu" or found[0]["compute_units"] < 2:
        pytest.skip("nothing to share")
    places = two_ranks.document["environment"]["ranks"]["placement"]
    assert sum(place["compute_units"] for place in places) <= found[0]["compute_units"]


def test_processes_with_different_command_lines_end_together(stream):
    """One process that ends alone would leave the others waiting in their next exchange."""
    launcher = [*mpirun(1), PROGRAM, *SHORT, ":", "-n", "1"]
    done = stream.start("--nonsense", launcher=launcher)
    assert "nonsense" in one_error(done, codes=(2,))


# Figures --------------------------------------------------------------------------------------------------


def test_a_rate_is_the_work_of_all_ranks_over_the_time_of_all(two_ranks):
    document = two_ranks.document
    assert [m["axes"]["operation"] for m in document["measurements"]] == list(OPERATIONS)
    for entry in document["measurements"]:
        per_rank = entry["samples"]["per_rank"]
        assert [len(repetitions) for repetitions in per_rank] == [5, 5]
        assert [len(repetitions) for repetitions in entry["samples"]["starts"]] == [5, 5]
        bytes_moved = 2 * STREAMS[entry["axes"]["operation"]] * 20000 * 4
        assert entry["work"] == {"amount": bytes_moved, "unit": "B"}
        rates = [bytes_moved / seconds / 1e9 for seconds in spans(entry)]
        for key, value in (
            ("best", max(rates)),
            ("maximum", max(rates)),
            ("minimum", min(rates)),
            ("median", statistics.median(rates)),
            ("mean", statistics.fmean(rates)),
            ("standard_deviation", statistics.stdev(rates)),
        ):
            assert entry[key] == pytest.approx(value), key


def test_min_time_goes_on_until_enough_was_timed(stream):
    done = stream.valid("--size", "1000", "--repetitions", "1", "--min-time", "0.05")
    assert done.document["repetitions"]["min_time_seconds"] == 0.05
    assert done.document["repetitions"]["count"] > 1
    timed = sum(sum(m["samples"]["per_rank"][0]) for m in done.document["measurements"])
    assert timed >= 0.05


def test_max_time_leaves_repetitions_out_but_two(stream):
    several = ("--size", "1000", "--repetitions", "1000000", "--ranks", "2", "--max-time")
    for seconds, delay in ((0, "0"), (0.2, "0.01")):
        done = stream.valid(*several, str(seconds), "--inject-delay", delay)
        counted = done.document["repetitions"]["count"]
        assert done.document["repetitions"]["max_time_seconds"] == seconds
        samples = [m["samples"]["per_rank"] for m in done.document["measurements"]]
        assert {len(one) for ranks in samples for one in ranks} == {counted}
        # On a machine of any speed: not before that time, and in it no more than what waits lets through.
        (measuring,) = (step for step in done.document["run"]["steps"] if step["name"] == "repetitions")
        assert measuring["seconds"] >= seconds
        assert counted == 2 if seconds == 0 else 2 <= counted <= 2 + seconds / (len(samples) * float(delay))
    # Nothing is left out where the time does.
    assert (
        stream.valid("--size", "1000", "--repetitions", "9", "--max-time", "1e6").document["repetitions"][
            "count"
        ]
        == 9
    )


def test_an_injected_delay_is_in_every_sample(stream):
    done = stream.valid(*SHORT, "--ranks", "2", "--inject-delay", "0.005")
    for entry in done.document["measurements"]:
        assert min(min(samples) for samples in entry["samples"]["per_rank"]) >= 0.005


def shares_of_the_kernel(done):
    """Time of each Triad over that of its kernel, which is a part of it."""
    samples = done.measurement("triad")["samples"]["per_rank"][0]
    triads = [event for event in done.document["timeline"] if event["operation"] == "triad"]
    spans = [
        [event for event in triads if event["repetition"] == repetition] for repetition in range(len(samples))
    ]
    return [
        sample / (max(event["ended"] for event in span) - min(event["started"] for event in span))
        for sample, span in zip(samples, spans, strict=True)
    ]


def test_an_injected_share_raises_the_times(stream):
    words = ("--size", "4000000", "--repetitions", "8", "--timeline", "--inject-delay")
    assert min(shares_of_the_kernel(stream.valid(*words, "0%"))) < 1.5
    assert min(shares_of_the_kernel(stream.valid(*words, "50%"))) >= 1.5


# Faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("kind", ["element", "scale", "zeros", "stale"])
def test_every_fault_in_every_array_is_found_and_placed(stream, kind, array):
    done = stream.run(*SHORT, "--inject-fault", f"{kind}:{array}")
    assert done.code == 1 and done.errors == ""
    failed = [v for v in done.document["verdicts"] if v["status"] == "failed"]
    assert [v["name"] for v in failed] == [f"array {array}"]
    place = failed[0]["worst"]["place"]
    assert place.startswith(f"{array}[") and place in done.output
    if kind == "element":
        assert place == f"{array}[500]"
    if kind == "zeros":
        assert failed[0]["worst"]["actual"] == 0


@pytest.mark.parametrize("variant", ["base", "throughput"])
def test_a_fault_without_a_target_is_in_the_first_array(stream, variant):
    done = stream.run(*SHORT, "--variant", variant, "--inject-fault", "element")
    assert done.code == 1
    assert done.document["verdicts"][0]["status"] == "failed"


@pytest.mark.parametrize("array", ARRAYS)
def test_a_fault_on_one_rank_alone_is_found_there(stream, array):
    done = stream.run(*SHORT, "--ranks", "2", "--inject-fault", f"element:{array}@1")
    assert done.code == 1
    failed = [v for v in done.document["verdicts"] if v["status"] == "failed"]
    assert [(v["name"], v["worst"]["rank"]) for v in failed] == [(f"array {array}", 1)]
    assert f"{array}[500]" in done.output


@pytest.mark.parametrize("repetition", [0, 1, 2])
def test_a_fault_of_one_repetition_is_found_there(stream, repetition):
    fault = f"element:b@1#{repetition}"
    done = stream.run("--size", "1000", "--repetitions", "3", "--ranks", "2", "--inject-fault", fault)
    assert done.code == 1
    (verdict,) = [v for v in done.document["verdicts"] if v["status"] == "failed"]
    assert (verdict["name"], verdict["repetition"]) == ("array b", repetition)
    assert f"in repetition {repetition}" in done.output


def test_a_fault_on_one_rank_of_mpi_is_found(stream):
    done = stream.run(*SHORT, "--inject-fault", "scale:b@1", launcher=mpirun(2))
    assert done.code == 1
    assert done.document["verdicts"][1]["worst"]["rank"] == 1


def test_a_skipped_validation_is_not_a_failure_but_incomplete(stream):
    done = stream.run(*SHORT, "--skip-validation", "--ranks", "2")
    assert done.code == 0
    assert [v["status"] for v in done.document["verdicts"]] == ["skipped"]
    assert done.document["run"]["complete"] is False

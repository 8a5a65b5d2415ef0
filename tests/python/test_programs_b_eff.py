"""The real fm_b_eff: valid on every ring and path of the messages, and each corrupted message is found."""

import itertools
import json
import statistics

import pytest
import samples
from b_eff_program import SHORT, WAYS, failed
from fabricmark.systems import export
from stream_program import PROGRAM, Stream, mpirun, on_a_device, only_error
from thinned import some_of

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
STEPS = ("kernel", "read", "message", "write", "kernel_after")
ROOM = 4 << 20  # bytes of the messages of one timed region


@pytest.fixture(scope="module")
def b_eff(tmp_path_factory):
    return on_a_device(tmp_path_factory, "b_eff")


@pytest.fixture(scope="module")
def plain(b_eff):
    """A run by the rules of b_eff, but with few messages, over the host in chunks of the default size."""
    return b_eff.valid("--ranks", "2", "--repetitions", "3", "--messages", "4")


def figures(done, name, operation="exchange"):
    """Measurements of an operation by the size of the message."""
    return {
        entry["axes"]["message_bytes"]: entry
        for entry in done.document["measurements"]
        if entry["name"] == name and entry["axes"].get("operation") == operation
    }


# Rings ----------------------------------------------------------------------------------------------------


def check_ring(done, ranks, kind, way):
    environment = done.document["environment"]["ranks"]
    assert (environment["count"], environment["kind"]) == (ranks, kind)
    assert done.document["parameters"]["transport"] == WAYS[way][1]
    # Two repetitions of three messages of each size, with steps twice, and the longest again at the end.
    each = sum(3 * 2**power for power in range(13))
    bytes_checked = ranks * (2 * (1 if way == "cpu" else 2) * each + 3 * 4096)
    verdicts = {v["name"]: (v["checked"], v["error"]) for v in done.document["verdicts"]}
    expected = dict.fromkeys(("messages to the right", "messages to the left"), (bytes_checked, 0))
    if way != "cpu":  # read and message in both directions, and a byte of each kernel
        expected["steps over host"] = (2 * ranks * (4 * each + 2 * 13), 0)
    assert verdicts == expected
    assert list(figures(done, "bandwidth")) == [2**power for power in range(13)]


@pytest.mark.parametrize("ranks, way", some_of([1, 2, 3, 4, 8], WAYS))
def test_rings_in_one_process_are_valid(b_eff, ranks, way):
    done = b_eff.valid(*SHORT, *WAYS[way], "--ranks", ranks)
    check_ring(done, ranks, "single" if ranks == 1 else "in-process", way)


@pytest.mark.parametrize(
    "ranks, way",
    [
        (ranks, way) if (ranks, way) in {(2, "whole"), (3, "chunks"), (3, "mapped"), (4, "cpu")} else
        pytest.param(ranks, way, marks=FULL)
        for ranks, way in itertools.product((2, 3, 4, 8), WAYS)
    ],
)  # fmt: skip
def test_rings_of_mpi_are_valid(b_eff, ranks, way):
    check_ring(b_eff.valid(*SHORT, *WAYS[way], launcher=mpirun(ranks)), ranks, "mpi", way)


@FULL
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
@pytest.mark.parametrize("is_mpi", [False, True])
def test_rings_are_valid_by_the_rules(b_eff, ranks, way, is_mpi):
    how = {"launcher": mpirun(ranks)} if is_mpi else {}
    words = () if is_mpi else ("--ranks", ranks)
    done = b_eff.valid(*WAYS[way], "--repetitions", "2", "--messages", "6", *words, **how)
    assert len(figures(done, "bandwidth")) == 21


@pytest.mark.parametrize("chunk", [1, 63, 64, 65, 4096, pytest.param(1048576, marks=FULL)])
def test_chunks_of_any_size_are_valid(b_eff, chunk):
    done = b_eff.valid(
        *SHORT, "--ranks", "2", "--chunk-bytes", chunk, "--map-memory", "false", "--sub-steps", "false"
    )
    assert done.document["parameters"]["chunk_bytes"] == chunk


@pytest.mark.parametrize("memory", ["buffer", "host-pointer", "svm"])
def test_every_kind_of_device_memory_is_valid_or_refused_by_name(b_eff, memory):
    for way in ("whole", "chunks", "mapped"):
        done = b_eff.run(*SHORT, *WAYS[way], "--ranks", "2", "--memory", memory)
        if done.code == 0:
            assert done.document["parameters"]["memory"] == memory
        else:
            assert memory == "svm" and "shared virtual memory" in only_error(done, codes=(2,))


# Without a device -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def deviceless(tmp_path_factory):
    """How to start fm_b_eff where OpenCL knows of no platform."""
    folder = tmp_path_factory.mktemp("deviceless")
    made = Stream(folder, PROGRAM.with_name("fm_b_eff"))
    made.environment["OCL_ICD_VENDORS"] = str(folder)
    for name in ("OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH"):
        made.environment.pop(name, None)
    return made


@pytest.mark.parametrize("ranks, is_mpi", [(1, False), (2, False), (2, True)])
def test_messages_between_host_memories_need_no_device(deviceless, ranks, is_mpi):
    how = {"launcher": mpirun(ranks)} if is_mpi else {}
    words = () if is_mpi else ("--ranks", ranks)
    done = deviceless.valid(*SHORT, *WAYS["cpu"], *words, **how)
    environment = done.document["environment"]
    device = environment["device"]
    assert (device["platform"], device["class"], device["emulated"]) == ("none", "cpu", False)
    assert device["name"] == environment["host"]["cpu"]
    placement = environment["ranks"]["placement"]
    assert [place["device"] for place in placement] == [device["name"]] * ranks
    assert done.document["run"]["kernel"]["origin"] == "shipped"


def test_faults_are_found_without_a_device_too(deviceless):
    for kind in ("element", "swapped"):
        done = deviceless.run(*SHORT, *WAYS["cpu"], "--ranks", "3", "--inject-fault", f"{kind}@1")
        assert done.code == 1 and failed(done)


@pytest.mark.usefixtures("of_the_repository")
def test_a_system_says_that_no_device_is_needed(deviceless):
    system = export.document("noctua1")
    entry = next(one for one in system["bitstreams"] if one["benchmark"] == "b_eff")
    entry |= {"variant": "base", "transport": "cpu", "parameters": {}}
    path = deviceless.new_file(".json")
    path.write_text(json.dumps(system))
    done = deviceless.valid(*SHORT, "--system", path)
    assert done.document["parameters"]["transport"] == "cpu"


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--transport", "host"),
        ("--transport", "cpu", "--device", "0"),
        ("--transport", "cpu", "--platform", "Portable"),
        ("--transport", "cpu", "--save-bitstream", "never.bin"),
    ],
)
def test_what_needs_a_device_says_that_there_is_none(deviceless, words):
    assert "no OpenCL device was found" in only_error(deviceless.run(*SHORT, *words), codes=(3,))


# Figures --------------------------------------------------------------------------------------------------


def test_there_are_21_sizes_by_the_rules(plain):
    sizes = [2**power for power in range(21)]
    for name in ("bandwidth", "latency"):
        assert list(figures(plain, name)) == sizes
    for step in STEPS:
        assert list(figures(plain, "latency", step)) == sizes
    assert len(plain.document["measurements"]) == (2 + len(STEPS)) * 21 + 1


def check_figures(entry, values):
    is_rate = entry["better"] == "higher"
    for key, value in (
        ("best", max(values) if is_rate else min(values)),
        ("maximum", max(values)),
        ("minimum", min(values)),
        ("median", statistics.median(values)),
        ("mean", statistics.fmean(values)),
        ("standard_deviation", statistics.stdev(values)),
    ):
        assert entry[key] == pytest.approx(value), (key, entry["axes"])


def test_a_bandwidth_is_of_both_directions_and_all_ranks(plain):
    for size, entry in figures(plain, "bandwidth").items():
        per_rank = entry["samples"]["per_rank"]
        assert [len(repetitions) for repetitions in per_rank] == [3, 3]
        assert entry["work"] == {"amount": 2 * size * 2, "unit": "B"}
        check_figures(entry, [4 * size / seconds / 1e9 for seconds in samples.spans(entry)])


def test_a_latency_is_that_of_one_message_on_all_ranks(plain):
    for operation in ("exchange", *STEPS):
        for entry in figures(plain, "latency", operation).values():
            assert (entry["unit"], entry["better"], entry["work"]) == ("us", "lower", None)
            check_figures(entry, [seconds * 1e6 for seconds in samples.spans(entry)])


def test_latency_and_bandwidth_are_of_the_same_samples(plain):
    rates = figures(plain, "bandwidth")
    for size, entry in figures(plain, "latency").items():
        assert entry["samples"] == rates[size]["samples"]
        assert entry["best"] * rates[size]["best"] == pytest.approx(4 * size * 1e-3)


def test_every_message_is_kept_on_request(b_eff, plain):
    done = b_eff.valid("--ranks", 2, "--repetitions", 2, "--messages", 3, "--largest", 4, "--inner-samples")
    for operation in ("exchange", *STEPS):
        for entry in figures(done, "latency", operation).values():
            shape = [[len(times) for times in rank] for rank in entry["samples"]["inner"]]
            assert shape == [[3] * 2] * 2  # ranks, repetitions, messages
            assert entry["percentiles"]["p50"] <= entry["percentiles"]["largest"]
    assert all("inner" not in entry["samples"] for entry in plain.document["measurements"])


def test_the_effective_bandwidth_is_the_mean_of_the_best(plain):
    (effective,) = [m for m in plain.document["measurements"] if m["name"] == "effective_bandwidth"]
    rates = figures(plain, "bandwidth").values()
    assert effective["best"] == pytest.approx(statistics.fmean(entry["best"] for entry in rates))
    assert (effective["axes"], effective["unit"], effective["work"]) == ({}, "GB/s", None)
    assert effective["samples"]["per_rank"] == [] and "eq. 4.1" in effective["derived"]


def test_a_delay_of_a_timed_part_is_shared_by_its_messages(b_eff):
    words = ("--repetitions", "2", "--largest", "2", "--messages", "10", *WAYS["cpu"])
    done = b_eff.valid(*words, "--ranks", "2", "--inject-delay", "0.02")
    for entry in figures(done, "latency").values():
        assert entry["best"] >= 2000  # us
        assert entry["best"] < 20000


def test_steps_are_there_for_the_host_only_and_can_be_left_out(b_eff):
    for words, are_there in (
        (WAYS["whole"], True),
        ((*WAYS["chunks"], "--sub-steps", "false"), False),
        ((*WAYS["cpu"], "--sub-steps", "true"), False),
    ):
        done = b_eff.valid(*SHORT, *words)
        for step in STEPS:
            assert bool(figures(done, "latency", step)) == are_there


def test_the_timeline_has_the_kernels_around_the_messages(b_eff):
    words = ("--repetitions", "2", "--messages", "3", "--largest", "4")
    done = b_eff.valid(*words, "--ranks", "2", "--timeline")
    entries = [(e["rank"], e["repetition"], e["operation"]) for e in done.document["timeline"]]
    kernels = itertools.product(range(2), range(2), ("kernel", "kernel_after"))
    assert sorted(entries) == sorted(kernel for kernel in kernels for _ in range(3 * 5))
    assert all(e["queued"] <= e["submitted"] <= e["started"] <= e["ended"] for e in done.document["timeline"])
    assert b_eff.valid(*SHORT, *WAYS["cpu"], "--timeline").document["timeline"] == []


def test_long_messages_are_as_many_as_there_is_room_for(b_eff):
    done = b_eff.valid("--largest", "22", "--messages", "3", "--repetitions", "1", "--warmup", "0")
    messages = [min(3, ROOM // 2**power) for power in range(23)]
    checked = sum(count * 2**power for power, count in enumerate(messages))
    last = messages[-1] * 2**22
    assert [v["checked"] for v in done.document["verdicts"]][:2] == [2 * checked + last] * 2


# Bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, name",
    [
        (("--largest", "29"), "largest"),
        (("--largest=-1",), "largest"),
        (("--transport", "pigeon"), "transport"),
        (("--transport", "CPU"), "transport"),
        (("--messages=-1",), "messages"),
        (("--messages", "100001"), "messages"),
        (("--chunk-bytes=-2",), "chunk_bytes"),
        (("--chunk-bytes", "1.5"), "chunk_bytes"),
        (("--transport", "host", "--chunk-bytes", "1", "--map-memory", "false"), "in chunks of 1 bytes"),
        (("--sub-steps", "maybe"), "sub_steps"),
        (("--timeout", "0"), "--timeout"),
        (("--timeout", "nan"), "--timeout"),
        (("--memory", "hbm"), "hbm"),
        (("--variant", "throughput"), "throughput"),
        (("--largest", "2", "--inject-fault", "lost:a"), "'a'"),
        (("--largest", "2", "--inject-fault", "late@7"), "rank 7"),
        (("--size", "100"), "--size"),
    ],
)
def test_bad_input_ends_in_one_clear_line(b_eff, words, name):
    for ranks in (1, 2):
        done = b_eff.run(*words, "--ranks", ranks)
        assert name in only_error(done, codes=(2,))
        assert done.document is None

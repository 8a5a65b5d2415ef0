"""The real fm_host_transfer: valid for every way of copying, and copies that are not made are found."""

import itertools
import statistics

import pytest
import samples
from stream_program import PROGRAM, Stream, devices, mpirun, one_error, only_error

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
SHORT = ("--smallest", "12", "--largest", "16", "--repetitions", "2", "--overlap-bytes", "65536")
DIRECTIONS = ("to_device", "from_device", "both")
MEMORIES = ("pageable", "page-aligned", "pinned")
PAGE = 4096
METHODS = ("queued", "2-queues", "4-queues", "out-of-order", "blocking", "map", "migrate", "sub-buffer")
CHECKS = ("copies that arrived", "rates", "bytes", "write, execute, read", "times of commands", "launches")


@pytest.fixture(scope="module")
def transfer(tmp_path_factory):
    return Stream(tmp_path_factory.mktemp("transfer"), PROGRAM.with_name("fm_host_transfer"))


@pytest.fixture(scope="module")
def shares_memory(transfer):
    """Whether the first device has no memory of its own."""
    first = devices(transfer)[0]
    return first["class"] == "cpu" or first.get("emulated", False)


@pytest.fixture(scope="module")
def plain(transfer):
    return transfer.valid(
        "--largest", "16", "--overlap-bytes", "65536", "--repetitions", "4", "--ranks", "2"
    )  # fmt: skip


def expected_cases(sizes, methods, shares_memory, buffers=(1, 4, 16)):
    """What has to be measured: (direction, method, memory, bytes, buffers)."""
    cases = set()
    for size, direction, method in itertools.product(sizes, DIRECTIONS, methods):
        each_way = size // 2 if direction == "both" else size
        ways = [("page-aligned", 1)]
        if method in ("queued", "blocking"):
            ways = [(memory, 1) for memory in MEMORIES]
        elif method in ("map", "migrate"):
            ways = [(memory, 1) for memory in MEMORIES[:2]]
        elif method != "sub-buffer":
            ways = [("page-aligned", max(buffers))]
        if method in ("queued", "migrate"):
            ways += [("page-aligned", count) for count in buffers]
        if shares_memory and method in ("map", "migrate", "sub-buffer"):
            ways = []
        cases |= {
            (direction, method, memory, size, count)
            for memory, count in ways
            if each_way // count >= (PAGE if count > 1 else 1)
        }
    return cases


def found_cases(done):
    axes = ("direction", "method", "memory", "bytes", "buffers")
    found = [
        tuple(entry["axes"][name] for name in axes)
        for entry in done.document["measurements"]
        if entry["name"] == "bandwidth"
    ]
    assert len(found) == len(set(found))
    return set(found)


def in_a_row(size):
    """Transfers of which a sample is the mean; each is checked."""
    return 8 if size <= 65536 else 1


def failed(done):
    return {v["name"]: v["worst"] for v in done.document["verdicts"] if v["status"] == "failed"}


# Cases ----------------------------------------------------------------------------------------------------


def test_every_way_of_copying_is_measured(plain, shares_memory):
    sizes = [4**power for power in range(9)]
    assert found_cases(plain) == expected_cases(sizes, METHODS, shares_memory)
    assert [v["name"] for v in plain.document["verdicts"]] == [*CHECKS]
    if shares_memory:
        assert any("migrations" in note for note in plain.document["notes"])
    pages = 0
    for direction, _, _, size, count in found_cases(plain):
        ways = 2 if direction == "both" else 1
        pages += in_a_row(size) * ways * count * -(-size // ways // count // PAGE)
    checked = {v["name"]: v["checked"] for v in plain.document["verdicts"]}
    assert checked["copies that arrived"] == 2 * 4 * pages  # 2 ranks; 4 repetitions, each in full
    copied = sum(in_a_row(case[3]) * case[3] for case in found_cases(plain) if case[1] not in METHODS[-3:])
    assert checked["bytes"] == 2 * 4 * copied


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("variant", ["base", "throughput"])
def test_each_way_of_copying_is_valid_alone(transfer, shares_memory, method, variant):
    done = transfer.run(*SHORT, "--methods", method, "--variant", variant)
    expected = expected_cases((4096, 16384, 65536), (method,), shares_memory)
    if expected:
        assert done.code == 0, done.errors
        assert found_cases(done) == expected
    else:
        assert "migrations" in only_error(done, codes=(2,))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("memory", MEMORIES)
def test_each_direction_and_memory_is_valid_alone(transfer, direction, memory):
    done = transfer.valid(*SHORT, "--directions", direction, "--memories", memory, "--methods", "blocking")
    assert {case[:3] for case in found_cases(done)} == {(direction, "blocking", memory)}


def test_sizes_and_numbers_of_buffers_are_taken(transfer, shares_memory):
    words = ("--smallest", "13", "--largest", "18", "--step", "5", "--buffers", "2,32,256")
    done = transfer.valid(*words, "--methods", "queued", "--repetitions", "1", "--overlap-bytes", "4096")
    cases = expected_cases((2**13, 2**18), ("queued",), shares_memory, buffers=(2, 32, 256))
    # The list of buffers stands in place of the one buffer.
    cases -= {case for case in cases if case[2] == "page-aligned" and case[4] == 1}
    assert found_cases(done) == cases


@pytest.mark.full
@pytest.mark.parametrize("variant", ["base", "throughput"])
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_large_transfers_are_valid(transfer, variant, ranks):
    transfer.valid("--largest", "24", "--repetitions", "3", "--variant", variant, "--ranks", ranks)


@pytest.mark.parametrize("ranks", [3, pytest.param(8, marks=FULL)])
def test_ranks_in_one_process_are_valid(transfer, ranks):
    done = transfer.valid(*SHORT, "--ranks", ranks)
    assert all(
        len(m["samples"]["per_rank"]) == ranks for m in done.document["measurements"] if "derived" not in m
    )


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=FULL)])
def test_ranks_of_mpi_are_valid(transfer, ranks):
    done = transfer.valid(*SHORT, launcher=mpirun(ranks))
    assert done.document["environment"]["ranks"]["count"] == ranks


@pytest.mark.parametrize("memory", ["host-pointer", "svm"])
def test_the_option_memory_is_taken_or_refused_by_name(transfer, memory):
    done = transfer.run(*SHORT, "--memory", memory)
    if done.code != 0:
        assert memory == "svm" and "shared virtual memory" in only_error(done, codes=(2,))


@pytest.mark.parametrize("pieces", [4096, 4097, 70001])
def test_pieces_of_any_size_are_valid(transfer, pieces):
    words = ("--smallest", "12", "--largest", "12", "--repetitions", "2", "--overlap-bytes", pieces)
    for variant in ("base", "throughput"):
        done = transfer.valid(*words, "--variant", variant)
        (verdict,) = [v for v in done.document["verdicts"] if v["name"] == CHECKS[3]]
        assert verdict["checked"] == 2 * 2 * 8 * (pieces // 4)  # 2 repetitions of 2 orders


# Figures --------------------------------------------------------------------------------------------------


def test_a_rate_is_the_bytes_of_all_ranks_over_the_time_of_all(plain):
    for entry in plain.document["measurements"]:
        if entry["name"] != "bandwidth":
            continue
        per_rank = entry["samples"]["per_rank"]
        assert [len(repetitions) for repetitions in per_rank] == [4, 4]
        assert entry["work"] == {"amount": 2 * entry["axes"]["bytes"], "unit": "B"}
        rates = [entry["work"]["amount"] / seconds / 1e9 for seconds in samples.spans(entry)]
        for key, value in (
            ("best", max(rates)),
            ("minimum", min(rates)),
            ("median", statistics.median(rates)),
            ("mean", statistics.fmean(rates)),
            ("standard_deviation", statistics.stdev(rates)),
        ):
            assert entry[key] == pytest.approx(value), key


def test_the_speed_up_of_overlap_is_that_of_the_times(plain):
    times = {m["axes"]["order"]: m for m in plain.document["measurements"] if m["name"] == "pipeline_time"}
    (speed_up,) = [m for m in plain.document["measurements"] if m["name"] == "overlap_speed_up"]
    assert set(times) == {"serial", "overlapped"}
    for key in ("best", "median"):
        assert speed_up[key] == pytest.approx(times["serial"][key] / times["overlapped"][key])
    for entry in times.values():
        taken = [seconds * 1e3 for seconds in samples.spans(entry)]
        assert (entry["unit"], entry["better"]) == ("ms", "lower")
        assert entry["best"] == pytest.approx(min(taken))


def test_fifty_repetitions_are_the_default(transfer):
    words = ("--smallest", "12", "--largest", "12", "--overlap-bytes", "4096")
    done = transfer.valid(*words, "--methods", "queued")
    assert done.document["repetitions"]["count"] == 50


def test_the_timeline_has_the_transfers_and_the_kernels_that_touch_and_count(transfer):
    done = transfer.valid(*SHORT, "--timeline", "--ranks", "2")
    cases = {"/".join(map(str, case)) for case in found_cases(done)}
    seen = {(e["rank"], e["repetition"], e["operation"]) for e in done.document["timeline"]}
    assert seen == set(itertools.product(range(2), range(2), {"touch", "count_wrong", *cases}))
    kernels = {e["kernel"] for e in done.document["timeline"] if e["operation"] in cases}
    assert {"write", "read"} <= kernels
    for entry in done.document["timeline"]:
        assert 0 <= entry["queued"] <= entry["submitted"] <= entry["started"] <= entry["ended"]


# Faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["queued", "blocking"])
def test_copies_that_are_not_made_are_found_by_both_checks(transfer, method):
    done = transfer.run(*SHORT, "--methods", method, "--inject-fault", "lost")
    assert done.code == 1 and done.errors == ""
    found = failed(done)
    for name in ("copies that arrived", "bytes"):
        assert found[name]["place"] == f"to_device/{method}/pageable/4096/1"
        assert found[name]["place"] in done.output
    assert "write, execute, read" not in found


@pytest.mark.parametrize("repetition", [0, 1, 2])
def test_copies_lost_in_one_repetition_only_are_found(transfer, repetition):
    words = ("--largest", "8", "--step", "8", "--repetitions", "3", "--overlap-bytes", "4096")
    done = transfer.run(*words, "--inject-fault", f"lost#{repetition}")
    assert done.code == 1 and done.errors == ""
    found = {v["name"]: v for v in done.document["verdicts"] if v["status"] == "failed"}
    assert set(found) == {"copies that arrived", "bytes"}
    assert {v["repetition"] for v in found.values()} == {repetition}


@pytest.mark.parametrize("fault", ["lost:pipeline", "lost:pipeline#0", "lost:pipeline#1"])
def test_a_piece_that_the_pipeline_does_not_write_is_found(transfer, fault):
    words = ("--smallest", "12", "--largest", "12", "--repetitions", "3", "--overlap-bytes", "4096")
    done = transfer.run(*words, "--inject-fault", fault)
    assert done.code == 1 and done.errors == ""
    (verdict,) = [v for v in done.document["verdicts"] if v["status"] == "failed"]
    assert verdict["name"] == CHECKS[3]
    assert verdict["worst"]["actual"] == 4096 // 4, "of the last piece, first in the serial order"
    assert verdict["error"] == 2 * 4096 // 4, "in both orders"


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_one_lost_buffer_of_many_is_found_in_every_direction(transfer, direction):
    words = ("--buffers", "16", "--methods", "queued", "--memories", "page-aligned", "--smallest", "18")
    words = (*words, "--largest", "18", "--repetitions", "2", "--overlap-bytes", "4096")
    done = transfer.run(*words, "--directions", direction, "--inject-fault", "lost")
    assert done.code == 1
    found = failed(done)
    assert {"copies that arrived", "bytes"} <= set(found)
    lost_pages = 2**18 // 16 // PAGE  # of both directions half each
    assert found["copies that arrived"]["actual"] == lost_pages


@pytest.mark.parametrize("is_mpi", [False, True])
def test_copies_lost_on_one_rank_are_found_there(transfer, is_mpi):
    words, how = (*SHORT, "--inject-fault", "lost@1"), {"launcher": mpirun(2)} if is_mpi else {}
    done = transfer.run(*words, *(() if is_mpi else ("--ranks", "2")), **how)
    assert done.code == 1
    found = failed(done)
    assert {found[name]["rank"] for name in ("copies that arrived", "bytes")} == {1}


def test_a_rate_above_the_limit_of_the_link_is_invalid(transfer):
    done = transfer.run(*SHORT, "--link-gb-per-s", "0.001")
    assert done.code == 1 and done.errors == ""
    found = failed(done)
    assert set(found) == {"rates"}
    place = found["rates"]["place"]
    assert place.endswith(" in GB/s") and place in done.output
    direction = place.split("/")[0]
    limits = {"to_device": 0.001, "from_device": 0.001, "both": 0.002}
    assert found["rates"]["expected"] == pytest.approx(limits[direction])
    rates = [m for m in done.document["measurements"] if m["name"] == "bandwidth"]
    worst = max(m["maximum"] / limits[m["axes"]["direction"]] for m in rates)
    over = found["rates"]["actual"] / limits[direction]
    assert over >= worst * 0.999, "the worst of all repetitions, the warm-up too"


def test_a_limit_that_holds_is_no_fault(transfer):
    transfer.valid(*SHORT, "--link-gb-per-s", "10000")


# Bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, name",
    [
        (("--directions", "up"), "'up'"),
        (("--directions", "both,"), "directions"),
        (("--methods", "queued,fast"), "'fast'"),
        (("--methods", "queued,queued"), "twice"),
        (("--memories", "paged"), "'paged'"),
        (("--memories", "pinned pageable"), "memories"),
        (("--buffers", "3"), "buffers"),
        (("--buffers", "0"), "buffers"),
        (("--buffers", "1,512"), "512"),
        (("--buffers", "1,1"), "twice"),
        (("--buffers", ""), "--buffers"),
        (("--largest=-1",), "largest"),
        (("--bank", "0"), "--bank"),
        (("--bank=-2",), "bank"),
        (("--largest", "35"), "largest"),
        (("--smallest", "20", "--largest", "14"), "smallest"),
        (("--largest", "0", "--directions", "both"), "no transfer"),
        (("--memories", "pinned", "--methods", "4-queues"), "no transfer"),
        (("--buffers", "1,2", "--methods", "4-queues"), "no transfer"),
        (("--largest", "34"), "reduce largest"),
        (("--step", "0"), "step"),
        (("--link-gb-per-s=-1",), "link_gb_per_s"),
        (("--link-gb-per-s", "nan"), "link_gb_per_s"),
        (("--overlap-bytes", "100"), "overlap_bytes"),
        (("--inject-fault", "late"), "lost"),
        (("--inject-fault", "element"), "lost"),
        (("--inject-fault", "lost:a"), "lost"),
        (("--inject-fault", "lost@5"), "rank 5"),
    ],
)
def test_bad_input_ends_in_one_clear_line(transfer, words, name):
    few = () if "--largest" in words else ("--largest", "13")
    done = transfer.run(*few, "--repetitions", "1", *words, "--ranks", "2")
    assert name in only_error(done, codes=(2,))
    assert done.document is None


def test_bad_input_ends_in_one_clear_line_with_ranks_of_mpi(transfer):
    done = transfer.run("--methods", "fast", launcher=mpirun(2))
    assert "'fast'" in one_error(done, codes=(2,))

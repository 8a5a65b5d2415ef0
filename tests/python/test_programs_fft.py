"""The real fm_fft: valid for every shape, type and number of ranks, and every wrong result is found."""

import itertools
import resource

import pytest
from fft_checks import DIRECTIONS, FAULTS, TYPES, check_fault, check_points, check_work, verdicts
from stream_program import devices, mpirun, on_a_device, only_error
from thinned import some_of

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
VARIANTS = ("base", "throughput")
# Seven transforms of 64 points: nothing but 1 and 7 divides the batch.
SHORT = ("--log-size", "6", "--batch", "7", "--repetitions", "2")


@pytest.fixture(scope="module")
def fft(tmp_path_factory):
    return on_a_device(tmp_path_factory, "fft")


@pytest.fixture(scope="module")
def is_cpu(fft):
    return devices(fft)[0]["class"] == "cpu"


@pytest.fixture
def on_cpu(is_cpu):
    if not is_cpu:
        pytest.skip("for CPUs only")


# Batches --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "variant, data_type, log_size",
    [
        (variant, data_type, log_size) if (log_size == 8) == (data_type == "double") else
        pytest.param(variant, data_type, log_size, marks=FULL)
        for variant, data_type, log_size in itertools.product(VARIANTS, TYPES, (3, 8, 11))
    ],
)  # fmt: skip
def test_sizes_and_types_are_valid(fft, variant, data_type, log_size):
    words = ("--log-size", log_size, "--batch", 5, "--repetitions", 2, "--replications", 2)
    done = fft.run("--variant", variant, "--data-type", data_type, *words)
    if done.code == 0:
        check_points(done, 5 << log_size)
    else:
        assert data_type == "double" and data_type in only_error(done, codes=(2,))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_ranks_in_one_process_are_valid(fft, variant, ranks):
    done = fft.valid(*SHORT, "--variant", variant, "--ranks", ranks, "--replications", 3)
    check_points(done, 7 * 64 * ranks)


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=FULL), pytest.param(8, marks=FULL)])
def test_ranks_of_mpi_are_valid(fft, ranks):
    for variant in VARIANTS:
        check_points(fft.valid(*SHORT, "--variant", variant, launcher=mpirun(ranks)), 7 * 64 * ranks)


@FULL
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("data_type", TYPES)
def test_every_size_is_valid(fft, variant, data_type):
    for log_size in range(3, 18 if variant == "base" else 22):
        words = ("--log-size", log_size, "--batch", 3, "--repetitions", 1, "--replications", 2)
        check_points(fft.valid("--variant", variant, "--data-type", data_type, *words), 3 << log_size)


@FULL
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_the_whole_matrix_is_valid(fft, variant, data_type, ranks):
    for log_size, batch, replications in itertools.product((4, 9, 14), (1, 13), (1, 2, 16)):
        words = ("--log-size", log_size, "--batch", batch, "--replications", replications)
        words += ("--variant", variant, "--data-type", data_type, "--repetitions", 1)
        fft.valid(*words, "--ranks", ranks)
        if replications == 2:
            fft.valid(*words, launcher=mpirun(ranks))


@FULL
@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_every_length_of_vectors_is_valid(fft, on_cpu, vector_bytes):
    for log_size, data_type in itertools.product((5, 10), TYPES):
        words = ("--variant", "throughput", "--vector-bytes", vector_bytes, "--data-type", data_type)
        fft.valid(*words, "--log-size", log_size, "--batch", 3, "--repetitions", 1)


@pytest.mark.parametrize("log_size", [3, 11, *(pytest.param(n, marks=FULL) for n in (4, 5, 12, 20))])
def test_the_form_of_gpus_is_valid_on_every_device(fft, log_size):
    words = ("--variant", "throughput", "--form", "stages", "--log-size", log_size, "--repetitions", 1)
    for replications in (1, 2):
        check_points(fft.valid(*words, "--batch", 5, "--replications", replications), 5 << log_size)
    check_fault(fft.run(*words, "--batch", 2, "--inject-fault", "element"))


def test_passes_of_two_radices_are_valid(fft):
    """11 bits in passes of 3, 4 and 4; and a radix as large as what a work-group holds."""
    form = ("--variant", "throughput", "--form", "stages", "--tile-points", 64)
    words = (*form, "--log-size", 11, "--batch", 3, "--repetitions", 1)
    for data_type in TYPES:
        fft.valid(*words, "--data-type", data_type)
    fft.valid(*words, "--radix-points", 64)
    only_error(fft.run(*words, "--radix-points", 128), codes=(2,))


@pytest.mark.parametrize("memory", ["host-pointer", "svm"])
def test_every_kind_of_memory_is_valid_or_refused_by_name(fft, memory):
    for variant in VARIANTS:
        done = fft.run(*SHORT, "--variant", variant, "--memory", memory)
        assert done.code == 0 or "shared virtual memory" in only_error(done, codes=(2,))


# Figures --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_work_is_that_of_the_whole_batch_whatever_the_replications(fft, variant):
    """One that is divided by the replications once more, as in the closest peer, would be less."""
    for replications in (1, 2, 7, 16):
        done = fft.valid(*SHORT, "--variant", variant, "--ranks", 2, "--replications", replications)
        check_work(done, "performance", 5 * 64 * 6 * 7 * 2)
        check_work(done, "bandwidth", 2 * 64 * 8 * 7 * 2)
        check_points(done, 64 * 7 * 2)


def test_device_events_cover_the_timed_part_of_the_throughput_kernel(fft):
    """The best of some repetitions: the machine may be busy with other work."""
    words = ("--log-size", "11", "--batch", "6000", "--repetitions", "8", "--timeline", "--skip-validation")
    done = fft.run("--variant", "throughput", *words)
    assert done.code == 0
    for direction in DIRECTIONS:
        shares = []
        for repetition, seconds in enumerate(done.measurement(direction)["samples"]["per_rank"][0]):
            events = [
                event
                for event in done.document["timeline"]
                if (event["repetition"], event["operation"]) == (repetition, direction)
            ]
            shares.append(sum(event["ended"] - event["started"] for event in events) / seconds)
        assert 0.9 <= max(shares) <= 1


# Faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind, direction, variant", some_of(FAULTS, DIRECTIONS, VARIANTS))
def test_every_fault_is_found_and_placed(fft, variant, direction, kind):
    done = fft.run(*SHORT, "--variant", variant, "--inject-fault", f"{kind}:{direction}")
    check_fault(done, direction)
    if kind == "element":
        assert verdicts(done)[f"{direction} transforms"]["error"] > 500, "1000 eps of the largest"


@pytest.mark.parametrize(
    "data_type, log_size",
    [
        (data_type, log_size) if (data_type, log_size) in {("float", 3), ("double", 8)} else
        pytest.param(data_type, log_size, marks=FULL)
        for data_type, log_size in itertools.product(TYPES, (3, 8, 12, 17))
    ],
)  # fmt: skip
def test_faults_of_other_sizes_and_types_are_found(fft, data_type, log_size):
    for kind in FAULTS:
        words = ("--log-size", log_size, "--batch", 3, "--repetitions", 1, "--data-type", data_type)
        done = fft.run("--variant", "throughput", *words, "--inject-fault", kind)
        if done.code == 2:
            assert data_type == "double" and data_type in only_error(done)
        else:
            check_fault(done)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rank", [0, 1])
def test_a_fault_on_one_rank_alone_is_found_there(fft, direction, rank):
    done = fft.run(*SHORT, "--ranks", 2, "--inject-fault", f"element:{direction}@{rank}")
    assert check_fault(done, direction)[2] == rank


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("kind", [kind for kind in FAULTS if kind != "element"])
def test_a_fault_in_one_repetition_alone_is_found_there(fft, kind, direction):
    words = ("--log-size", "6", "--batch", "7", "--repetitions", "3")
    done = fft.run(*words, "--inject-fault", f"{kind}:{direction}#1")
    assert done.code == 1
    failed = {name: found for name, found in verdicts(done).items() if found["status"] == "failed"}
    assert set(failed) == {f"{direction} repetitions"}, "the last one is right"
    assert failed[f"{direction} repetitions"]["repetition"] == 1


@FULL
def test_a_fault_on_one_rank_of_mpi_is_found(fft):
    done = fft.run(*SHORT, "--inject-fault", "scale:inverse@1", launcher=mpirun(2))
    assert done.code == 1
    assert verdicts(done)["inverse transforms"]["worst"]["rank"] == 1


@pytest.mark.parametrize("log_size, batch", [(8, 1024), (18, 1)])
def test_what_several_threads_check_is_right_and_found(fft, log_size, batch):
    words = ("--variant", "throughput", "--log-size", log_size, "--batch", batch, "--repetitions", 2)
    check_points(fft.valid(*words), batch << log_size)
    point, transform, rank = check_fault(fft.run(*words, "--inject-fault", "element:inverse"), "inverse")
    assert point < 1 << log_size and transform < batch and rank == 0
    done = fft.run(*words, "--inject-fault", "swapped#0")
    assert {v["name"] for v in done.document["verdicts"] if v["status"] == "failed"} == {
        "forward repetitions"
    }


# The stack, bad input ----------------------------------------------------------------------------------


def test_the_largest_fits_the_stacks_whatever_their_limit(fft, on_cpu):
    """PoCL has delays and twiddle factors on the stacks of threads, which programs make large enough."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    words = ("--variant", "base", "--data-type", "double", "--batch", "1", "--repetitions", "1")
    try:
        resource.setrlimit(resource.RLIMIT_STACK, (2 << 20, hard))
        fft.valid(*words, "--replications", "1", "--log-size", "17")
        line = only_error(fft.run(*words, "--log-size", "18"), codes=(2,))
        assert "log_size = 18" in line and "give 17 or less" in line
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


BAD = {
    "too small": (("--log-size", "2"), "log_size = 2"),
    "beyond the range": (("--log-size", "31"), "log_size = 31"),
    "beyond the base kernel": (("--log-size", "18", "--variant", "base"), "variant base"),
    "one transform beyond the memory": (
        ("--log-size", "30", "--batch", "4", "--variant", "throughput"),
        "reduce log_size by",
    ),
    "a batch beyond the memory": (("--batch", "1073741824"), "batch = 1073741824"),
    "no batch": (("--batch", "0"), "batch = 0"),
    "half a transform": (("--batch", "1.5"), "batch"),
    "unknown type": (("--data-type", "half"), "data_type = half"),
    "unknown scope": (("--scope", "star"), "scope = star"),
    "unknown form": (("--form", "recursive"), "form = recursive"),
    "unknown transport": (("--transport", "cpu"), "transport = cpu"),
    "odd vectors": (("--vector-bytes", "24"), "vector_bytes = 24"),
    "no replications": (("--replications", "0"), "replications = 0"),
    "a fault elsewhere": (("--inject-fault", "element:a"), "use forward or inverse"),
    "a fault of messages": (("--inject-fault", "lost"), "no messages"),
    "a rank that is not there": (("--inject-fault", "element@7"), "rank 7"),
    "an option of another benchmark": (("--size", "100"), "--size"),
}


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=FULL) if "one transform" in what else what for what in BAD]
)
def test_bad_input_ends_in_one_clear_line(fft, what):
    words, name = BAD[what]
    small = () if "--log-size" in words else ("--log-size", "6")
    small += () if "--batch" in words else ("--batch", "7")
    for ranks in ("1", "2"):
        done = fft.run("--repetitions", "1", *small, *words, "--ranks", ranks)
        assert name in only_error(done, codes=(2,))
        assert done.document is None

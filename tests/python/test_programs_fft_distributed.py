"""The real fm_fft with one vector over all ranks: valid, and every wrong message and value is found."""

import re

import pytest
from fft_checks import DIRECTIONS, FAULTS, TYPES, check_fault, check_points, check_work, verdicts
from stream_program import ONE_WAY, devices, mpirun, on_a_device, one_error, only_error
from thinned import some_of

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
# One vector; the device's vectors of four floats make one of 1024 points fit eight ranks.
VECTOR = {"scope": "distributed", "variant": "throughput", "vector-bytes": 16, "log-size": 10}


@pytest.fixture(scope="module")
def fft(tmp_path_factory):
    return on_a_device(tmp_path_factory, "fft")


@pytest.fixture
def on_cpu(fft):
    if devices(fft)[0]["class"] != "cpu":
        pytest.skip("for CPUs only")


def one(**changes):
    """Options of one vector over all ranks."""
    settings = VECTOR | {"repetitions": 2} | {name.replace("_", "-"): changes[name] for name in changes}
    return tuple(word for name, value in settings.items() for word in (f"--{name}", value))


def test_work_of_one_vector_is_the_same_for_all_ranks(fft, on_cpu):
    for ranks in (1, 4):
        done = fft.valid(*one(ranks=ranks))
        check_work(done, "performance", 5 * 1024 * 10)
        check_points(done, 1024)


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_one_vector_is_valid_over_ranks_in_one_process(fft, on_cpu, ranks):
    check_points(fft.valid(*one(ranks=ranks)), 1024)


@pytest.mark.parametrize("ranks", [2, *(pytest.param(n, marks=FULL) for n in (4, 8))])
def test_one_vector_is_valid_over_ranks_of_mpi(fft, on_cpu, ranks):
    check_points(fft.valid(*one(), launcher=mpirun(ranks)), 1024)


# By the kernels of GPUs: one and several passes along an axis, of one and two radices, and both precisions.
STAGES = [
    (4, {"ranks": 4}), (9, {"ranks": 2, "data_type": "double"}), (10, {"ranks": 8, "tile_points": 64}),
    (11, {"ranks": 2, "tile_points": 16, "radix_points": 4}), (14, {"ranks": 4}), (17, {"ranks": 1}),
]  # fmt: skip


@pytest.mark.parametrize("log_size, settings", STAGES)
def test_one_vector_is_valid_by_the_kernels_of_gpus(fft, log_size, settings):
    words = one(form="stages", log_size=log_size, **settings)
    if "tile_points" not in settings:  # as small as a device may have them
        words = (*words, "--tile-points", 256, "--radix-points", 256)
    check_points(fft.valid(*words), 1 << log_size)


@pytest.mark.parametrize("kind", ["late", "swapped", "blank", "half", "flipped"])
def test_corrupted_messages_are_found_by_the_kernels_of_gpus(fft, kind):
    words = one(form="stages", tile_points=64, ranks=2, repetitions=1)
    assert fft.run(*words, "--inject-fault", kind).code == 1


def test_processes_share_one_vector_by_the_kernels_of_gpus(fft):
    fft.valid(*one(form="stages", tile_points=64), launcher=mpirun(2))


@FULL
@pytest.mark.parametrize("log_size", [4, 5, 7])
def test_one_vector_may_be_short_on_one_rank(fft, on_cpu, log_size):
    for data_type in TYPES:
        check_points(fft.valid(*one(log_size=log_size, data_type=data_type)), 1 << log_size)


@FULL
@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_one_vector_of_every_size_is_valid(fft, vector_bytes, data_type, ranks):
    for log_size in (14, 15, 17, 20):
        words = one(vector_bytes=vector_bytes, data_type=data_type, log_size=log_size)
        fft.valid(*words, "--ranks", ranks)
        if vector_bytes == 64:
            fft.valid(*words, launcher=mpirun(ranks))


@pytest.mark.parametrize("kind, direction", some_of(FAULTS[:4], DIRECTIONS))
def test_faults_of_one_vector_are_found_and_placed(fft, on_cpu, kind, direction):
    done = fft.run(*one(), *ONE_WAY, "--ranks", 2, "--inject-fault", f"{kind}:{direction}@1")
    point, transform, rank = check_fault(done, direction)
    assert (transform, rank) == (0, 1) and 512 <= point < 1024, "in the part of rank 1"


@pytest.mark.parametrize("kind, where", some_of(["late", "swapped", "blank", "half", "flipped"], ["", "@1"]))
def test_messages_of_one_vector_that_are_corrupted_are_found(fft, on_cpu, kind, where):
    done = fft.run(*one(), *ONE_WAY, "--ranks", 4, "--inject-fault", f"{kind}{where}")
    assert done.code == 1 and done.errors == ""
    found = verdicts(done)
    assert {found[f"{way} transforms"]["status"] for way in DIRECTIONS} == {"failed"}


@pytest.mark.parametrize("kind, repetition", some_of(["late", "swapped", "blank", "half"], [0, 1]))
def test_messages_that_are_corrupted_in_one_repetition_are_found_there(fft, on_cpu, kind, repetition):
    done = fft.run(*one(ranks=2, repetitions=3, inject_fault=f"{kind}#{repetition}"), *ONE_WAY)
    assert done.code == 1 and done.errors == ""
    failed = {name: found for name, found in verdicts(done).items() if found["status"] == "failed"}
    assert set(failed) == {f"{way} repetitions" for way in DIRECTIONS}, "the last one is right"
    assert {found["repetition"] for found in failed.values()} == {repetition}


@pytest.mark.parametrize("where", ["", "@1"])
def test_a_lost_message_of_one_vector_ends_in_one_line(fft, on_cpu, where):
    words = (*one(), *ONE_WAY, "--ranks", 2, "--timeout", "0.5")
    done = fft.run(*words, "--inject-fault", f"lost{where}")
    assert re.search(r"message of 2048 bytes from rank \d in 0.5 s", only_error(done, codes=(3,)))
    assert done.document is None


def test_a_rank_that_sends_nothing_ends_in_one_line(fft, on_cpu):
    words = (*one(), *ONE_WAY, "--ranks", 2, "--timeout", "0.5")
    done = fft.run(*words, "--inject-fault", "dead@1")
    assert re.search(r"message of 2048 bytes from rank 1 in 0.5 s", only_error(done, codes=(3,)))


@FULL
def test_a_lost_message_of_mpi_ends_in_one_line(fft, on_cpu):
    words = (*one(), "--timeout", "1", "--inject-fault", "lost@1")
    assert "from rank 1" in one_error(fft.run(*words, launcher=mpirun(2)), codes=(3,))


@pytest.mark.parametrize(
    "words, name",
    [
        ({"ranks": 3}, "3 ranks"),
        ({"ranks": 6}, "6 ranks"),
        ({"ranks": 2, "inject_fault": "late:forward"}, "'forward'"),
        ({"inject_fault": "late"}, "one rank"),
        pytest.param({"ranks": 8, "log_size": 9}, "too few for 8 ranks", marks=FULL),
        ({"ranks": 16}, "too few for 16 ranks"),
        pytest.param({"log_size": 3}, "too few for 1 rank,", marks=FULL),
        ({"ranks": 2, "variant": "base", "vector_bytes": 64, "log_size": 6}, "throughput kernel"),
        ({"ranks": 16, "form": "stages", "log_size": 7}, "too few for 16 ranks"),
        ({"ranks": 2, "inject_fault": "lost:a"}, "'a'"),
        pytest.param({"ranks": 2, "log_size": 30}, "log_size = 30", marks=FULL),
    ],
)
def test_a_vector_that_cannot_be_divided_is_refused_in_one_line(fft, on_cpu, words, name):
    done = fft.run(*one(**words))
    assert name in only_error(done, codes=(2,))
    assert done.document is None


def test_three_processes_are_refused_in_one_line(fft, on_cpu):
    """A program that goes on waits forever for the ranks of a larger power of two."""
    assert "3 ranks" in one_error(fft.run(*one(), launcher=mpirun(3)), codes=(2,))

"""The transport over a site's own MPI: what MPI gets of messages in device memory, and which MPI is refused.

`libdevice_aware_mpi.so` plays an MPI that takes memory objects of OpenCL, and writes down what it got.
"""

import collections
import re
from dataclasses import dataclass

import pytest
from b_eff_program import failed
from stream_program import REPOSITORY, Stream, mpirun, on_a_cpu, one_error, only_error

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
LIBRARY = REPOSITORY / "build" / "release" / "tests" / "unit" / "libdevice_aware_mpi.so"
HALF_BYTES = 2**22  # of the memory that b_eff's messages leave from
CHECKED_BYTES = 8  # of the message that shows whether MPI takes what it gets, from a device and to one
OVER_MPI = ("--transport", "mpi", "--repetitions", "1")
PROGRAMS = {
    "b_eff": ("--largest", "12", "--messages", "3"),
    "ptrans": ("--size", "128", "--block-size", "16"),
    "hpl": ("--size", "128", "--block-size", "32"),
    "fft": ("--scope", "distributed", "--variant", "throughput", "--vector-bytes", "16", "--log-size", "10"),
}
MEMORIES = {"handle": (), "svm": ("--memory", "svm")}
RARELY = {("b_eff", "handle"), ("b_eff", "svm"), ("hpl", "svm"), ("fft", "svm")}  # others see the same


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return on_a_cpu(tmp_path_factory, PROGRAMS, LIBRARY)


@dataclass
class Got:
    """A message as MPI got it; `room` is the size of the allocation or memory object, 0 for other memory."""

    direction: str
    what: str
    offset: int
    room: int
    bytes: int


def run(program, name, *words, takes="handles", ranks=2):
    """On ranks of MPI that take so much, and what each got."""
    log = program.new_file(".log")
    variables = [f"LD_PRELOAD={LIBRARY}", f"FABRICMARK_MPI_TAKES={takes}", f"FABRICMARK_MPI_LOG={log}"]
    done = program.run(*PROGRAMS[name], *OVER_MPI, *words, launcher=[*mpirun(ranks), "env", *variables])
    logs = [log.with_name(f"{log.name}.{rank}") for rank in range(ranks)]
    got = []
    for one in logs:
        lines = one.read_text().splitlines() if one.exists() else []
        got.append([Got(way, what, *map(int, rest)) for way, what, *rest in map(str.split, lines)])
    return done, got


def assert_valid(done):
    assert done.code == 0, done.errors
    assert {verdict["status"] for verdict in done.document["verdicts"]} == {"passed"}


@pytest.mark.parametrize(
    "name, memory",
    [
        pytest.param(name, memory, marks=[FULL] if (name, memory) in RARELY else [])
        for name in PROGRAMS
        for memory in MEMORIES
    ],
)
def test_mpi_gets_the_devices_memory_itself(programs, name, memory):
    takes = "handles" if memory == "handle" else "nothing"  # SVM goes over the MPI as it is
    done, got = run(programs[name], name, *MEMORIES[memory], takes=takes)
    assert_valid(done)
    for messages in got:
        on_host = [one for one in messages if one.what == "host" and one.bytes]
        of_check = sorted((one.direction, one.bytes) for one in on_host)
        if name != "hpl":  # which solves on the hosts
            assert of_check == [("receive", CHECKED_BYTES), ("send", CHECKED_BYTES)]
        own = [one for one in messages if one.what != "host"]
        assert {one.what for one in own} == {memory}
        assert {one.direction for one in own} == {"send", "receive"}
        for one in own:
            start = 0 if memory == "handle" else one.offset  # a message begins where its handle's view does
            assert start + one.bytes <= one.room


@pytest.mark.parametrize("memory", MEMORIES)
def test_messages_have_the_bytes_and_the_places_of_the_ring(programs, memory):
    """Three messages of each size to both neighbours, one behind the other in a half of the memory each."""
    takes = "handles" if memory == "handle" else "nothing"
    done, got = run(programs["b_eff"], "b_eff", *MEMORIES[memory], takes=takes)
    assert_valid(done)
    sizes = [2**power for power in range(13)]
    for messages in got:
        sent = [one for one in messages if one.direction == "send" and one.what == memory]
        counted = collections.Counter(one.bytes for one in sent)
        counted[CHECKED_BYTES] -= 1
        assert sorted(counted) == sizes
        assert len(set(counted.values())) == 1
        # Before the memory lies its guard zone: of some it is a part of what the handle means.
        start = min(one.offset for one in sent if one.bytes in sizes[8:])
        for size in sizes[8:]:  # larger than any alignment
            places = {one.offset - start for one in sent if one.bytes == size}
            assert places == {half + number * size for half in (0, HALF_BYTES) for number in range(3)}


def test_ranks_of_three_processes_gather_and_broadcast_over_it(tmp_path_factory, programs):
    program = Stream(
        tmp_path_factory.mktemp("collective"), programs["b_eff"].program.with_name("fm_collective")
    )
    if not program.program.exists():
        pytest.skip("fm_collective is not built")
    variables = [f"LD_PRELOAD={LIBRARY}", "FABRICMARK_MPI_TAKES=handles"]
    for operation in ("all_gather", "broadcast", "all_to_all"):
        words = (operation, "--transport", "mpi", "--sizes", "1KiB", "--repetitions", "1", "--ranks", "3")
        done = program.start(*words, launcher=[*mpirun(3), "env", *variables])
        assert done.code == 0, done.errors
        assert "valid" in done.output


def test_an_mpi_that_takes_no_memory_objects_is_refused_by_its_name(programs):
    program = programs["b_eff"]
    line = one_error(program.run(*OVER_MPI, launcher=mpirun(2)), codes=(3,))
    assert re.search(r"error: \S.* does not take memory objects of OpenCL; ", line)
    assert "--memory svm" in line and "--transport host" in line
    library = re.search(r"error: (.*) does not take", line)[1]
    valid = program.valid(*PROGRAMS["b_eff"], *OVER_MPI, "--memory", "svm", launcher=mpirun(2))
    assert library == valid.document["environment"]["ranks"]["mpi_library"]


def test_an_mpi_that_reads_but_does_not_write_them_is_refused_too(programs):
    done, _ = run(programs["b_eff"], "b_eff", takes="sends")
    assert "MPI of the tests does not take memory objects" in one_error(done, codes=(3,))


@pytest.mark.parametrize("says", ["0", "1"])
def test_mpi_is_asked_whether_it_takes_pointers_of_gpus(programs, says):
    program = programs["b_eff"]
    asked = Stream(program.folder, program.program.with_name("communicator_mpi"))
    launcher = [*mpirun(1), "env", f"LD_PRELOAD={LIBRARY}", f"FABRICMARK_MPI_CUDA={says}"]
    if "-q" not in launcher:
        pytest.skip("the library of the tests answers for Open MPI only")
    done = asked.start("takes", launcher=launcher)
    assert done.code == 0, done.errors
    assert done.output.strip() == f"{says}00"


@pytest.mark.parametrize("words", [(), ("--ranks", "2"), ("--ranks", "2", "--memory", "svm")])
def test_ranks_that_are_no_processes_are_refused(programs, words):
    line = only_error(programs["b_eff"].run(*OVER_MPI, *words), codes=(2,))
    assert f"mpirun -n {words[1] if words else 1}" in line


def test_pointers_of_a_device_whose_memory_is_the_hosts_are_refused(programs):
    words = ("--memory", "svm", "--svm-pointers", "device")
    done = programs["b_eff"].run(*OVER_MPI, *words, launcher=mpirun(2))
    assert "--svm-pointers mapped" in one_error(done, codes=(2,))


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize(
    "fault", ["flipped@1", pytest.param("blank@0", marks=FULL), pytest.param("late@1", marks=FULL)]
)
def test_a_wrong_message_is_found(programs, memory, fault):
    takes = "handles" if memory == "handle" else "nothing"
    words = (*MEMORIES[memory], "--inject-fault", fault)
    done, _ = run(programs["b_eff"], "b_eff", *words, takes=takes)
    assert done.code == 1, done.errors
    assert failed(done)


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("name", [pytest.param("ptrans", marks=FULL), pytest.param("hpl", marks=FULL), "fft"])
def test_a_wrong_message_is_found_in_results(programs, name, memory):
    takes = "handles" if memory == "handle" else "nothing"
    words = (*MEMORIES[memory], "--inject-fault", "blank@1")
    done, _ = run(programs[name], name, *words, takes=takes)
    assert done.code == 1, done.errors


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_lost_message_ends_in_one_line_that_names_the_rank(programs, memory):
    takes = "handles" if memory == "handle" else "nothing"
    words = (*MEMORIES[memory], "--inject-fault", "lost@1", "--timeout", "1")
    done, _ = run(programs["b_eff"], "b_eff", *words, takes=takes)
    assert re.search(r"message of 1 bytes from rank \d in 1 s", one_error(done, codes=(3,)))

"""Messages from GPU to GPU: `libpeer_gpu.so` gives a CPU's device what they need of OpenCL and CUDA's driver.

Its memory is a file that processes share, so that bytes which arrive have gone the way that they go on GPUs.
"""

import re

import pytest
from b_eff_program import failed
from conftest import REPOSITORY
from stream_program import PEER_GPU, Stream, mpirun, on_a_cpu, one_error, only_error

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
KERNELS = REPOSITORY / "kernels"
OVER_NVLINK = ("--transport", "nvlink", "--repetitions", "1")
PROGRAMS = {
    "b_eff": ("--largest", "12", "--messages", "3"),
    "ptrans": ("--size", "128", "--block-size", "16", "--variant", "throughput"),
    "hpl": ("--size", "128", "--block-size", "32", "--variant", "throughput"),
    "fft": ("--scope", "distributed", "--variant", "throughput", "--vector-bytes", "16", "--log-size", "10"),
    "shallow_water": ("--mesh", "bay:2000", "--variant", "throughput"),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return on_a_cpu(tmp_path_factory, PROGRAMS, PEER_GPU)


def run(program, *words, wrong="", ranks=2, **how):
    """On ranks of MPI; `wrong` is what goes wrong with the GPU. Ranks of one process where `ranks` is 0."""
    variables = {"LD_PRELOAD": str(PEER_GPU), "FABRICMARK_PEER_GPU": wrong}
    if ranks == 0:
        return program.run(*words, variables=variables, **how)
    pairs = [f"{name}={value}" for name, value in variables.items()]
    return program.run(*words, launcher=[*mpirun(ranks), "env", *pairs], **how)


def assert_valid(done, memory="peer"):
    assert done.code == 0, done.errors
    assert {verdict["status"] for verdict in done.document["verdicts"]} == {"passed"}
    assert done.document["parameters"]["memory"] == memory


@pytest.mark.parametrize("name", PROGRAMS)
def test_messages_between_two_processes(programs, name):
    assert_valid(run(programs[name], *PROGRAMS[name], *OVER_NVLINK))


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ("hpl", "fft")])
def test_messages_between_three_processes(programs, name):
    assert_valid(run(programs[name], *PROGRAMS[name], *OVER_NVLINK, ranks=3))


@pytest.mark.parametrize(
    "name", [name if name != "hpl" else pytest.param(name, marks=FULL) for name in PROGRAMS]
)
def test_memory_that_other_gpus_do_not_reach_goes_through_windows(programs, name):
    done = run(programs[name], *PROGRAMS[name], *OVER_NVLINK, "--memory", "buffer")
    assert_valid(done, memory="buffer")


@pytest.mark.parametrize("ranks", [1, 2, pytest.param(4, marks=FULL)])
def test_messages_between_ranks_of_a_process(programs, ranks):
    assert_valid(run(programs["b_eff"], *PROGRAMS["b_eff"], *OVER_NVLINK, "--ranks", str(ranks), ranks=0))


@pytest.mark.parametrize("operation", ["all_to_all", "all_reduce", pytest.param("all_gather", marks=FULL)])
def test_collective_operations(tmp_path_factory, programs, operation):
    program = Stream(
        tmp_path_factory.mktemp("collective"), programs["b_eff"].program.with_name("fm_collective")
    )
    words = (operation, "--transport", "nvlink", "--sizes", "1MiB", "--repetitions", "1", "--ranks", "3")
    done = program.start(*words, variables={"LD_PRELOAD": str(PEER_GPU)})
    assert done.code == 0, done.errors
    assert "valid" in done.output


def test_a_micro_benchmark(tmp_path_factory, programs):
    program = Stream(tmp_path_factory.mktemp("micro"), programs["b_eff"].program.with_name("fm_latency"))
    words = ("--transport", "nvlink", "-m", "1:65536", "-i", "20", "-x", "2", "-c", "D", "D")
    done = program.start(*words, launcher=[*mpirun(2), "env", f"LD_PRELOAD={PEER_GPU}"])
    assert done.code == 0, done.errors
    assert re.search(r"^65536\s.*Pass", done.output, re.MULTILINE), done.output


def test_a_copy_that_moves_nothing_is_found(programs):
    for name in ("b_eff", "ptrans"):
        done = run(programs[name], *PROGRAMS[name], *OVER_NVLINK, wrong="lost")
        assert done.code == 1, done.errors
        if name == "b_eff":
            assert failed(done)


@pytest.mark.parametrize("fault", ["flipped@1", pytest.param("lost@0", marks=FULL)])
def test_faults_of_messages_are_found(programs, fault):
    done = run(programs["b_eff"], *PROGRAMS["b_eff"], *OVER_NVLINK, "--inject-fault", fault, "--timeout", "2")
    assert done.code != 0


def test_a_copy_without_an_end_is_named(programs):
    line = one_error(
        run(programs["b_eff"], *PROGRAMS["b_eff"], *OVER_NVLINK, "--timeout", "1", wrong="endless"),
        codes=(3,),
    )
    assert "no sign of a message of 1 bytes" in line


@pytest.mark.parametrize(
    "wrong, words",
    [
        ("missing", "CUDA's driver (libcuda.so.1) has no GPU that is"),
        ("other", "CUDA's driver (libcuda.so.1) has no GPU that is"),
        ("full", "bytes that other GPUs reach; choose a smaller size"),
        ("apart", "cuMemImportFromShareableHandle failed with CUDA_ERROR_OF_THE_TEST"),
    ],
)
def test_what_the_driver_refuses_is_one_line(programs, wrong, words):
    assert words in one_error(run(programs["b_eff"], *OVER_NVLINK, wrong=wrong), codes=(3,))


def test_a_device_without_such_memory_is_refused(programs):
    line = only_error(programs["b_eff"].run(*OVER_NVLINK), codes=(2,))
    assert "offers no memory that other GPUs reach; use --memory buffer and --transport host" in line


def test_shared_virtual_memory_is_refused(programs):
    line = one_error(run(programs["b_eff"], *OVER_NVLINK, "--memory", "svm"), codes=(2,))
    assert "the transport nvlink does not move shared virtual memory; use --memory peer or buffer" in line


def test_peer_memory_goes_over_the_host_too(programs):
    done = run(programs["b_eff"], *PROGRAMS["b_eff"], "--memory", "peer", "--repetitions", "1")
    assert_valid(done)


def test_a_rank_that_is_stuck_is_named(programs):
    done = run(
        programs["b_eff"],
        *PROGRAMS["b_eff"],
        *OVER_NVLINK,
        "--inject-fault",
        "stop:timed@1",
        "--timeout",
        "3",
    )
    assert done.code == 3, done.errors
    assert "rank 1" in done.errors


def test_kernels_that_read_other_ranks_memory_make_the_same_matrix(programs):
    digests = set()
    for one_sided in ("true", "false"):
        done = run(programs["ptrans"], *PROGRAMS["ptrans"], *OVER_NVLINK, "--one-sided", one_sided)
        assert_valid(done)
        read = any("kernels read them from other ranks' memory" in note for note in done.document["notes"])
        assert read == (one_sided == "true")
        digests.add(done.digest)
    assert len(digests) == 1


def test_kernels_that_cannot_read_other_ranks_memory_are_refused(programs):
    words = ("--transport", "host", "--one-sided", "true")
    line = one_error(run(programs["ptrans"], *PROGRAMS["ptrans"], *words), codes=(2,))
    assert "kernels of the variant throughput do not read other ranks' memory over host" in line


def shallow_water(programs, *words, transport=OVER_NVLINK, **how):
    program = programs["shallow_water"]
    return run(program, *PROGRAMS["shallow_water"], *transport, "--one-sided", "true", *words, **how)


@pytest.mark.parametrize(
    "ranks, words",
    [(2, ()), pytest.param(3, ("--order", "1", "--data-type", "double"), marks=FULL)],
)
def test_kernels_write_halos_to_other_ranks_memory(programs, ranks, words):
    done = shallow_water(programs, *words, ranks=ranks)
    assert_valid(done)
    assert any(note.startswith("halos: kernels write them to") for note in done.document["notes"])


WRONG_PUTS = {
    "nothing is written": ("if (i < first + count) ", "if (i < first + count && number < 3) "),
    "no flag is raised": ("left, number);", "left, min(number, 4u));"),
}


def with_wrong_put(folder, what):
    """A kernel whose `put` is wrong."""
    text = (KERNELS / "shallow_water" / "throughput.cl").read_text()
    include = '#include "shallow_water/put.h"'
    old, new = WRONG_PUTS[what]
    put = (KERNELS / "shallow_water" / "put.h").read_text()
    assert include in text and old in put
    path = folder / "wrong.cl"
    path.write_text(text.replace(include, put.replace(old, new)))
    return path


@pytest.mark.parametrize("what", ["nothing is written", pytest.param("no flag is raised", marks=FULL)])
def test_halos_that_do_not_come_are_found(programs, tmp_path, what):
    done = shallow_water(programs, "--kernel-file", with_wrong_put(tmp_path, what), "--timeout", "3")
    if what == "no flag is raised":
        assert done.code == 3 and "no sign of a halo of rank" in done.errors, done.errors
    else:
        names = {verdict["name"] for verdict in done.document["verdicts"] if verdict["status"] == "failed"}
        assert done.code == 1 and any("halo" in name for name in names), names


def test_halos_that_kernels_cannot_write_are_refused(programs):
    said = "--one-sided true: kernels do not reach other ranks' memory over"
    line = one_error(shallow_water(programs, transport=("--transport", "host")), codes=(2,))
    assert f"{said} host between mpi ranks" in line
    line = one_error(shallow_water(programs, "--ranks", "2", ranks=0), codes=(2,))
    assert f"{said} nvlink between in-process ranks" in line

"""Each call of MPI fails once, in each program: it ends in one line, with exit code 3, by no signal."""

import random
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from omb_programs import ALL, LIBRARIES, PROGRAM
from small_runs import SMALL_RUNS
from stream_program import Stream, devices, error_lines, mpirun, one_error

pytestmark = pytest.mark.programs
FAILING = LIBRARIES / "libfailing_mpi.so"
OMB = ("-m", "64:64", "-i", "3", "-x", "1", "-W", "4")
PROGRAMS = {
    **{name: (*words, "--repetitions", "1") for name, words in SMALL_RUNS.items()},
    **dict.fromkeys(ALL, OMB),
    "collective": ("all_reduce", "--transport", "cpu", "--sizes", "64:64"),
    "tune": ("--transport", "cpu", "--largest", "64", "--rounds", "1", "--seconds", "0", "--no-keep"),
    "b_eff": ("--largest", "4", "--messages", "2", "--repetitions", "1", "--warmup", "0"),
}
# Long messages, that are on their way when another call fails.
LONG = {"bibw": ("-m", "1048576:1048576", "-i", "3", "-x", "1", "-W", "8")}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    if not FAILING.exists():
        pytest.skip("libfailing_mpi.so is not built")
    folder = tmp_path_factory.mktemp("failing")
    made = {name: Stream(folder, PROGRAM.with_name(f"fm_{name}")) for name in PROGRAMS}
    devices(made["stream"])
    return made


def run(program, words, kind, calls, rank=0):
    variables = {"FABRICMARK_FAILING_MPI": f"{kind}@{rank}", "FABRICMARK_FAILING_CALLS": calls}
    launcher = [*mpirun(2), "env", f"LD_PRELOAD={FAILING}"]
    return program.start(*words, "--timeout", "2", launcher=launcher, variables=variables)


def check(program, words, call, number, rank):
    done = run(program, words, "fail", f"{call}:{number}:{number}:1", rank)
    what = (program.program.name, call, number, rank, done.code, done.errors)
    assert "Signal" not in done.errors and "signal" not in done.errors, what
    assert done.code in (0, 3), what  # 0: of a call at the end, behind all that counts
    if done.code == 3:
        assert len(error_lines(done)) == 1, what


# The first is the one that crashed.
SOME = [
    ("bibw", OMB, "Isend", 14, 1),
    ("bibw", LONG["bibw"], "Isend", 20, 0),
    ("mbw_mr", OMB, "Waitall", 3, 1),
    ("ibcast", OMB, "Wait", 2, 1),
    ("latency", OMB, "Comm_dup", 1, 0),
    ("ptrans", PROGRAMS["ptrans"], "Isend", 9, 1),
    ("ptrans", PROGRAMS["ptrans"], "Test", 100_000, 1),  # a look that fails, of a message that comes after it
    ("stream", PROGRAMS["stream"], "Init_thread", 1, 1),
]


def test_a_call_that_fails_ends_the_run_in_one_line(programs):
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(lambda case: check(programs[case[0]], *case[1:]), SOME))


@pytest.mark.full
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_call_that_fails_ends_the_run_in_one_line(programs, name):
    """The first, the last and one between of each name, on both ranks."""
    chance = random.Random(name)
    for words in (PROGRAMS[name], *([LONG[name]] if name in LONG else [])):
        for rank in (0, 1):
            counted = run(programs[name], words, "count", "none:1:0:1", rank)
            assert counted.code == 0, counted.errors
            calls = re.findall(r"calls: (\w+) (\d+)", counted.errors)
            for call, count in calls:
                numbers = {1, int(count), chance.randint(1, int(count))}
                for number in sorted(numbers if call != "data" else ()):
                    check(programs[name], words, call, number, rank)


def test_a_process_that_never_comes_to_mpi_ends_the_others(programs):
    launcher = [*mpirun(1), "sleep", "100", ":", "-n", "1"]
    done = programs["latency"].start("--timeout", "1", launcher=launcher)
    assert "MPI has not started on all ranks" in one_error(done, codes=(3,))

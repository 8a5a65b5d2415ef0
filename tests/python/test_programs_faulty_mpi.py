"""The communicator over MPI: its calls, a message of 3 GiB, and MPI libraries that do one call wrong."""

import random
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from fabricmark import results
from stream_program import PROGRAM, REPOSITORY, error_lines, mpirun, on_a_cpu

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
LIBRARY = REPOSITORY / "build" / "release" / "tests" / "unit" / "libfaulty_mpi.so"
PROTOCOL = PROGRAM.with_name("communicator_mpi")
PROGRAMS = {
    "stream": ("--size", "1000"),
    "ptrans": ("--size", "64", "--block-size", "16"),
    "hpl": ("--size", "128", "--block-size", "32", "--data-type", "double", "--refinement", "gmres"),
    "fft": ("--scope", "distributed", "--variant", "throughput", "--vector-bytes", "16", "--log-size", "10"),
}
TIME_OUT = 1
LONGEST = TIME_OUT + 10 + 3  # s; mpirun itself takes up to three
KINDS = ("drop", "truncate", "delay", "fail")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return on_a_cpu(tmp_path_factory, PROGRAMS, LIBRARY)


def run(program, name, fault, **how):
    """On two ranks of MPI, of which one has a fault."""
    variables = {"FABRICMARK_FAULTY_MPI": fault, "FABRICMARK_FAULTY_MPI_DELAY": str(how.get("delay", 1))}
    # Only the ranks load the library, not mpirun.
    launcher = [*mpirun(2), "env", f"LD_PRELOAD={LIBRARY}"]
    path = program.folder / f"{fault}-{how.get('delay', 1)}.json"
    words = (*PROGRAMS[name], "--repetitions", "1", "--timeout", how.get("timeout", TIME_OUT), "--json", path)
    done = program.start(*words, launcher=launcher, variables=variables)
    if path.exists():
        done.document = results.load(path).document
        path.unlink()
    return done


@pytest.fixture(scope="module")
def healthy(programs):
    """What a run says without a fault, and how many calls rank 1 makes in it."""
    found = {}
    for name, program in programs.items():
        done = run(program, name, "count:0@1", timeout=60)  # on a busy machine its ranks wait for each other
        assert done.code == 0, done.errors
        found[name] = (done, int(re.search(r"calls: (\d+)", done.errors)[1]))
    return found


def checked(done):
    return {verdict["name"]: verdict["checked"] for verdict in done.document["verdicts"]}


def works(done):
    return [(m["name"], m["axes"], m.get("work")) for m in done.document["measurements"]]


def check(name, program, fault, delay, healthy):
    start = time.monotonic()
    done = run(program, name, fault, delay=delay)
    seconds = time.monotonic() - start
    what = (name, fault, delay, done.code, done.errors)
    assert seconds < LONGEST + delay, what
    # What goes wrong behind the last step leaves a result that is right, and says so in the exit code.
    if done.code == 0 or (done.document and done.document["run"]["exit_code"] == 0):
        right = healthy[name][0]
        assert checked(done) == checked(right) and works(done) == works(right), what
    if done.code != 0:
        lines = error_lines(done)
        # A wrong result is no error; and where not all ranks have started, only the first speaks.
        has_started = ":1@1" not in fault
        assert done.code == 1 or len(lines) == 1 or not has_started, what


def faults(count, seed, healthy):
    chance = random.Random(seed)
    for number in range(count):
        name = list(PROGRAMS)[number % len(PROGRAMS)]
        kind = KINDS[number // len(PROGRAMS) % len(KINDS)]
        call = chance.randint(1, healthy[name][1])
        yield name, f"{kind}:{call}@{chance.randint(0, 1)}", chance.choice((0.3, 8)) if kind == "delay" else 0


@pytest.mark.parametrize("seed, count", [(1, 8), pytest.param(2, 200, marks=FULL)])
def test_one_wrong_call_of_mpi_ends_the_run_or_changes_nothing(programs, healthy, seed, count):
    cases = list(faults(count, seed, healthy))
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(lambda case: check(case[0], programs[case[0]], *case[1:], healthy), cases))


@pytest.mark.parametrize("ranks", [3, 4, *(pytest.param(n, marks=FULL) for n in (1, 2, 5, 8))])
def test_the_communicator_over_mpi(programs, ranks):
    done = type(programs["stream"])(programs["stream"].folder, PROTOCOL).start(launcher=mpirun(ranks))
    assert (done.code, done.errors) == (0, "")


@FULL
def test_a_message_of_three_gibibytes_arrives(programs):
    done = type(programs["stream"])(programs["stream"].folder, PROTOCOL).start("large", launcher=mpirun(2))
    assert (done.code, done.errors) == (0, "")

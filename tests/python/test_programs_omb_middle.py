"""An MPI library that is wrong in one of twenty iterations, in the middle: found without -c in every
micro-benchmark that the build lists."""

import json

import pytest
from omb_programs import BARRIERS, LIBRARIES, PAIRS, PROGRAM, Programs
from stream_program import error_lines, mpirun

pytestmark = pytest.mark.programs
FAILING = LIBRARIES / "libfailing_mpi.so"
LISTED = PROGRAM.parents[1] / "micro" / "fm_omb.json"
ITERATIONS = 100
WINDOW = 4
# What goes wrong, of calls that there are; a program that no row names has those of the operations.
OF_MESSAGES = ("flip", "zero", "stale", "near", "swap", "empty", "short", "tag", "dest")
OF_OPERATIONS = ("noop", "flip", "zero", "stale", "near", "swap")
ROOTED = ("bcast",)  # of which all ranks can be the root
SUMS = ("reduce", "allreduce", "reduce_scatter")


def faults(name):
    if name in PAIRS:
        return OF_MESSAGES
    if name in BARRIERS:
        return ("noop",)
    bare = name.removeprefix("i")
    return OF_OPERATIONS + ("root",) * (bare in ROOTED) + ("max",) * (bare in SUMS)


def window(name):
    return WINDOW if name in ("bw", "bibw", "mbw_mr") else 1


@pytest.fixture(scope="module")
def omb(tmp_path_factory):
    if not FAILING.exists():
        pytest.skip("libfailing_mpi.so is not built")
    return Programs(tmp_path_factory.mktemp("omb"))


def run(program, kind, calls, *words, rank=-1):
    variables = {"FABRICMARK_FAILING_MPI": f"{kind}@{rank}", "FABRICMARK_FAILING_CALLS": calls}
    launcher = [*mpirun(2), "env", f"LD_PRELOAD={FAILING}"]
    words = ("-m", "1024:1024", "-i", ITERATIONS, "-x", 5, "-W", WINDOW, "-T", "mpi_float", *words)
    return program.run(*words, "--timeout", 10, launcher=launcher, variables=variables)


def middle(name):
    """Calls of 5 % of the iterations: there are more than 200 with those that are checked."""
    width = window(name)
    calls = "data"
    if name in BARRIERS:
        calls = "Ibarrier" if name.startswith("i") else "Barrier"
    return f"{calls}:{120 * width}:{135 * width}:1"


def check(omb, name, kind):
    done = run(omb[name], kind, middle(name), rank=0 if name in PAIRS else -1)
    what = (name, kind, done.code, done.errors, done.output)
    assert done.code in (1, 3), what
    assert "# INVALID: " in done.output if done.code == 1 else len(error_lines(done)) == 1, what


# Each kind with a program; every pair is one of `make test-full`.
SOME = {
    "latency": "flip",
    "bw": "empty",
    "bibw": "stale",
    "mbw_mr": "short",
    "allreduce": "noop",
    "bcast": "root",
    "reduce": "max",
    "allgather": "swap",
    "iallreduce": "near",
    "gatherv": "zero",
    "barrier": "noop",
}


@pytest.mark.parametrize("name, kind", SOME.items())
def test_what_is_wrong_in_the_middle_is_found(omb, name, kind):
    check(omb, name, kind)


@pytest.mark.full
def test_what_is_wrong_in_the_middle_is_found_by_every_program(omb):
    programs = [one["name"] for one in json.loads(LISTED.read_text())["programs"]]
    assert len(programs) > 20
    for name in programs:
        for kind in faults(name):
            check(omb, name, kind)


def test_the_result_says_how_many_iterations_were_checked(omb):
    done = run(omb["bcast"], "none", "data:1:0:1")
    assert done.code == 0
    (verdict,) = done.document["verdicts"]
    sampled = verdict["sampled"]
    assert sampled["unit"] == "iterations" and ITERATIONS <= sampled["checked"] < sampled["of"]
    assert f"{sampled['checked']} of {sampled['of']} iterations checked" in done.output


def test_with_c_all_iterations_are_checked(omb):
    done = run(omb["bw"], "none", "data:1:0:1", "-c")
    sampled = done.document["verdicts"][0]["sampled"]
    assert sampled["checked"] == sampled["of"] == ITERATIONS + 5 + 2

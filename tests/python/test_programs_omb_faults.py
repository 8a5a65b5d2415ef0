"""An MPI library and an OpenCL runtime that do wrong, beneath the micro-benchmarks: each of it is found."""

import json

import pytest
import samples
from fabricmark.systems import calibration
from omb_programs import ALL, BARRIERS, LIBRARIES, SHORT, Programs, metrics
from stream_program import devices, mpirun, one_error

pytestmark = pytest.mark.programs
CORRUPTING = LIBRARIES / "libcorrupting_mpi.so"
SKIPPING = LIBRARIES / "libskipping_opencl.so"
KINDS = ("flip", "add", "other", "stale", "nothing")
TYPES = ("mpi_char", "mpi_int", "mpi_float")


@pytest.fixture(scope="module")
def omb(tmp_path_factory):
    if not CORRUPTING.exists():
        pytest.skip("libcorrupting_mpi.so is not built")
    return Programs(tmp_path_factory.mktemp("omb"))


def corrupted(program, kind, *words, ranks=2):
    """A run over such a library, with elements of all types."""
    launcher = [*mpirun(ranks), "env", f"LD_PRELOAD={CORRUPTING}", f"FABRICMARK_CORRUPTED_MPI={kind}"]
    return program.run(*SHORT, *(words or ("-T", "all")), "--timeout", 20, launcher=launcher)


def check(program, name, kind):
    """It is found with every type, and the run ends invalid."""
    done = corrupted(program, kind)
    found = {one["name"]: one["status"] for one in done.document["verdicts"]}
    if name in BARRIERS:  # it has no data, but a moment before which nobody may go on
        assert (done.code, found) == ((1, {name: "failed"}) if kind == "nothing" else (0, {name: "passed"}))
        return
    assert done.code == 1 and "# INVALID: " in done.output
    assert found == {f"{name} {data_type}": "failed" for data_type in TYPES}, kind


# All kinds are in it, and some programs; every pair is one of `make test-full`.
SOME = [(name, KINDS[i % len(KINDS)]) for i, name in enumerate(ALL) if name not in BARRIERS][::4]
SOME.append(("barrier", "nothing"))


@pytest.mark.parametrize("name, kind", SOME)
def test_a_wrong_result_of_the_library_is_found(omb, name, kind):
    check(omb[name], name, kind)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALL)
def test_each_wrong_result_of_the_library_is_found_by_each_program(omb, name, kind):
    check(omb[name], name, kind)


# What `osu_* -c` does not see.
HOLES = {
    "the pong is never checked": ("latency", "flip@0", ()),
    "integers are compared over a quarter of the message": ("bcast", "flip", ("-T", "mpi_int")),
    "differences of floats go through an integer's abs": ("allgather", "add", ("-T", "mpi_float")),
    "other ranks' failures are printed as Pass": ("allreduce", "flip@2", ()),
    "sums of int8 saturate": ("allreduce", "add", ("-T", "mpi_char")),
    "a buffer of an earlier iteration passes": ("scatter", "stale", ()),
}


@pytest.mark.parametrize("name, kind, words", HOLES.values(), ids=HOLES)
def test_what_omb_does_not_see_is_found(omb, name, kind, words):
    ranks = 2 if name == "latency" else 3
    done = corrupted(omb[name], kind, *words, ranks=ranks)
    assert done.code == 1
    if "@" in kind:
        assert f"on rank {kind[-1]}: expected" in done.output


def test_a_library_that_does_nothing_wrong_is_valid_beneath_the_same(omb):
    done = corrupted(omb["latency"], "none")
    assert done.code == 0, done.output


def test_every_iteration_says_whether_it_is_right(omb):
    done = corrupted(omb["latency"], "flip", "-c")
    assert "Fail" in done.output and "Pass" not in done.output


def test_a_message_that_is_lost_ends_in_one_line(omb):
    launcher = [*mpirun(2), "env", f"LD_PRELOAD={CORRUPTING}", "FABRICMARK_CORRUPTED_MPI=lost@0"]
    done = omb["latency"].start(*SHORT, "--timeout", 2, launcher=launcher)
    assert "has not returned in 2 s" in one_error(done, codes=(3,))


# A runtime that skips copies ------------------------------------------------------------------------------

SECONDS_PER_BYTE = 4e-8  # 25 MB/s
LIMIT = 1 / SECONDS_PER_BYTE
SIZE = 1 << 18


@pytest.fixture(scope="module")
def link(tmp_path_factory, omb):
    """Starts fm_bw on it: with `skips`, all or those that no kernel has touched; its calibration is known."""
    made = Programs(tmp_path_factory.mktemp("skipping"))["bw"]
    stream = Programs(made.folder)["stream"]
    made.environment |= {
        "LD_PRELOAD": str(SKIPPING),
        "OCL_ICD_VENDORS": made.environment.get("OCL_ICD_VENDORS", ""),
    }
    if not made.environment["OCL_ICD_VENDORS"]:
        del made.environment["OCL_ICD_VENDORS"]
    stream.environment = {**made.environment}
    found = devices(stream)[0]
    if found["class"] != "gpu":
        pytest.skip("the loader of OpenCL asks the runtime past the library")
    document = samples.calibration(found)
    document["host"]["cpu"] = calibration.processor()
    for name in ("to_device", "from_device"):
        document["link"][f"{name}_bytes_per_second"] = LIMIT
    document["write_bytes_per_second"] = document["read_bytes_per_second"] = LIMIT
    folder = made.folder / "cache" / "calibration"
    folder.mkdir(parents=True)
    (folder / "this.json").write_text(json.dumps(document))

    def start(skips, *words):
        log = made.new_file(".txt")
        variables = {"FABRICMARK_SKIPS": skips, "FABRICMARK_SKIPS_LOG": str(log),
                     "FABRICMARK_SLOW_SECONDS_PER_BYTE": str(SECONDS_PER_BYTE)}  # fmt: skip
        words = ("-m", f"{SIZE}:{SIZE}", "-i", 2, "-x", 0, "-W", 2, "D", "D", *words)
        done = made.run(*words, variables=variables)
        return done, [int(word) for word in log.read_text().split()]

    return start


class TestSkipping:
    """Memory of a GPU behind a slow link, whose runtime skips copies of what it believes is unchanged."""

    def test_touched_memory_is_copied_and_the_bandwidth_is_that_of_the_link(self, link):
        done, (made, _) = link("unchanged")
        assert done.code == 0, done.output
        assert made > 0
        assert metrics(done, "bandwidth")[SIZE]["best"] * 1e9 <= LIMIT * 1.1
        (limit,) = (one for one in done.document["verdicts"] if "limit" in one["name"])
        assert limit["status"] == "passed" and "calibration" in limit["measure"]

    def test_a_bandwidth_that_no_link_has_makes_the_run_invalid(self, link):
        """Contents are right, as they do not change between two iterations: only the rate tells."""
        done, (_, skipped) = link("all")
        assert skipped > 0
        assert done.code == 1
        found = {one["name"]: one["status"] for one in done.document["verdicts"]}
        assert found == {"bw": "passed", "bandwidth above the limit": "failed"}


def test_a_limit_of_the_users_counts_between_hosts_too(omb):
    done = omb["bw"].run(*SHORT, "--limit", 1e-9)
    assert done.code == 1 and "bandwidth above the limit" in done.output
    assert omb["bw"].run(*SHORT, "--limit", 1e9).code == 0

"""`fabricmark record`: libfabricmark-record between a program of somebody else and its MPI library."""

import os
import re
import shutil
from collections import Counter

import pytest
from conftest import REPOSITORY
from fabricmark.base import paths
from fabricmark.measure import record
from fabricmark.simulate import trace

STEPS, SIZE = 40, 256


@pytest.fixture
def run(place):
    place.environment |= {
        "FABRICMARK_ROOT": str(REPOSITORY), "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }  # fmt: skip
    return place.run


JACOBI = paths.record_library().parents[1] / "bin" / "jacobi"
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")


@pytest.mark.programs
@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun")
@pytest.mark.parametrize("ranks", [2, 3])
def test_a_stencil_is_recorded_and_played(run, tmp_path, ranks):
    file = tmp_path / "jacobi.trace"
    done = run("record", "--output", str(file), "--", *MPIRUN, str(ranks), JACOBI, str(SIZE), str(STEPS))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"wrote {file}" in done.stdout
    found = trace.read(file)
    assert len(found.ranks) == ranks and str(JACOBI) in found.about["command"]
    assert file.stat().st_size < 2000 * ranks  # its loops are
    calls = [(kind, step.times) for kind, step in found.ranks[0].calls()]
    sends = [(kind, times) for kind, times in calls if kind.call == "MPI_Isend"]
    assert sum(times for _, times in sends) == STEPS
    assert {(kind.to, kind.tag, kind.bytes) for kind, _ in sends} == {(1, 1, SIZE * 8)}
    assert sum(times for kind, times in calls if kind.call == "MPI_Allreduce") == STEPS // 10
    assert 0 < found.ranks[0].compute <= found.seconds
    done = run("simulate", str(file), "--system", "leaf_spine", "--no-simgrid")
    assert done.returncode == 0, done.stderr


@pytest.mark.programs
@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun")
@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.full), 4])
def test_each_kind_of_call_is_recorded(run, tmp_path, ranks):
    file = tmp_path / "many.trace"
    done = run("record", "--output", str(file), "--", *MPIRUN, str(ranks), JACOBI.with_name("many_calls"))
    assert done.returncode == 0, done.stdout + done.stderr
    found = trace.read(file)  # which looks whether sends and receives, and collectives of all ranks, agree
    first, last = found.ranks[0], found.ranks[-1]
    counts = Counter()
    for kind, step in first.calls():
        counts[kind.call, kind.communicator == 0] += step.times
    assert {call: counts[call, True] for call, _ in counts if counts[call, True]} == {
        "MPI_Probe": ranks - 1, "MPI_Irecv": ranks - 1 + 5 + 3, "MPI_Recv": ranks - 1, "MPI_Sendrecv": 14,
        "MPI_Isend": 5 + 3, "MPI_Wait": ranks - 1, "MPI_Barrier": 1, "MPI_Bcast": 1, "MPI_Reduce": 1,
        "MPI_Allreduce": 1, "MPI_Scan": 1, "MPI_Gather": 2, "MPI_Scatter": 2, "MPI_Allgather": 2,
        "MPI_Alltoall": 2, "MPI_Reduce_scatter": 2, "MPI_Comm_create": 2,
    }  # fmt: skip
    # What came from anybody is known: 10 doubles by a tag of its own, then one by any.
    assert [(kind.source, kind.source_tag) for kind, _ in first.calls() if kind.call == "MPI_Recv"] == [
        (other, 5) for other in range(1, ranks)
    ]
    anybody = [kind for kind, _ in first.calls() if kind.call == "MPI_Wait" and kind.communicator == 0]
    assert [(kind.source, kind.source_tag) for kind in anybody] == [(r, 5 + r) for r in range(1, ranks)]
    assert {kind.bytes for kind, _ in last.calls() if kind.call == "MPI_Gather" and kind.varies} <= {
        8 * (1 + place) for place in range(ranks)
    }
    halves = {number: list(members) for number, members in first.communicators.items() if number}
    assert list(range(0, ranks, 2))[::-1] in halves.values()  # keys of the split turn their order
    assert list(range(ranks)) in halves.values()  # the copy
    assert first.unmodelled == {"MPI_Ibarrier": 1, "MPI_Put": 1, "MPI_Win_fence": 2}
    done = run("simulate", str(file), "--system", "leaf_spine", "--no-simgrid")
    assert done.returncode == 0, done.stderr
    assert f"not modelled, and their time as computation: {ranks} MPI_Ibarrier" in done.stdout


@pytest.mark.programs
@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun")
def test_a_program_that_ends_early_has_no_trace(run, tmp_path):
    file = tmp_path / "no.trace"
    done = run("record", "--output", str(file), "--", "true")
    assert done.returncode == 3 and "has written no" in done.stderr
    done = run("record", "--output", str(file), "--", "false")
    assert done.returncode == 1 and not file.exists()


def test_command_lines(run, tmp_path):
    variables = {"LD_PRELOAD": "/a/b.so", "FABRICMARK_TRACE": "/c"}
    assert record.with_variables(["./program", "-x"], variables) == [
        "env", "LD_PRELOAD=/a/b.so", "FABRICMARK_TRACE=/c", "./program", "-x",
    ]  # fmt: skip
    if shutil.which("mpirun") is not None:
        done = run("record", "--show", "--output", "a.trace", "--", "mpirun", "-n", "2", "./program")
        given = r"-x LD_PRELOAD=\S+libfabricmark-record.so -x FABRICMARK_TRACE=/\S+/a.trace"
        assert re.fullmatch(rf"mpirun {given} -n 2 ./program\n", done.stdout)
    done = run("record")
    assert done.returncode == 2 and "no program to record" in done.stderr
    done = run("record", "--", str(tmp_path / "nothing"))
    assert done.returncode != 0 and len(done.stderr.splitlines()) == 1


@pytest.mark.programs
@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun")
def test_a_place_that_cannot_be_written_is_named(run, tmp_path):
    (tmp_path / "folder.trace").mkdir()
    done = run("record", "--output", str(tmp_path / "folder.trace"), "--", *MPIRUN, "2", JACOBI, "64", "10")
    assert "fabricmark-record: error: cannot write" in done.stderr
    assert done.returncode == 3
    assert [name for name in os.listdir(tmp_path) if name.startswith("folder.trace.")] == []

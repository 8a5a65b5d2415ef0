"""`fabricmark record`: libfabricmark-record between a program of somebody else and its MPI library."""

import os
import re
import shutil
import subprocess
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


FORTRAN = """
program rounds
  use {module}
  implicit none
  integer :: code, rank, ranks, i, place
  {handles}
  double precision :: a(1000), b(1000), all(2000), s
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  a = rank
  do i = 1, 50
    call MPI_Irecv(b, 1000, MPI_DOUBLE_PRECISION, 1 - rank, 7, MPI_COMM_WORLD, requests(1), code)
    call MPI_Isend(a, 1000, MPI_DOUBLE_PRECISION, 1 - rank, 7, MPI_COMM_WORLD, requests(2), code)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, code)
    s = sum(b)
    call MPI_Allreduce(MPI_IN_PLACE, s, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
  end do
  call MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, turned, code)
  if (rank == 0) call MPI_Send(a, 10, MPI_DOUBLE_PRECISION, 0, 3, turned, code)
  if (rank == 1) call MPI_Recv(b, 20, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, turned, status, code)
  if (rank == 1 .and. {tag} /= 3) stop 1
  call MPI_Irecv(b, 1, MPI_DOUBLE_PRECISION, 1 - rank, 8, MPI_COMM_WORLD, requests(1), code)
  call MPI_Sendrecv(a, 1, MPI_DOUBLE_PRECISION, 1 - rank, 8, all, 1, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 8, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
  call MPI_Waitany(1, requests, place, MPI_STATUS_IGNORE, code)
  if (place /= 1 .or. b(1) /= 1 - rank) stop 2
  call MPI_Allgather(a, 1000, MPI_DOUBLE_PRECISION, all, 1000, MPI_DOUBLE_PRECISION, turned, code)
  if (all(1) /= 1 .or. all(2000) /= 0 .or. s /= 1000) stop 3
  call MPI_Comm_free(turned, code)
  call MPI_Finalize(code)
end program
"""
HANDLES = {
    "mpi": "integer :: requests(2), turned, status(MPI_STATUS_SIZE)",
    "mpi_f08": "type(MPI_Request) :: requests(2); type(MPI_Comm) :: turned; type(MPI_Status) :: status",
}
TAGS = {"mpi": "status(MPI_TAG)", "mpi_f08": "status%MPI_TAG"}
C = """
#include <mpi.h>
#include <stdlib.h>
void mpi_init_(int*); void mpi_finalize_(int*); void mpi_comm_rank_(int*, int*, int*);
void mpi_sendrecv_(void*, int*, int*, int*, int*, void*, int*, int*, int*, int*, int*, int*, int*);
void mpi_isend_(void*, int*, int*, int*, int*, int*, int*, int*);
void mpi_irecv_(void*, int*, int*, int*, int*, int*, int*, int*);
void mpi_wait_(int*, int*, int*); void mpi_barrier_(int*, int*);
int main(void) {
  int code, rank, one = 1, tag = 7, requests[2];
  mpi_init_(&code);
  int world = MPI_Comm_c2f(MPI_COMM_WORLD), type = MPI_Type_c2f(MPI_DOUBLE);
  mpi_comm_rank_(&world, &rank, &code);
  int peer = 1 - rank;
  double own = rank, other = -1;
  for (int i = 0; i < 50; ++i) {
    mpi_irecv_(&other, &one, &type, &peer, &tag, &world, &requests[0], &code);
    mpi_isend_(&own, &one, &type, &peer, &tag, &world, &requests[1], &code);
    mpi_wait_(&requests[0], MPI_F_STATUS_IGNORE, &code);
    mpi_wait_(&requests[1], MPI_F_STATUS_IGNORE, &code);
  }
  mpi_sendrecv_(&own, &one, &type, &peer, &tag, &other, &one, &type, &peer, &tag, &world, MPI_F_STATUS_IGNORE,
                &code);
  mpi_barrier_(&world, &code);
  mpi_finalize_(&code);
  return other == peer ? 0 : 1;
}
"""
GFORTRAN = next((path for name in ("gfortran", "gfortran-12") if (path := shutil.which(name))), None)


def compiled(folder, language):
    """The program, or None where a compiler is missing."""
    program = folder / "program"
    if language == "C":
        source, words = "program.c", [shutil.which("mpicc"), "-w", "-lmpi_mpifh"]
        text = C
    else:
        source, words = "program.f90", [GFORTRAN and shutil.which("mpif90")]
        text = FORTRAN.format(module=language, handles=HANDLES[language], tag=TAGS[language])
    if words[0] is None:
        return None
    (folder / source).write_text(text)
    done = subprocess.run(
        [words[0], str(folder / source), "-o", str(program), *words[1:]],
        env={**os.environ, "OMPI_FC": GFORTRAN or ""}, capture_output=True, text=True,
    )  # fmt: skip
    return program if done.returncode == 0 else None


@pytest.mark.programs
@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun")
@pytest.mark.parametrize("language", ["mpi", "mpi_f08", "C"])
def test_calls_of_fortran_are_recorded(run, tmp_path, language):
    program = compiled(tmp_path, language)
    if program is None:
        pytest.skip(f"no compiler of {language} for Open MPI")
    file = tmp_path / "a.trace"
    done = run("record", "--output", str(file), "--", *MPIRUN, "2", program)
    assert done.returncode == 0, done.stdout + done.stderr
    found = trace.read(file)
    for rank in found.ranks:
        made = Counter()
        for kind, step in rank.calls():
            made[kind.call] += step.times
        if language == "C":
            assert made == {"MPI_Irecv": 50, "MPI_Isend": 50, "MPI_Wait": 100, "MPI_Sendrecv": 1,
                            "MPI_Barrier": 1, "MPI_Finalize": 1}  # fmt: skip
            continue
        one = "MPI_Recv" if rank.number else "MPI_Send"
        assert made == {"MPI_Irecv": 51, "MPI_Isend": 50, "MPI_Wait": 101, "MPI_Allreduce": 50, one: 1,
                        "MPI_Comm_create": 1, "MPI_Sendrecv": 1, "MPI_Allgather": 1,
                        "MPI_Finalize": 1}  # fmt: skip
        assert {(kind.to, kind.bytes) for kind, _ in rank.calls() if kind.call == "MPI_Isend"} == {
            (1 - rank.number, 8000)
        }
        assert [kind.source for kind, _ in rank.calls() if kind.call == "MPI_Recv"] == [0] * rank.number

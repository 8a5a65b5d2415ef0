"""`fabricmark record`: libfabricmark-record between a program of somebody else and its MPI library."""

import os
import re
import shutil

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

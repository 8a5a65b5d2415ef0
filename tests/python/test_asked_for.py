"""What ran is what was asked for: its device, its ranks and its kernel, by name."""

import json
import os
import shutil
from pathlib import Path

import pytest
import samples
from conftest import REPOSITORY
from stream_program import SHORT, on_a_device, only_error

OTHER = {**samples.DEVICE, "name": "other-cpu"}
TWICE = {**samples.DEVICE, "device_index": 1}
# An srun that knows nothing of the programs' MPI: so many processes, each on its own.
SINGLETONS = """#!/bin/sh
while [ $# -gt 0 ]; do case $1 in -n) shift 2;; -*) shift;; *) break;; esac; done
for rank in 0 1; do SLURM_PROCID=$rank SLURM_NTASKS=2 SLURM_STEP_ID=0 "$@" & done
wait $!
"""


@pytest.fixture(scope="module")
def hpl(tmp_path_factory):
    return on_a_device(tmp_path_factory, "hpl")


@pytest.fixture
def srun(tmp_path):
    path = tmp_path / "bin" / "srun"
    path.parent.mkdir()
    path.write_text(SINGLETONS)
    path.chmod(0o755)
    return path


@pytest.fixture
def two_platforms(stream, found, tmp_path):
    """Variables by which there are two platforms of one device each: a runtime that is there twice."""
    folder = Path(os.environ.get("OCL_ICD_VENDORS") or "/etc/OpenCL/vendors")
    vendors = sorted(folder.glob("*.icd")) if folder.is_dir() else []
    if not vendors:
        pytest.skip("no folder of OpenCL runtimes")
    for name in "ab":
        shutil.copy(vendors[0], tmp_path / f"{name}.icd")
    variables = {"OCL_ICD_VENDORS": str(tmp_path)}
    listed = json.loads(stream.start("--list-devices", "--json", "-", variables=variables).output)["devices"]
    if len({device["platform_index"] for device in listed}) != 2:
        pytest.skip("this loader takes a runtime once")
    return variables, listed


# Compared with the result ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "words", "said"),
    [
        ({"FAKE_OTHER": OTHER}, (), "asked for the device sample-cpu, but the run was on other-cpu"),
        ({"FAKE_OTHER": TWICE}, (), "asked for the device 0:0, but the run was on 0:1"),
        ({"FAKE_RANKS": 3}, ("--ranks", "2"), "asked for 2 ranks, but"),
        ({}, ("--", "--kernel-file", "own.cl"), "asked for the kernel own.cl, but the run's is base.cl"),
    ],
)
def test_a_result_of_another_run_is_not_counted(calibrated, one_error_line, other, words, said):
    variables = {name: json.dumps(value) for name, value in other.items()}
    done = calibrated.run("run", "stream", "--output", calibrated.results, *words, **variables)
    line = one_error_line(done, 3)
    assert said in line and "the result is not counted; it is kept as" in line
    (kept,) = calibrated.results.iterdir()
    assert kept.name.endswith(".json.other")


def test_ranks_of_the_programs_options_are_in_the_name(place):
    done = place.run("run", "stream", "--output", place.results, "--", "--ranks", "3")
    assert done.returncode == 0, done.stderr
    (file,) = place.results.iterdir()
    assert file.name.endswith("-3r.json")


# Compared by the program ----------------------------------------------------------------------------------


@pytest.mark.programs
def test_the_program_refuses_another_device_than_asked_for_by_name(stream, found):
    line = only_error(stream.run(*SHORT, variables={"FABRICMARK_EXPECT_DEVICE": "no such"}), codes=(3,))
    assert f"is '{found[0]['name']}', but 'no such' was asked for" in line
    stream.valid(*SHORT, variables={"FABRICMARK_EXPECT_DEVICE": found[0]["name"]})


@pytest.mark.programs
def test_processes_that_do_not_find_each_other_are_refused_by_one_of_them(stream, srun):
    line = only_error(stream.run(*SHORT, launcher=(srun, "-n", "2")), codes=(3,))
    assert "srun started 2 processes" in line and "srun --mpi=" in line
    assert stream.start("--version", launcher=(srun, "-n", "2")).code == 0


@pytest.mark.programs
def test_a_run_of_singletons_leaves_no_result(with_programs, srun, found):
    path = f"{srun.parent}:{os.environ['PATH']}"
    words = ("run", "stream", "--mpi", "2", "--output", with_programs.results, "--", *SHORT)
    done = with_programs.run(*words, PATH=path, SLURM_JOB_ID="7")
    assert done.returncode == 3
    assert "srun was to start 2 ranks, but this run has 1 rank; use `srun --mpi=" in done.stderr
    assert not list(with_programs.results.iterdir())


@pytest.mark.programs
def test_each_pair_that_is_listed_names_one_device(stream, two_platforms):
    variables, listed = two_platforms
    pairs = [(device["platform_index"], device["device_index"]) for device in listed]
    assert len(set(pairs)) == len(pairs)
    for device, (platform, index) in zip(listed, pairs, strict=True):
        words = ("--list-devices", "--json", "-", "--platform", platform, "--device", index)
        (only,) = json.loads(stream.start(*words, variables=variables).output)["devices"]
        assert only == device
    document = stream.valid(*SHORT, "--platform", 1, "--device", 0, variables=variables).document
    (place,) = document["environment"]["ranks"]["placement"]
    assert (place["platform_index"], place["device_index"]) == (1, 0)
    line = only_error(stream.run(*SHORT, "--device", 0, variables=variables), codes=(2,))
    assert "2 platforms have a device 0; name one: --platform 0 --device 0 or --platform 1" in line


@pytest.mark.programs
def test_all_devices_of_two_platforms_are_run(with_programs, two_platforms):
    variables, listed = two_platforms
    words = ("run", "stream", "--runtime", "system", "--output", with_programs.results, "--", *SHORT)
    done = with_programs.run(*words, **variables)
    assert done.returncode == 0, done.stderr
    assert len(list(with_programs.results.iterdir())) == len(listed)


# The files of a kernel ------------------------------------------------------------------------------------


def files_of(document):
    return {entry["file"]: entry["origin"] for entry in document["run"]["kernel"]["files"]}


@pytest.mark.programs
@pytest.mark.parametrize("folder", ["", "hpl"])
def test_a_changed_header_of_a_header_is_taken(hpl, tmp_path, folder):
    """A header of the suite includes it: beside the kernel file, and where this lies in a copied folder."""
    suite = REPOSITORY / "kernels"
    words = ("--variant", "base", "--size", 64, "--block-size", 32, "--repetitions", 1)
    own = tmp_path / folder / "own.cl"
    changed = tmp_path / "hpl" / "block_steps.h"
    changed.parent.mkdir()
    shutil.copy(suite / "hpl" / "base.cl", own)
    changed.write_text((suite / "hpl" / "block_steps.h").read_text() + "// changed\n")
    done = hpl.valid(*words, "--kernel-file", own)
    found = files_of(done.document)
    name = str(changed.relative_to(own.parent))
    assert [file for file, origin in found.items() if origin == "file"] == ["own.cl", name]
    assert {"hpl/whole_blocks.h", "common/dialect.h"} <= found.keys()
    said = next(note for note in done.document["notes"] if note.startswith("kernel of your own"))
    assert said.startswith(f"kernel of your own: own.cl, {name}; of the suite: ")
    changed.write_text('#include "hpl/nothing.h"\n')
    assert "hpl/nothing.h" in only_error(hpl.run(*words, "--kernel-file", own), codes=(2,))


@pytest.mark.programs
def test_the_files_of_a_kernel_of_the_suite(stream):
    document = stream.valid(*SHORT, "--variant", "base").document
    assert files_of(document) == {"stream/base.cl": "shipped", "common/dialect.h": "shipped"}

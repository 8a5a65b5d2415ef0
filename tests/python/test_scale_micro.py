"""`fabricmark scale` of micro-benchmarks: messages of all sizes on each number of ranks, and their models."""

import json
import os

import pytest
from conftest import REPOSITORY
from fabricmark.base.schema import first_fault
from simulated_runs import exported

APART = {"fm_gather": 0.02, "fm_allreduce": 0.02, "fm_latency": 0.02, "fm_bw": 0.11}


@pytest.fixture(name="scale")
def scale_of_the_repository(place):
    own = {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": os.devnull}
    return lambda *words: place.run("scale", "--output", place.results, *words, **own)


@pytest.fixture(scope="module", name="system")
def file_of_a_system(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
        patch.setenv("FABRICMARK_SYSTEMS", os.devnull)
        return exported(tmp_path_factory.mktemp("system"), "noctua2")


@pytest.mark.programs
@pytest.mark.parametrize("program", APART)
def test_models_stand_beside_the_modelled_clock(scale, place, system, program):
    ranks = "2,4" if program in ("fm_gather", "fm_allreduce") else "2"
    done = scale(
        program, "--devices", ranks, "--in-process",
        "--", "--system", system, "--transport", "accl-udp", "-m", "4096:65536", "D", "D",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "modelled" in done.stdout and "error: modelled / best - 1." in done.stdout
    (file,) = place.results.glob("scale-*/scaling.json")
    document = json.loads(file.read_text())
    assert first_fault("scaling-1", document) is None
    found = [one for one in document["series"] if "modelled" in one]
    assert len({one["axes"]["message_bytes"] for one in found}) == 5
    for one in found:
        assert one["kind"] == "modelled" and set(one["ranks"]) <= {int(count) for count in ranks.split(",")}
        assert one["modelled"] == pytest.approx(one["best"], rel=APART[program])


@pytest.mark.programs
@pytest.mark.parametrize("more", [("--mode", "both"), ("--mode", "strong"), ("--parameter", "size")])
def test_messages_have_no_size_that_is_scaled(scale, one_error_line, more):
    line = one_error_line(scale("fm_gather", "--devices", "2", *more), 2)
    assert "fm_gather has messages of all its sizes" in line


def test_what_is_neither_is_refused(scale, one_error_line):
    assert "there is no benchmark 'fm_nothing'" in one_error_line(scale("fm_nothing", "--devices", "2"), 2)

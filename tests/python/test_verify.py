"""`fabricmark verify`: what the cases with known solutions reach, and what is said where they do not."""

import os

import pytest
from conftest import REPOSITORY
from fabricmark.base.errors import FabricmarkError
from fabricmark.measure import verify
from fabricmark.models import _verification
from fabricmark.models.lbm import verification
from stream_program import devices, on_a_device


def with_error(l2, largest=0.0):
    return {"notes": ["64 x 64 cells", f"relative errors of the velocity: L2 {l2}, largest {largest}"]}


def judged(case, *documents):
    return [one.is_reached for one in verification.CASES[case].judge(documents)]


def test_an_order_is_that_between_grids():
    assert judged("taylor_green", *map(with_error, (0.16, 0.04, 0.0098))) == [True, True]
    assert judged("taylor_green", *map(with_error, (0.16, 0.08, 0.0187))) == [False, True]
    assert judged("taylor_green", *map(with_error, (0.16, 0.04, 0))) == [True, False]


def test_an_exact_flow_has_roundings_only():
    assert judged("couette", with_error(1e-13, 2e-13)) == [True]
    assert judged("poiseuille", with_error(1e-13, 2e-12)) == [False]


def mass(data_type, change):
    return {"parameters": {"data_type": data_type}, "verdicts": [{"name": "mass", "error": change}]}


def test_the_mass_is_judged_by_the_type_of_numbers():
    assert judged("box", mass("float", 1e-7), mass("double", 1e-13)) == [True, False]


def test_the_centre_line_is_judged_beside_that_of_others():
    said = {"notes": ["...; largest difference from Ghia, Ghia and Shin (1982, Table I): 0.011"]}
    assert judged("cavity", said) == [False]


def test_the_wake_is_judged_by_its_vortices_and_without_any_it_fails():
    notes = ("Strouhal number 0.174", "Strouhal number 0.21", "no vortices pass behind the cylinder yet")
    assert [judged("cylinder", {"notes": [note]}) for note in notes] == [[True], [False], [False]]


def test_waves_and_lakes_are_judged():
    cases = _verification.of("tsunami")
    waves = [{"notes": [f"relative error of the elevation: L2 {one}"]} for one in (0.16, 0.04, 0.02)]
    assert [one.is_reached for one in cases["wave"].judge(waves)] == [True, False]
    lake = {"parameters": {"data_type": "float"}, "verdicts": [{"name": "lake at rest", "error": 1e-30}]}
    assert [one.is_reached for one in cases["lake"].judge([lake])] == [False]


def test_shores_that_move_are_judged():
    cases = _verification.of("tsunami")
    whole = [{"name": "mass", "error": 1e-15}]
    bowls = [
        {"notes": [f"after 1 of a period, relative error of the water's height: L1 {one}"], "verdicts": whole}
        for one in (0.04, 0.02, 0.012)
    ]
    assert [one.is_reached for one in cases["bowl"].judge(bowls)] == [True, False, True, True, True]
    notes = [f"run-up 8.6 m; 64 cells of land were under water; {one} of the law of" for one in (0.97, 0.94)]
    beaches = [{"notes": [one], "verdicts": whole} for one in notes]
    beaches[0]["verdicts"] = [{"name": "mass", "error": 1e-11}]
    assert [one.is_reached for one in cases["beach"].judge(beaches)] == [True, False, False, True]
    lake = {"parameters": {"data_type": "double"}}
    lake["verdicts"] = [{"name": "lake at rest", "error": 0}, {"name": "mass", "error": 2e-12}]
    assert [one.is_reached for one in cases["shores"].judge([lake])] == [True, False]


def test_a_result_that_does_not_say_it_is_refused():
    with pytest.raises(ValueError, match="no note"):
        judged("couette", {"notes": []})
    with pytest.raises(ValueError, match="no verdict"):
        judged("box", {"parameters": {"data_type": "float"}, "verdicts": []})


def test_grids_of_vortices_run_until_half_is_left():
    assert [run["steps"] for run in verification.CASES["taylor_green"].runs] == [22, 90, 360]


def test_benchmarks_with_cases_are_found():
    assert _verification.names() == ("lbm", "tsunami")
    assert _verification.of("stream") == {}


def wanted(benchmark, *cases):
    return verify.Wanted(benchmark, cases, "system", 1, ())


@pytest.mark.programs
@pytest.mark.usefixtures("of_the_repository")
def test_what_there_is_not_is_refused_with_what_there_is():
    with pytest.raises(
        FabricmarkError, match="stream has no cases with a known solution; use one of lbm, tsunami"
    ):
        verify.chosen(wanted("stream"))
    with pytest.raises(FabricmarkError, match=r"no case 'sphere' .*; use one of taylor_green, poiseuille"):
        verify.chosen(wanted("lbm", "couette", "sphere"))
    assert list(verify.chosen(wanted("lbm"))) == list(verification.CASES)


@pytest.mark.programs
def test_the_command_runs_a_case_and_says_what_is_reached(place, tmp_path_factory, one_error_line):
    devices(on_a_device(tmp_path_factory, "lbm"))
    own = {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": os.devnull}
    done = place.run("verify", "lbm", "couette,taylor_green", **own)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" yes") == 3 and "order of the error from 16 to 32 cells" in done.stdout
    done = place.run("verify", "lbm", "couette", "--", "--most-speed", "0.01", **own)
    assert done.returncode == 1 and "fm_lbm of the case couette ended with exit code 1" in done.stderr

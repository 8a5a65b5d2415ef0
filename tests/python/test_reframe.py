"""Tests for ReFrame that are written from results: options, references, what is sane; and run by ReFrame
where it is."""

import copy
import shutil
import sys
import types

import pytest
import samples
import site_samples
from reframe_support import generated, make_wrong
from site_samples import write_history

RUN = ["fm_stream", "--size", "1000", "--json", "results/x.json", "--repetitions=3", "--json=y.json"]


@pytest.fixture
def made(place, monkeypatch):
    """The command, and the test class of what it wrote, with stand-ins for ReFrame."""
    write_history(place.folder / "history", 12)
    document = site_samples.night_of("n1", 12)
    document["run"]["command"] = RUN
    place.write("a.json", document)

    def write(*words):
        done = place.run("reframe", "results", "-o", "tests.py", *words)
        assert done.returncode == 0, done.stderr
        return loaded(place.folder / "tests.py", monkeypatch)

    place.write_tests = write
    return place


def loaded(file, monkeypatch):
    """(CASES, an instance of the class for its first case) of a file of tests."""
    reframe = types.ModuleType("reframe")
    reframe.RunOnlyRegressionTest, reframe.simple_test = object, lambda test: test
    sanity = types.ModuleType("reframe.utility.sanity")
    sanity.make_performance_function = lambda value, unit: (value, unit)
    sanity.assert_found = lambda pattern, output: (pattern, output)
    for name, module in (
        ("reframe", reframe),
        ("reframe.utility", types.ModuleType("u")),
        ("reframe.utility.sanity", sanity),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    reframe.utility = sys.modules["reframe.utility"]
    reframe.utility.sanity = sanity
    names = {"parameter": list, "sanity_function": lambda f: f, "deferrable": lambda f: f}
    names |= dict.fromkeys(("run_after", "run_before"), lambda _: lambda f: f)
    exec(compile(file.read_text(), str(file), "exec"), names)
    test = names["fabricmark_test"]()
    test.case = test.case[0]
    test.set_case()
    return names["CASES"], test


def test_a_test_runs_the_program_with_the_options_of_the_result(made):
    cases, test = made.write_tests()
    assert list(cases) == ["stream_1"] and test.tags == {"fabricmark", "stream"}
    assert test.executable == "fm_stream" and test.num_tasks == 1
    assert test.executable_opts == ["--size", "1000", "--repetitions=3", "--json", "result.json"]


def test_its_performance_variables_are_read_from_the_result_that_it_makes(made):
    _, test = made.write_tests()
    test.stagedir = str(made.results)
    shutil.copy(made.results / "a.json", made.results / "result.json")
    test.set_metrics()
    ((name, (value, unit)),) = test.perf_variables.items()
    assert (name, unit) == ("bandwidth_triad", "GB/s")
    assert value == site_samples.night_of("n1", 12)["measurements"][0]["median"]
    assert test.reference["*"][name] == (value, -0.05, None, "GB/s")


def test_references_are_those_of_the_baseline_where_one_is_named(made):
    _, test = made.write_tests("--against", "median:12", "--tolerance", "1%")
    usual, low, high, _ = test.reference["*"]["bandwidth_triad"]
    assert 38 < usual < 43 and -0.1 < low < -0.01 and high is None


def test_times_have_an_upper_bound(place, monkeypatch):
    document = site_samples.night_of("n1", 12)
    (entry,) = document["measurements"]
    entry |= {"name": "latency", "unit": "us", "better": "lower", "work": None}
    micros = [seconds * 1e6 for seconds in entry["samples"]["per_rank"][0]]
    entry |= {"best": min(micros), "minimum": min(micros), "maximum": max(micros)}
    entry |= {"mean": sum(micros) / 3, "median": sorted(micros)[1]}
    place.write("a.json", document)
    assert place.run("reframe", "results", "-o", "tests.py", "--tolerance", "20%").returncode == 0
    _, test = loaded(place.folder / "tests.py", monkeypatch)
    assert test.reference["*"]["latency_triad"][1:] == (None, pytest.approx(0.25), "us")


def test_runs_of_the_same_options_are_one_test_and_wrong_ones_none(made, one_error_line):
    made.write("b.json", copy.deepcopy(site_samples.night_of("n2", 12)))
    made.write("c.json", samples.result(status="failed"))
    cases, _ = made.write_tests()
    assert len(cases) == 2  # a has options, b has none
    for name in ("a.json", "b.json"):
        (made.results / name).unlink()
    line = one_error_line(made.run("reframe", "results", "-o", "none.py"), 2)
    assert "no result is a valid run" in line and not (made.folder / "none.py").exists()


@pytest.mark.full
@pytest.mark.programs
@pytest.mark.parametrize("fault", [False, True])
def test_reframe_runs_them(with_programs, fault):
    """Where ReFrame is installed."""
    tests, run = generated(with_programs)
    if fault:
        make_wrong(tests)
    done = run()
    assert (done.returncode == 0) is not fault, done.stdout[-3000:]
    assert (with_programs.folder / "reframe").exists()

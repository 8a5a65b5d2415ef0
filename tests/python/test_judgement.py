"""Files that say they are valid although their numbers say otherwise are invalid, with the reason."""

import copy
import re
from pathlib import Path

import pytest
import samples
from fabricmark import results
from fabricmark.base.errors import FabricmarkError


def corrupted_check(**changes):
    document = samples.result(operations=("triad",))
    document["verdicts"][0].update(changes)
    return document


def with_derived(**changes):
    """STREAM whose Triad has no samples: said to follow from others."""
    document = samples.result(operations=("copy", "triad"))
    document["measurements"][1].update(
        derived="as fast as light", work=None, samples={"kind": "measured", "unit": "s", "per_rank": []}
    )
    document["measurements"][1].update(changes)
    return document


def without_samples():
    document = with_derived()
    del document["measurements"][0]
    return document


def corrupted_mean(key, factor):
    document = samples.b_eff(sizes=(1, 1024, 65536))
    document["measurements"][-1][key] *= factor
    return document


FAULTS = {
    "error 1e9": (corrupted_check(error=1e9), "largest relative error 1e+09 is above 1e-06"),
    "error -1e9": (corrupted_check(error=-1e9), "above 1e-06"),
    "nothing checked": (corrupted_check(checked=0), "no value was compared"),
    "no error": (corrupted_check(error=None), "without an error"),
    "no threshold": (corrupted_check(threshold=None), "without an error"),
    "no samples of a rate": (with_derived(), "bandwidth triad: has no samples"),
    "no samples of a time": (with_derived(unit="us", better="lower"), "has no samples"),
    "no samples at all": (without_samples(), "no metric has samples"),
    "best of a mean": (corrupted_mean("best", 1.5), "best is given as"),
    "median of a mean": (corrupted_mean("median", 1 + 1e-5), "median is given as"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_numbers_that_contradict_the_file(place, fault):
    document, reason = FAULTS[fault]
    place.write("one.json", document)
    done = place.run("report", "results", "--html", "report.html")
    assert done.returncode == 1
    assert "INVALID" in done.stdout and reason in " ".join(done.stdout.split())
    page = (place.folder / "report.html").read_text(encoding="utf-8")
    assert "INVALID" in page and reason.split(" is ")[0] in page


@pytest.mark.parametrize("document", [samples.result(), samples.b_eff(), samples.gemm(2), samples.fft()])
def test_honest_files_stay_valid(place, document):
    assert results.load(place.write("one.json", document)).verdict() == "valid"
    assert place.run("report", "results").returncode == 0


def test_a_share_needs_no_samples(place):
    """What is no time and no rate is not worked out from samples."""
    document = with_derived(unit="%", best=40.0, median=40.0)
    assert results.load(place.write("one.json", document)).contradictions == []


def test_a_gate_refuses_such_files(place):
    place.write("a.json", samples.result())
    place.write("b.json", corrupted_check(error=1e9))
    done = place.run("compare", "--base", "results/a.json", "--new", "results/b.json")
    assert done.returncode == 1 and "results are wrong" in done.stderr


def hpl():
    """n = 300 in 0.3, 0.1 and 0.2 s."""
    times = {"solve": ((0.1, 0.12, 0.11),), "refine": ((0.2, 0.22, 0.21),)}
    work = 2 * 300**3 / 3
    lu = samples.metric("performance", {"operation": "lu"}, "GFLOP/s", ((0.3, 0.4, 0.35),), "higher", work)
    parts = [samples.metric("time", {"operation": name}, "s", regions) for name, regions in times.items()]
    total = 1e-9 * (work + 1.5 * 300**2)
    measurements = [lu, *parts]
    for words, best, median in (("lu+solve", 0.4, 0.46), ("lu+solve+refine", 0.6, 0.67)):
        entry = samples.derived(total / best, total / median, "performance", "GFLOP/s")
        measurements.append({**entry, "axes": {"operation": words}})
    return measurements


def overlap():
    """Steps one after the other in 4 ms, overlapped in 2."""
    regions = {"serial": ((4e-3, 5e-3, 4.5e-3),), "overlapped": ((2e-3, 3e-3, 2.5e-3),)}
    parts = [samples.metric("pipeline_time", {"order": name}, "ms", given) for name, given in regions.items()]
    return [*parts, samples.derived(2.0, 1.8, "overlap_speed_up", "x")]


@pytest.mark.parametrize("benchmark, measurements", [("hpl", hpl()), ("host_transfer", overlap())])
def test_derived_metrics_of_programs(place, benchmark, measurements):
    document = samples.result(operations=())
    document["run"].update(program=f"fm_{benchmark}", benchmark=benchmark)
    document["measurements"] = measurements
    assert results.load(place.write("one.json", document)).contradictions == []
    measurements[-1]["best"] *= 2
    assert len(results.load(place.write("two.json", document)).contradictions) == 1


# Facts that nothing else in a file bears out; all other leaves are worked out again, or refused.
FREE = re.compile(
    r"run\.(program|benchmark|variant|version|git|kernel\.\w+|started|duration_seconds|steps.*|command.*|design.*"
    r"|complete)"
    r"|environment\.(host|device|toolchain|variables)\..*|environment\.ranks\.(kind|mpi_library)"
    r"|environment\.ranks\.placement\[\d+\]\.(host|device|device_index|compute_units)"
    r"|parameters\..*|repetitions\.(warmup|min_time_seconds|max_time_seconds)|notes.*"
    r"|measurements\[\d+\]\.(name|axes\..*|standard_deviation|work\.unit|derived)"
    r"|verdicts\[\d+\]\.(name|measure|checked|error|threshold|repetition|worst\.(place|expected|actual|rank))"
    r"|energy\[\d+\]\.(domain|source|peak_watts|samples\..*)"
)


def leaves(value, path=""):
    """(path, container, key) of every number, text and flag."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        place = f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}".lstrip(".")
        if isinstance(each, dict | list):
            yield from leaves(each, place)
        else:
            yield place, value, key


def other(value):
    """Another value of the same form."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return 2 * value + 1
    if isinstance(value, float):
        return value * 1.5 + 1e-3
    return "passed" if value == "failed" else f"{value}x"


def with_energy():
    document = samples.result(ranks=2)
    count = document["repetitions"]["count"]
    one = {"domain": "package-0", "source": "rapl", "joules": 6.0, "seconds": 2.0, "watts": 3.0}
    return {**document, "energy": [{**one, "joules_per_repetition": 6.0 / count}]}


@pytest.mark.parametrize(
    "document",
    [with_energy(), samples.b_eff(sizes=(1, 1024)), samples.gemm(2)],
    ids=["energy", "b_eff", "gemm"],
)
def test_no_number_can_be_changed_alone(document):
    """One leaf at a time: the file is refused, or it is not valid, unless nothing else tells of that leaf."""
    unseen = []
    places = [place for place, _, _ in leaves(document)]
    for place in places:
        if FREE.fullmatch(place):
            continue
        changed = copy.deepcopy(document)
        ((container, key),) = [(where, name) for at, where, name in leaves(changed) if at == place]
        container[key] = other(container[key])
        try:
            found = results.checked(Path("a.json"), changed)
        except FabricmarkError:
            continue
        if found.verdict() == "valid":
            unseen.append(place)
    assert not unseen and len(places) > 40


def test_an_error_that_is_no_number_is_no_crash():
    """JSON has no infinities; programs write them as texts."""
    document = corrupted_check(error="inf")
    assert results.checked(Path("a.json"), document).verdict() == "INVALID"
    document = corrupted_check(error="nan", threshold="inf")
    assert results.checked(Path("a.json"), document).verdict() == "INVALID"

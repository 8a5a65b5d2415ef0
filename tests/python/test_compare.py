"""Comparisons: levels and power on known distributions, what is refused, exit codes, damaged input."""

import json

import numpy as np
import pytest
from compare_samples import document, latency, load, loaded, own_kernel, side, started, write
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.schema import first_fault
from fabricmark.compare import comparison, metrics, resampling
from fabricmark.compare.comparison import Settings
from fabricmark.compare.resampling import Sides
from hypothesis import given, settings
from hypothesis import strategies as st

OPERATIONS = ("copy", "scale", "add", "triad")


def verdicts(base, new, chosen=None):
    found = comparison.compare(loaded(base, "base"), loaded(new, "new"), chosen or Settings())
    return [row.verdict for row in found.rows]


def runs(random, count, between, within, shift=0.0, samples=20):
    """Logarithms of samples of `count` runs."""
    return [shift + between * random.normal() + within * random.normal(size=samples) for _ in range(count)]


def misses(estimate, repeats=200, between=0.05, within=0.02, count=6):
    """How many of `repeats` comparisons of equal sides have an interval that leaves out "no difference"."""
    random = np.random.default_rng(7)
    missed = 0
    for repeat in range(repeats):
        sides = [runs(random, count, between, within) for _ in range(2)]
        low, high = estimate(*sides, repeat).interval(0.95)
        missed += not low <= 0 <= high
    return missed


def fair(base, new, seed):
    return resampling.estimate(Sides(base, new, False), "median", seed)


def pooled(base, new, seed):
    """The naive way: all samples of a side in one pot."""
    pots = [[np.concatenate(part)] for part in (base, new)]
    return resampling.estimate(Sides(*pots, False), "median", seed)


def test_false_alarms_stay_within_the_level_when_runs_differ():
    # 200 comparisons at 5 %: more than 18 misses would have a probability below 1 %.
    assert misses(fair) <= 18
    assert misses(lambda a, b, seed: resampling.estimate(Sides(a, b, True), "median", seed)) <= 18


def test_a_pooled_bootstrap_would_raise_false_alarms():
    assert misses(pooled) > 80


@pytest.mark.parametrize("between, within", [(0.0, 0.1), (0.1, 0.0)])
def test_the_level_holds_with_only_one_source_of_spread(between, within):
    assert misses(fair, between=between, within=within) <= 18


def test_ten_per_cent_are_found_and_equal_is_same():
    random = np.random.default_rng(3)
    found = {"worse": 0, "same": 0}
    for _ in range(50):
        for factor, wanted in ((1.1, "worse"), (1.0, "same")):
            base = side(random, 10, between=0.03, operations=OPERATIONS)
            new = side(random, 10, factor, first=1, between=0.03, operations=OPERATIONS)
            told = verdicts(base, new)
            # A regression is found when one metric is worse (exit code 1); equal means all of them are.
            found[wanted] += wanted in told if wanted == "worse" else set(told) == {"same"}
    assert found["worse"] >= 48, found
    assert found["same"] >= 48, found


def test_pairs_take_a_shared_drift_out():
    random = np.random.default_rng(4)
    mood = np.exp(np.linspace(0, 0.7, 10))  # a machine that gets slower by a factor of two
    base = [document(random, 2 * i, mood[i], operations=OPERATIONS) for i in range(10)]
    new = [document(random, 2 * i + 1, mood[i] * 1.1, operations=OPERATIONS) for i in range(10)]
    assert verdicts(base, new) == ["worse"] * 4
    found = comparison.compare(loaded(base), loaded(new[:-1]), Settings())  # no pairs: the drift counts
    assert not found.rows[0].paired and {row.verdict for row in found.rows} == {"unclear"}


@pytest.mark.full
def test_many_metrics_raise_no_false_alarm():
    random = np.random.default_rng(5)
    alarms = 0
    for _ in range(20):
        groups = [[runs(random, 6, 0.08, 0.02) for _ in range(2)] for _ in range(30)]
        judged = [
            comparison.judge(resampling.estimate(Sides(*pair, False), "median"), 6, Settings(), len(groups))[
                0
            ]
            for pair in groups
        ]
        alarms += bool({"worse", "better"} & set(judged))
    assert alarms <= 4  # 1 expected; uncorrected, more than half of the 20 would raise one


def test_tiny_differences_are_the_same_however_sure():
    random = np.random.default_rng(6)
    base, new = (side(random, 20, f, first=i, within=0.001) for i, f in enumerate((1.0, 1.02)))
    found = comparison.compare(loaded(base), loaded(new), Settings())
    assert found.rows[0].interval[1] < 1 and found.rows[0].verdict == "same"
    assert verdicts(base, new, Settings(threshold=0.01)) == ["worse"]


@pytest.mark.parametrize("make, factor, verdict", [
    (document, 1.2, "worse"), (document, 0.8, "better"), (latency, 1.2, "worse"), (latency, 0.8, "better"),
])  # fmt: skip
def test_better_respects_the_sense(make, factor, verdict):
    random = np.random.default_rng(8)
    found = comparison.compare(
        loaded(side(random, 8, make=make)), loaded(side(random, 8, factor, first=1, make=make)), Settings()
    )
    row = found.rows[0]
    assert row.verdict == verdict
    assert row.ratio == pytest.approx(factor if make is latency else 1 / factor, rel=0.03)
    assert row.interval[0] < row.ratio < row.interval[1]
    assert found.exit_code == (verdict == "worse")


def test_one_run_a_side_is_unclear_up_to_the_stated_factor():
    random = np.random.default_rng(9)
    for factor, verdict in ((1.0, "unclear"), (1.5, "unclear"), (0.6, "unclear"), (2.5, "worse")):
        found = comparison.compare([load(document(random))], [load(document(random, 5, factor))], Settings())
        assert found.rows[0].verdict == verdict
        assert any("spread between runs is unknown" in line for line in found.warnings)


def test_few_and_scattered_runs_are_unclear():
    random = np.random.default_rng(10)
    assert verdicts(side(random, 3, between=0.2), side(random, 3, first=1, between=0.2)) == ["unclear"]


def test_the_same_seed_gives_the_same_numbers():
    random = np.random.default_rng(11)
    base, new = loaded(side(random, 5, between=0.1)), loaded(side(random, 6, between=0.1))
    intervals = [comparison.compare(base, new, Settings(seed=s)).rows[0].interval for s in (1, 1, 2)]
    assert intervals[0] == intervals[1] != intervals[2]


def test_runs_of_one_side_after_the_other_are_pointed_out():
    random = np.random.default_rng(12)
    late = comparison.compare(loaded(side(random, 5)), loaded(side(random, 5, first=100)), Settings())
    assert any("older" in line for line in late.warnings) and not late.rows[0].paired
    turns = comparison.compare(loaded(side(random, 5)), loaded(side(random, 5, first=1)), Settings())
    assert not turns.warnings and turns.rows[0].paired


def test_conditions_that_differ_are_refused_and_named(place):
    random = np.random.default_rng(13)
    base, new = side(random, 3), side(random, 3, first=1)
    for made in new:
        made["parameters"]["size"] = 7
        made["environment"]["device"]["name"] = "other"
    with pytest.raises(FabricmarkError, match=r"triad: device differs \(sample-cpu / other\), size differs"):
        comparison.compare(loaded(base), loaded(new), Settings())
    assert len(verdicts(base, new, Settings(ignore=("device", "size")))) == 1
    write(place.folder / "a", base)
    write(place.folder / "b", new + side(random, 3, first=1, operations=("copy",)))
    done = place.run("compare", "a", "b", "--ignore", "device,size")
    assert done.returncode == 0
    assert "not compared: stream bandwidth copy: only in the new runs" in done.stderr


def test_another_kernel_on_either_side_is_what_is_compared(place, one_error_line):
    random = np.random.default_rng(21)
    base, new = side(random, 6), side(random, 6, 1.3, first=1)
    for made in new:
        own_kernel(made, "mine.cl", "1")
    found = comparison.compare(loaded(base), loaded(new), Settings())
    assert [row.verdict for row in found.rows] == ["worse"]
    assert found.allowed == ["class (base / optimized)", "kernel (the suite's / mine.cl (11111111))"]
    for made in base:
        own_kernel(made, "mine.cl", "2")
    found = comparison.compare(loaded(base), loaded(new), Settings())
    assert found.allowed == ["kernel (mine.cl (22222222) / mine.cl (11111111))"]
    own_kernel(new[0], "other.cl", "3")  # two kernels on one side: which of them is meant?
    write(place.folder / "a", base)
    write(place.folder / "b", new)
    line = one_error_line(place.run("compare", "a", "b"), 2)
    assert "kernel differs (mine.cl (22222222) / " in line and "--ignore kernel" in line


def test_kinds_are_never_mixed(place, one_error_line):
    random = np.random.default_rng(14)
    base, new = side(random, 3), side(random, 3, first=1, kind="emulated")
    with pytest.raises(FabricmarkError, match="measured and emulated metrics are never compared"):
        comparison.compare(loaded(base), loaded(new), Settings())
    write(place.folder / "a", base)
    write(place.folder / "b", new)
    one_error_line(place.run("compare", "a", "b"), 2)
    one_error_line(place.run("compare", "a", "b", "--ignore", "kind"), 2)


def test_exit_codes_files_and_the_document(place):
    random = np.random.default_rng(15)
    write(place.folder / "a", side(random, 6))
    write(place.folder / "b", side(random, 6, 1.2, first=1))
    done = place.run("compare", "a", "b", "--json", "out/found.json", "--threshold", "5%")
    assert done.returncode == 1 and "worse" in done.stdout and not done.stderr
    found = json.loads((place.folder / "out" / "found.json").read_text())
    assert first_fault("compare-1", found) is None
    assert found["counts"] == {"same": 0, "better": 0, "worse": 1, "unclear": 0}
    assert found["metrics"][0]["paired"] and found["exit_code"] == 1
    words = ["--base", *(f"b/{i:03}.json" for i in range(6)), "--threshold", "0.05", "--new", "a"]
    done = place.run("compare", *words)
    assert done.returncode == 0 and "better" in done.stdout


def test_a_new_run_with_wrong_results_is_a_regression(place):
    random = np.random.default_rng(16)
    new = side(random, 6, first=1)
    new[2]["run"]["exit_code"] = 1
    write(place.folder / "a", side(random, 6))
    write(place.folder / "b", new)
    done = place.run("compare", "a", "b")
    assert done.returncode == 1 and "b/002.json: results are wrong" in done.stderr
    assert place.run("compare", "b", "a").returncode == 0


@pytest.mark.parametrize("words", [
    ["a"], ["a", "b", "c"], ["--base", "a"], ["--base", "a", "--new"], ["a", "--base", "b", "--new", "c"],
    ["a", "missing"], ["a", "b", "--wrong"], ["a", "b", "--threshold", "x"], ["a", "b", "--threshold", "0%"],
    ["a", "b", "--statistic", "mode"], ["a", "a"], ["a", "empty"], ["a", "damaged"],
])  # fmt: skip
def test_bad_use_is_one_line(place, one_error_line, words):
    random = np.random.default_rng(17)
    write(place.folder / "a", side(random, 2))
    write(place.folder / "b", side(random, 2, first=1))
    write(place.folder / "damaged", side(random, 2))
    (place.folder / "damaged" / "001.json").write_text('{"schema": "fabricmark-result/1"')
    (place.folder / "empty").mkdir()
    one_error_line(place.run("compare", *words), 2)


def test_as_many_runs_as_are_said_to_be_needed_would_make_it_clear():
    random = np.random.default_rng(22)
    before = resampling.estimate(
        Sides(runs(random, 20, 0.1, 0.02), runs(random, 20, 0.1, 0.02), True), "median"
    )
    wanted = [(0.9, 0.04)]
    count = before.runs_needed(20, wanted)
    assert 30 < count < 200
    sides = [runs(random, 2 * count, 0.1, 0.02) for _ in range(2)]
    low, high = resampling.estimate(Sides(*sides, True), "median").interval(0.9)
    assert (high - low) / 2 < 0.04
    assert before.runs_needed(1, wanted) is None and before.runs_needed(20, [(0.9, 1e-6)]) is None


def test_values_that_are_not_above_zero_have_no_ratio():
    random = np.random.default_rng(18)
    metric = metrics.collect(loaded(side(random, 2)), {"stream": ()})
    (one,) = metric.values()
    one.runs[0] = metrics.Run(started(0), np.array([0.0]))
    assert "above zero" in comparison.compare_metric(one, one, Settings(), 1).cause


FUZZ = settings(max_examples=150)
RUNS = st.lists(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=6).map(np.array), min_size=1, max_size=12)


@FUZZ
@given(base=RUNS, new=RUNS, statistic=st.sampled_from(list(resampling.LEVELS)))
def test_any_samples_give_a_finite_ordered_interval(base, new, statistic):
    sides = [[np.log(run) for run in each] for each in (base, new)]
    found = resampling.estimate(Sides(*sides, False), statistic)
    low, high = found.interval(0.95)
    assert np.isfinite([low, found.effect, high]).all() and low <= found.effect <= high
    if len(base) == len(new):
        again = resampling.estimate(Sides(*sides, True), statistic)
        assert np.isfinite([*again.interval(0.99)]).all()
    verdict, _ = comparison.judge(found, min(len(base), len(new)), Settings(), 3)
    assert verdict in ("same", "better", "worse", "unclear")


def test_resampled_values_are_those_of_samples_drawn_anew():
    random = np.random.default_rng(19)
    for count in (1, 2, 5, 10):
        values = np.sort(random.normal(size=count))
        for level in resampling.LEVELS.values():
            drawn = np.sort(random.choice(values, (20_000, count)), axis=1)
            place = level * (count - 1)
            plain = (drawn[:, int(np.floor(place))] + drawn[:, int(np.ceil(place))]) / 2
            quick = resampling.Runs([values], level).resampled(np.zeros((20_000, 1), int), random)[:, 0]
            assert quick.mean() == pytest.approx(plain.mean(), abs=0.03)
            assert quick.std() == pytest.approx(plain.std(), abs=0.03)

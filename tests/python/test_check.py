"""Tonight against what is normal: what is found, how seldom there is a false alarm, what is written."""

import csv
import json
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
import site_samples
from conftest import HERE
from fabricmark.sites import against, check, evidence
from fabricmark.sites.evidence import Rule
from fabricmark.sites.nights import Night, Series
from site_samples import (
    BASE,
    LOOKED,
    LOSSES,
    LOUDEST,
    METRICS,
    NIGHTS,
    NODES,
    QUIETEST,
    write_history,
    write_night,
)

EIGHT = tuple(f"n{i}" for i in range(1, 9))
SERIES = METRICS * NODES
RATE = 1e-3
RULE = Rule(SERIES, RATE, 3)


# The bar: 200 nights of 40 metrics on 8 nodes ------------------------------------------------------------


def bar(seed, spreads_of=lambda random: np.exp(random.uniform(np.log(QUIETEST), np.log(LOUDEST), METRICS))):
    """(which of the losses were found within three nights, false alarms in 200 nights)."""
    random = np.random.default_rng(seed)
    values = site_samples.years(random, spreads_of(random), BASE + LOOKED)
    series, begun = (
        random.choice(SERIES, len(LOSSES), replace=False),
        random.integers(5, NIGHTS - 10, len(LOSSES)),
    )
    for one, night, loss in zip(series, begun, LOSSES, strict=True):
        values[one, BASE + LOOKED + night :] += np.log1p(-loss)
    found = site_samples.alarms(values, RATE)
    hits = [bool(found[one, night : night + 3].any()) for one, night in zip(series, begun, strict=True)]
    for one, night in zip(series, begun, strict=True):
        found[one, night:] = False
    begins = found & ~np.hstack([np.zeros((SERIES, 1), bool), found[:, :-1]])
    return hits, int(begins.sum())


def test_losses_are_found_within_three_nights_and_at_most_one_alarm_is_false():
    hits, false_alarms = bar(0)
    assert all(hits) and false_alarms <= 1


@pytest.mark.full
def test_over_many_seeds_the_rates_are_those_that_were_asked_for():
    """Three nights of 5 % at 1.5 % hold no more: of the noisiest one loss in eight takes longer."""
    hits, false_alarms = zip(*map(bar, range(40)), strict=True)
    assert sum(sum(one[:3]) for one in hits) >= 0.97 * 3 * 40 and all(one[3] for one in hits)
    expected = RATE * NIGHTS * 40
    assert sum(false_alarms) <= expected + 3 * expected**0.5
    assert sum(count > 1 for count in false_alarms) <= 3
    noisiest = [bar(seed, lambda _: np.full(METRICS, LOUDEST))[0] for seed in range(12)]
    assert sum(sum(one[:3]) for one in noisiest) >= 0.7 * 36 and all(one[3] for one in noisiest)


@pytest.mark.full
def test_nine_seeds_of_ten_reach_the_whole_bar():
    """Seeds that the method was not made by: all four losses, and no second false alarm."""
    reached = [all(hits) and false_alarms <= 1 for hits, false_alarms in map(bar, range(1000, 1040))]
    assert sum(reached) >= 36


@pytest.mark.parametrize("share_of_outliers", [0.0, 0.002])
def test_a_quiet_metric_with_an_outlier_is_no_loss(share_of_outliers):
    """An outlier beside two nights of chance: what is left of it is below what never counts."""
    random = np.random.default_rng(7)
    values = random.normal(size=(SERIES, BASE + 3)) * 0.003
    values[:, :BASE][random.random((SERIES, BASE)) < share_of_outliers] -= 0.1
    values[:, -2] -= 0.1
    known = evidence.baseline(values[:, :BASE], np.repeat(np.arange(METRICS), NODES))
    least = np.full(SERIES, -np.log1p(-0.02))
    rule = evidence.shared(known, least, RATE, LOOKED)
    assert not evidence.judge(values[:, BASE:], known, rule, least, 1.0).slower.any()


def test_noisier_series_get_a_larger_part_of_the_false_alarms_and_all_get_no_more_than_are_accepted():
    random = np.random.default_rng(3)
    spreads = np.repeat(np.geomspace(0.004, 0.03, METRICS), NODES)
    known = evidence.baseline(
        random.normal(size=(SERIES, BASE)) * spreads[:, None], np.repeat(np.arange(METRICS), NODES)
    )
    rule = evidence.shared(known, np.full(SERIES, 0.02), RATE, LOOKED)
    assert rule.levels.sum() == pytest.approx(RATE) and rule.levels.max() == pytest.approx(RATE / rule.series)
    assert rule.levels[0] < 1e-3 * rule.levels[SERIES // 2] < rule.levels[-1]
    assert rule.levels[-1] == pytest.approx(rule.levels[-100])  # noisier than what is aimed at: alike


# The bar with real runs: STREAM, FFT, GEMM, RandomAccess and PTRANS at small sizes on a busy virtual machine
# of two cores, each run beside one of the same programs under `--inject-delay 20%`, a loss of 16.7 %.


def real_nights():
    """Of both builds the nights, oldest first."""
    with (HERE / "real_nights.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name not in ("build", "run")]
    every = {name: Series(name, "n1", name.split()[0], name, "GB/s", "higher") for name in names}
    made = {"plain": [], "slow": []}
    for row in rows:
        values = {every[name]: float(row[name]) for name in names if row[name]}
        made[row["build"]].append(Night(f"{row['build']} {row['run']}", f"{int(row['run']):03}", values))
    return made["plain"], made["slow"]


def judged(history, tonight):
    asked = against.parsed("median:30")
    return check.judge(tonight, against.choose(asked, history, [], LOOKED), asked, check.Settings())


def test_a_real_delay_of_20_percent_is_found_within_three_nights():
    """From whichever night on; and by every metric that says so."""
    plain, slow = real_nights()
    for first in range(30, len(slow) - LOOKED + 1):
        found = set()
        for night in range(LOOKED):
            verdict = judged(plain[:first] + slow[first : first + night], slow[first + night])
            found |= {row.series.label for row in verdict.rows if row.state == check.SLOWER}
        able = {row.series.label for row in verdict.rows if row.found is not None and row.found <= 1 / 6}
        assert found and able <= found, first


def test_with_real_noise_metrics_find_the_loss_that_they_state():
    """99 of 100 are promised; the bursts of this machine leave 97."""
    plain, _ = real_nights()
    found = []
    for first in range(30, len(plain) - LOOKED + 1):
        rows = judged(plain[: first + 2], plain[first + 2]).rows
        stated = {row.series: row.found for row in rows if row.found is not None}
        slow = [
            replace(
                night, values={one: value * (1 - stated.get(one, 0)) for one, value in night.values.items()}
            )
            for night in plain[first : first + LOOKED]
            for each in [night.values]
        ]
        verdicts = [judged(plain[:first] + slow[:night], slow[night]) for night in range(LOOKED)]
        slower = {row.series for verdict in verdicts for row in verdict.rows if row.state == check.SLOWER}
        found += [one in slower for one in stated]
    assert len(found) > 200 and sum(found) >= 0.95 * len(found)


def test_real_nights_without_a_delay_are_no_alarm():
    plain, _ = real_nights()
    assert [judged(plain[:at], plain[at]).exit_code for at in range(20, len(plain))].count(1) <= 1


@pytest.mark.parametrize("spread", [0.015, 0.04])
def test_noisy_metrics_say_which_loss_they_find_and_find_it(spread):
    """Three of three at the stated size, whose probability is 99 % each; half of it is mostly not found."""
    random = np.random.default_rng(3)
    values = random.normal(size=(SERIES, BASE + 3)) * spread
    groups = np.repeat(np.arange(METRICS), NODES)
    known = evidence.baseline(values[:, :BASE], groups)
    least = np.full(SERIES, -np.log1p(-0.02))

    def share_found(part):
        judged = evidence.judge(values[:, BASE:] - part * stated[:, None], known, RULE, least, 1.0)
        return judged.slower.mean()

    stated = evidence.judge(values[:, BASE:], known, RULE, least, 1.0).found
    assert abs(np.median(stated) / spread - RULE.found()) < 0.25 * RULE.found()
    assert share_found(1.0) > 0.97 and share_found(0.5) < 0.2 and share_found(0.0) == 0


def test_the_limit_of_a_cumulative_sum_has_the_run_length_that_it_is_made_for():
    """Siegmund's approximation beside a simulation, at a length that can be simulated."""
    reference, length = 1.0, 300
    height = evidence.limit(reference, length)
    random = np.random.default_rng(5)
    sums, ends = np.zeros(4000), np.zeros(4000)
    for step in range(1, 4000):
        sums = np.maximum(sums + random.normal(size=len(sums)) - reference, 0)
        ends[(ends == 0) & (sums > height)] = step
    assert 0.85 * length < ends[ends > 0].mean() < 1.2 * length and (ends > 0).all()


def test_a_higher_rate_of_false_alarms_finds_smaller_losses_and_more_series_larger_ones():
    assert Rule(320, 1e-2, 3).found() < Rule(320, 1e-3, 3).found() < Rule(32000, 1e-3, 3).found()
    assert Rule(320, 1e-3, 3).found() < Rule(320, 1e-3, 2).found() < Rule(320, 1e-3, 1).found()


def test_series_that_cannot_reach_the_tolerance_leave_their_share_of_alarms_to_the_others():
    random = np.random.default_rng(3)
    values = (
        random.normal(size=(SERIES, BASE)) * np.repeat(np.geomspace(1e-4, 0.015, METRICS), NODES)[:, None]
    )
    known = evidence.baseline(values, np.repeat(np.arange(METRICS), NODES))
    of_some = evidence.shared(known, np.full(SERIES, 0.02), RATE, LOOKED)
    assert SERIES / 8 < of_some.series < SERIES / 2
    assert evidence.shared(known, np.full(SERIES, 1e-9), RATE, LOOKED).series == pytest.approx(SERIES)
    assert evidence.shared(known, np.full(SERIES, 1.0), RATE, LOOKED).series == 1


def test_outliers_of_the_baseline_hardly_move_its_centre_and_spread():
    random = np.random.default_rng(1)
    values = random.normal(size=(NODES, 30)) * 0.01
    groups = np.zeros(NODES, int)
    plain = evidence.baseline(values, groups)
    values[random.random(values.shape) < 0.05] -= 0.5
    dirty = evidence.baseline(values, groups)
    assert np.abs(dirty.centre - plain.centre).max() < 0.003
    assert 0.85 < dirty.scale[0] / plain.scale[0] < 1.15
    assert dirty.outliers[0] > 0.02 > plain.outliers[0]


def test_a_loss_that_stays_makes_no_outliers_of_its_peers():
    random = np.random.default_rng(1)
    values = random.normal(size=(NODES, 30)) * 0.01
    plain = evidence.baseline(values, np.zeros(NODES, int))
    values[3, 22:] -= 0.2
    assert evidence.baseline(values, np.zeros(NODES, int)).outliers[0] == pytest.approx(plain.outliers[0])
    values[3] += 0.2 * (np.arange(30) >= 22)
    values[3, [5, 12, 13, 20]] -= 0.2
    assert evidence.baseline(values, np.zeros(NODES, int)).outliers[0] > plain.outliers[0]


def test_a_node_that_is_noisier_than_its_peers_has_its_own_spread():
    random = np.random.default_rng(1)
    values = random.normal(size=(NODES, 30)) * 0.01
    values[2] *= 5
    scale = evidence.baseline(values, np.zeros(NODES, int)).scale
    assert scale[2] > 3 * scale[0] and np.allclose(np.delete(scale, 2), scale[0])


def test_without_a_spread_there_is_no_evidence():
    known = evidence.baseline(np.array([[0.0]]), np.array([0]))
    found = evidence.judge(np.array([[-0.3]]), known, Rule(1, 1e-3, 1), np.array([0.02]), 1.0)
    assert np.isnan(known.scale[0]) and not found.slower[0] and np.isnan(found.found[0])


# The command ---------------------------------------------------------------------------------------------


@pytest.fixture
def site(place):
    """Twelve nights of three nodes, and `check` of a thirteenth."""
    write_history(place.folder / "history", 12)

    def check(*words, nodes=("n1", "n2", "n3"), slow=None, at=12, **kind):
        write_night(place.folder / "tonight", at, nodes=nodes, slow=slow, **kind)
        return place.run("check", "tonight", "--against", "median:10", *words)

    place.check = check
    return place


def closing(done):
    return done.stdout.strip().splitlines()[-1]


def test_a_night_like_the_others_passes(site):
    done = site.check()
    assert done.returncode == 0, done.stderr
    assert closing(done).startswith("passed 3, slower 0, broken 0; 1 metric on 3 nodes against median:10 ")
    assert len(done.stdout.splitlines()) == 1


def test_a_node_that_loses_much_is_slower_at_once(site):
    done = site.check(slow={"n2": 1.8})
    assert done.returncode == 1 and closing(done).startswith("passed 2, slower 1, broken 0; ")
    row = next(line for line in done.stdout.splitlines() if "n2" in line)
    assert "stream bandwidth triad" in row and "44." in row and "slower" in row and "nights" in row


def test_what_disturbed_a_slower_node_stands_beside_it(site):
    """As one reason why, in the table and in JUnit; a node that is as fast as ever needs none."""
    site.check(slow={"n2": 1.8})
    for node in ("n1", "n2"):
        file = site.folder / f"tonight/{node}.json"
        noise = {"host": node, "seconds": 4.0, "other_load": 0.4}
        file.write_text(json.dumps({**json.loads(file.read_text()), "noise": noise}))
    done = site.run("check", "tonight", "--against", "median:10", "--junit", "junit.xml")
    rows = [line for line in done.stdout.splitlines() if "stream bandwidth" in line]
    assert done.returncode == 1 and len(rows) == 1
    assert "other programs took 40 % of the CPUs" in " ".join(done.stdout.split())
    assert "slower: other programs took 40 %" in (site.folder / "junit.xml").read_text()


def test_one_night_alone_is_suspect_and_the_next_one_proves_it(site):
    done = site.check(slow={"n2": 1.12})
    assert done.returncode == 0 and "suspect 1" in closing(done) and "the next one tells" in done.stdout
    write_night(site.folder / "history/night-012", 12, slow={"n2": 1.12})
    done = site.check(slow={"n2": 1.12}, at=13)
    assert done.returncode == 1 and closing(done).startswith("passed 2, slower 1, broken 0; ")
    back = site.check(at=13)
    assert back.returncode == 0 and "slower 0" in closing(back)
    alone = site.check("--evidence", "1", slow={"n2": 1.12}, at=13)
    assert alone.returncode == 1 and "evidence of tonight alone" in closing(alone)


def test_all_nodes_together_show_a_smaller_loss(place):
    write_history(place.folder / "history", 12, nodes=EIGHT)
    for at in (12, 13):
        write_night(
            place.folder / f"history/night-{at:03}", at, nodes=EIGHT, slow=dict.fromkeys(EIGHT, 1.035)
        )
    write_night(place.folder / "tonight", 14, nodes=EIGHT, slow=dict.fromkeys(EIGHT, 1.035))
    done = place.run("check", "tonight", "--against", "median:12")
    assert done.returncode == 1 and "all 8 nodes" in done.stdout and "on all nodes together" in done.stdout
    assert "slower 0" not in closing(done)


def test_last_finds_a_slow_node_by_its_peers(place):
    """One older night: how far nights differ follows from the nodes that did not change."""
    write_history(place.folder / "history", 1, nodes=EIGHT)
    write_night(place.folder / "tonight", 1, nodes=EIGHT, slow={"n5": 1.8})
    done = place.run("check", "tonight", "--against", "last")
    assert done.returncode == 1 and closing(done).startswith("passed 7, slower 1, broken 0; ")
    assert "n5" in done.stdout


def test_last_of_one_node_has_no_spread_and_says_so(place):
    write_history(place.folder / "history", 1, nodes=("n1",))
    write_night(place.folder / "tonight", 1, nodes=("n1",), slow={"n1": 1.5})
    done = place.run("check", "tonight", "--against", "last")
    assert done.returncode == 0 and "slower 0" in closing(done)


def test_wrong_results_and_what_is_missing_are_broken(site):
    done = site.check(nodes=("n1", "n3"))
    assert done.returncode == 1 and "broken 1" in closing(done) and "no result tonight" in done.stdout


def test_what_is_missing_may_be_allowed(site):
    write_night(site.folder / "part", 12, nodes=("n1",))
    words = ("check", "part", "--against", "median:10")
    assert "broken 2" in closing(site.run(*words))
    assert site.run(*words, "--allow-missing").returncode == 0


def test_a_night_may_have_a_folder_for_each_node(site):
    for night in [*(site.folder / "history").iterdir(), write_night(site.folder / "tonight", 12)]:
        for file in list(night.iterdir()):
            (night / file.stem / "suite").mkdir(parents=True)
            file.rename(night / file.stem / "suite" / file.name)
    done = site.run("check", "tonight", "--against", "median:10")
    assert done.returncode == 0 and closing(done).startswith("passed 3, slower 0, broken 0; ")


def test_a_wrong_result_is_broken(site):
    write_night(site.folder / "tonight", 12)
    wrong = site_samples.night_of("n2", 12, status="failed", operations=("triad",))
    (site.folder / "tonight/n2.json").write_text(json.dumps(wrong))
    done = site.run("check", "tonight", "--allow-missing")
    assert done.returncode == 1 and closing(done).startswith("passed 2, slower 0, broken 1; ")
    assert "results are wrong" in done.stdout


def test_a_tolerance_hides_what_is_below_it(site):
    slow = {"n2": 1.8}
    assert site.check("--tolerance", "50%", slow=slow).returncode == 0
    assert site.check("--tolerance", "bandwidth=50%", slow=slow).returncode == 0
    assert site.check("--tolerance", "latency=50%", slow=slow).returncode == 1


def test_junit_has_a_case_for_each_metric_of_each_node(site):
    site.check("--junit", "out/junit.xml", slow={"n2": 1.8})
    root = ElementTree.parse(site.folder / "out/junit.xml").getroot()
    suite = root.find("testsuite")
    assert root.tag == "testsuites" and (suite.get("tests"), suite.get("failures")) == ("3", "1")
    failed = [case for case in suite if case.find("failure") is not None]
    assert [case.get("name") for case in failed] == ["stream bandwidth triad on n2"]
    assert "% slower" in failed[0].find("failure").get("message")


def test_the_perflog_grows_by_a_line_a_value(site, one_error_line):
    for _ in range(2):
        site.check("--perflog", "perf.log", slow={"n2": 1.8})
    heading, *lines = (site.folder / "perf.log").read_text().splitlines()
    names = heading.split("|")
    rows = [dict(zip(names, line.split("|"), strict=True)) for line in lines]
    assert len(rows) == 6 and [row["result"] for row in rows] == 2 * ["pass", "fail", "pass"]
    slow, ref = float(rows[1]["perf_value"]), float(rows[1]["perf_ref"])
    assert slow < ref * (1 + float(rows[1]["perf_lower_thres"])) and rows[1]["perf_unit"] == "GB/s"
    (site.folder / "other.log").write_text("mine\n")
    one_error_line(site.check("--perflog", "other.log"), 2)
    assert (site.folder / "other.log").read_text() == "mine\n"


def test_a_damaged_file_is_refused_tonight_and_left_out_of_the_history(site, one_error_line):
    (site.folder / "history/night-003/n1.json").write_text("{")
    done = site.check()
    assert done.returncode == 0 and "left out of the history: " in done.stderr
    (site.folder / "tonight/n1.json").write_text("{")
    one_error_line(site.run("check", "tonight"), 2)


@pytest.mark.parametrize(
    "words",
    [
        ("--against", "yesterday"), ("--against", "median:0"), ("--against", "baseline:../x"),
        ("--against", "baseline:none"), ("--tolerance", "0"), ("--at-once", "200%"),
        ("--history", "nowhere"), ("--against", "baseline:"),
    ],
)  # fmt: skip
def test_bad_use_has_one_line(site, one_error_line, words):
    write_night(site.folder / "tonight", 12)
    one_error_line(site.run("check", "tonight", *words), 2)


def test_a_history_without_older_nights_is_refused(site, one_error_line):
    write_night(site.folder / "tonight", 0)
    line = one_error_line(site.run("check", "tonight"), 2)
    assert "no older night" in line


# Baselines -----------------------------------------------------------------------------------------------


def test_a_baseline_is_set_listed_and_compared_with(site):
    done = site.run("baseline", "set", "good", "--by", "Ada", "--note", "after the update", "--newest", "8")
    assert done.returncode == 0 and "baseline good: 8 nights, set by Ada" in done.stdout
    listed = site.run("baseline", "list").stdout
    assert "good" in listed and "Ada" in listed and "after the update" in listed and "night-004" in listed
    done = site.check("--against", "baseline:good", slow={"n2": 1.8})
    assert done.returncode == 1 and "against baseline:good (8 nights" in closing(done)
    # It stands on its own: nights that are gone, or slower since, change nothing of it.
    for at in (12, 13):
        write_night(site.folder / f"history/night-{at:03}", at, slow={"n2": 1.06})
    done = site.check("--against", "baseline:good", slow={"n2": 1.06}, at=14)
    assert done.returncode == 1 and "n2" in done.stdout and "evidence of 3 nights" in closing(done)


def test_a_baseline_may_be_one_night_by_its_results(site):
    assert site.run("baseline", "set", "one", "history/night-001").returncode == 0
    assert "1 night" in closing(site.check("--against", "baseline:one"))


def test_damaged_baselines_are_refused(site, one_error_line):
    site.run("baseline", "set", "good")
    file = site.folder / "history/baselines/good.json"
    whole = json.loads(file.read_text())
    for change in ({"nights": []}, {"schema": "fabricmark-baseline/9"}, {"series": [{}]}, {"by": 1}):
        file.write_text(json.dumps({**whole, **change}))
        one_error_line(site.check("--against", "baseline:good"), 2)
    short = [{**whole["series"][0], "values": [1.0]}]
    file.write_text(json.dumps({**whole, "series": short}))
    one_error_line(site.check("--against", "baseline:good"), 2)


@pytest.mark.parametrize("words", [("set", "a/b"), ("list", "none"), ("set", "x", "nowhere")])
def test_bad_use_of_baselines_has_one_line(site, one_error_line, words):
    one_error_line(site.run("baseline", *words), 2)

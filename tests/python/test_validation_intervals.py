"""Error bars: made of residuals of rows that had no part in a fit, and tested by leaving groups out."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from fabricmark.base.errors import FabricmarkError
from fabricmark.results import published
from fabricmark.validate import groups, intervals, outcomes, residuals, rival, scored, tables

ROWS = tables.with_tables(row for _, row in outcomes.read())
KNOWN = intervals.load()
load = cache(outcomes.loaded("fitted"))


@pytest.fixture(scope="module", name="pairs")
def left_out_pairs():
    return intervals.left_out(KNOWN)


def coverage_of(pairs, is_of):
    return intervals.coverage([(one.error, found) for one, found in pairs if is_of(one)])


def assert_as_the_file_has_them(made, known):
    """A fit differs in the last digits between machines."""
    assert [replace(one, error=0.0) for one in made] == [replace(one, error=0.0) for one in known]
    for now, then in zip(made, known, strict=True):
        assert now.error == pytest.approx(then.error, abs=2e-3), now


@pytest.mark.full
def test_the_file_has_the_residuals_of_today():
    """`.venv/bin/python tools/validation.py` writes them."""
    assert_as_the_file_has_them(residuals.make(load), KNOWN)


SOME = (
    ("b_eff", "noctua1", "channels", 2),
    ("hpl", "noctua1", "channels", 4, 24576),
    ("stream", "hacc", "none", 1),
)


@pytest.mark.parametrize("key", SOME)
def test_the_file_has_these_residuals_of_today(key):
    predictor = outcomes.Predictor(load, [row for row in ROWS if row.role == "calibration"])
    made = [residuals.of_outcome(one, predictor) for one in groups.left_out(key, ROWS, load)]
    of_rows = [one for one in KNOWN if not one.source.startswith("Meyer")]
    assert_as_the_file_has_them(made, [one for one in of_rows if one.group == key])
    with pytest.raises(AssertionError):
        assert_as_the_file_has_them([replace(one, error=one.error + 0.01) for one in made], made)


def test_every_row_is_left_out_with_its_group():
    found = groups.grouped(ROWS)
    assert sum(map(len, found.values())) == len([row for row in ROWS if row.role == "test"])
    assert {key for key in found if key[0] == "hpl" and key[3] == 16} >= {
        ("hpl", "noctua1", "host", 16, 24576)
    }


def test_a_group_that_is_left_out_is_not_fitted():
    """Its own values do not matter: they may be anything."""
    key = ("b_eff", "noctua1", "channels", 4)
    wrong = [replace(row, value=3 * row.value) if groups.key_of(row) == key else row for row in ROWS]
    right = [one.predicted for one in groups.left_out(key, ROWS, load)]
    assert [one.predicted for one in groups.left_out(key, wrong, load)] == pytest.approx(right)


def test_errors_of_rows_that_are_left_out():
    """The bars of the errors, cross-validated: 2 % and 10 %, over the host 4 % and 12 %."""
    of_runs = [one for one in KNOWN if not one.source.startswith("Meyer")]
    host = [abs(one.error) for one in of_runs if (one.benchmark, one.transport) == ("b_eff", "host")]
    others = [abs(one.error) for one in of_runs if (one.benchmark, one.transport) != ("b_eff", "host")]
    for errors, bars in ((others, (0.02, 0.10)), (host, (0.04, 0.12))):
        assert np.all(np.percentile(errors, (50, 90)) <= bars)


def test_intervals_cover_what_they_say(pairs):
    whole = coverage_of(pairs, lambda one: True)
    assert 0.85 <= whole.share <= 0.95
    assert whole.half_width <= min(0.06, 3 * whole.error)
    assert whole.unvalidated < 0.11 * whole.rows
    assert np.percentile([one.half_width for _, one in pairs if one.half_width is not None], 90) <= 0.18
    for kind in {(one.benchmark, one.transport) for one, _ in pairs}:
        own = coverage_of(pairs, lambda one, kind=kind: (one.benchmark, one.transport) == kind)
        assert own.share >= 0.8 or own.rows < 6, kind
    for devices in {one.devices for one, _ in pairs}:
        assert coverage_of(pairs, lambda one, here=devices: one.devices == here).share >= 0.8, devices


def test_a_run_of_many_rows_covers_no_more_than_one_of_a_single_row():
    row, wide, narrow = KNOWN[0], intervals.Interval(1.0), intervals.Interval(0.0)
    rows = [replace(row, error=0.1, size=float(size)) for size in range(3)]
    other = replace(row, error=0.1, source="another run")
    assert intervals.coverage_by_run([*((one, wide) for one in rows), (other, narrow)]) == 0.5
    assert intervals.coverage_by_run([(other, intervals.Interval(None)), (row, wide)]) == 1.0


def test_intervals_that_are_too_narrow_or_too_wide_would_be_noticed(pairs):
    for factor in (0.5, 3.0):
        other = [
            (one.error, replace(found, half_width=found.half_width and factor * found.half_width))
            for one, found in pairs
        ]
        found = intervals.coverage(other)
        assert not (0.85 <= found.share <= 0.95 and found.half_width <= 4 * found.error)


def asked(**more):
    usual = {"benchmark": "hpl", "system": "noctua1", "board": "520n", "transport": "channels"}
    return intervals.Asked(**{**usual, "devices": 4, "size": 24576.0, **more})


def test_wider_where_devices_and_size_are_far_from_what_was_measured():
    known = intervals.Intervals(KNOWN)
    near = known.of(asked()).half_width
    assert known.of(asked(devices=1024)).half_width > 1.5 * near
    assert known.of(asked(size=2.0**22)).half_width > 1.5 * near
    assert known.of(asked(system="noctua2")).half_width > near


def test_nothing_that_nobody_measured_has_an_interval():
    known = intervals.Intervals(KNOWN)
    assert "board u55c" in known.of(asked(board="u55c")).reason
    assert "no published value" in known.of(asked(transport="accl-udp")).reason


def test_too_few_rows_for_a_quantile_have_a_wider_interval():
    """Likeness alone: of fewer runs it is wider."""
    of_board = [one for one in KNOWN if (one.benchmark, one.board) == ("fft", "520n")]
    point = asked(benchmark="fft", transport="none", size=2.0**29, metric=of_board[0].metric)
    many, one = intervals.Intervals(KNOWN).of(point), intervals.Intervals(of_board[:1]).of(point)
    assert many.half_width > max(abs(row.error) for row in of_board[:4])
    assert one.half_width > many.half_width


def test_no_interval_is_much_narrower_than_the_quantile():
    """But not below the share of it that is left."""
    known = intervals.Intervals(KNOWN)
    for row in KNOWN[:200:20]:
        point = intervals.asked_of(row)
        by_quantile = known._by_quantile(point, known._of[row.benchmark, row.transport], 0.0)
        width = known.of(point).half_width
        assert by_quantile is None or width >= intervals.LEAST_SHARE * by_quantile * (1 - 1e-12)


def test_a_broken_file_is_refused(tmp_path):
    path = tmp_path / "left_out.csv"
    path.write_text(",".join(intervals.COLUMNS) + "\nhpl,a,b,none,x,1,m,0.1,s\n")
    with pytest.raises(FabricmarkError, match=r"left_out\.csv line 2: no numbers"):
        intervals.load(path)


def test_every_printed_value_has_a_role():
    found = scored.score(load)
    assert len(found) == 227
    assert {one.role for one in found} == {scored.FIT, scored.TEST, scored.INPUT, scored.CONTEXT}
    assert [one for one in found if one.role in (scored.FIT, scored.TEST) and one.predicted is None] == []
    tests = scored.tests(found)
    assert len(tests) > 80
    assert np.median([one.error for one in tests]) <= 0.08
    for one in tests:
        assert one.error <= 0.15 or one.note, one.printed


def test_a_value_without_a_role_is_refused():
    one = published.printed()[0]
    with pytest.raises(FabricmarkError, match="has no role"):
        scored.rule_of(replace(one, table="Table 9.9"), scored.rules())


def test_a_wrong_model_shows_in_the_tables():
    """Half of the memory's bandwidth: STREAM's tests are far off."""

    def slower(name, board):
        system = load(name, board)
        rate = system.board["memory.bank_bandwidth"] / 2
        return replace(system, board=system.board.having({"memory.bank_bandwidth": rate}))

    rows = [one for one in published.printed() if (one.table, one.metric) == ("Table 3.11", "triad")]
    wrong = [one.error for one in scored.tests(scored.score(slower, rows))]
    assert np.median(wrong) > 0.3


def test_the_rival_takes_the_nearest_run_of_another_group():
    tested = [row for row in ROWS if row.role == "test"]
    row = next(row for row in tested if groups.key_of(row) == ("gemm", "noctua1", "none", 4))
    found = rival.prediction(row, tested)
    others = [one.value / one.devices for one in tested if one.metric == "gflops" and one != row]
    assert any(found / row.devices == pytest.approx(one) for one in others)
    assert found != row.value
    assert rival.prediction(replace(row, metric="joules"), tested) is None


def test_few_rows_of_a_board_make_a_student_s_interval():
    """As wide as the distribution of few values says; the rows of other boards have no part in it."""
    from scipy import stats  # here: each of the workers imports this file, and that takes a second

    for number, point in intervals.STUDENT.items():
        assert point == pytest.approx(stats.t.ppf(0.95, number), abs=1e-3)
        width = intervals.of_few([0.01, -0.01, 0.01, -0.01][:number])
        assert width == pytest.approx(0.01 * point * (1 + 1 / number) ** 0.5)
    gemm = {"benchmark": "gemm", "system": "hacc", "board": "u280_ddr", "transport": "none", "size": 23040.0}
    four = intervals.Intervals(KNOWN).of(asked(**gemm, devices=2)).half_width
    assert 0.005 < four < 0.05
    worse = [replace(one, error=5.0) if one.board == "pac_d5005" else one for one in KNOWN]
    assert intervals.Intervals(worse).of(asked(**gemm, devices=2)).half_width == four


def made_up(errors, design="one", size=1024.0):
    """Rows of one board, one a size."""
    about = ("hpl", "noctua1", "520n", "host", 1)
    return [
        intervals.Residual(*about, size * (1 + at), "lu_gflops", error, f"run {at}", design)
        for at, error in enumerate(errors)
    ]


def width_of(rows, design, size):
    point = ("hpl", "noctua1", "520n", "host", 1, size)
    return intervals.Intervals(rows).of(intervals.Asked(*point, metric="lu_gflops", design=design)).half_width


def test_near_rows_that_are_off_to_one_side_count():
    """Most are off by 1 %, those beside the asked one by 6: the interval is wider than most."""
    errors = [
        0.01,
        -0.01,
        0.01,
        -0.01,
        0.055,
        0.06,
        0.06,
        0.055,
        -0.01,
        0.01,
        -0.01,
        0.01,
        -0.01,
        0.01,
        -0.01,
    ]
    rows = made_up(errors, size=4096.0)
    here = intervals.quantile([abs(one.error) for one in rows])
    assert width_of(rows, "one", 6.5 * 4096.0) > 0.06
    assert here <= 0.06

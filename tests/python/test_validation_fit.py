"""The fitted values are what a fit gives, no single device count or size decides one, and they hold for rows
that were left out."""

from dataclasses import replace
from functools import lru_cache

import pytest
import validation as tool
from fabricmark import validate
from fabricmark.base.terminal import percent
from fabricmark.validate import fit, fit_view, intervals, outcomes, scored, splits, tables, texts
from fabricmark.validate.distribution import BARS
from fabricmark.validate.parameters import GROUPS, Group, Parameter

ROWS = tables.with_tables(row for _, row in outcomes.read())
CALIBRATION = [row for row in ROWS if row.role == "calibration"]
WORSE = 1.3  # times the bars, for rows that had no part in the fit
load = lru_cache(maxsize=None)(outcomes.loaded("fitted"))


@pytest.fixture(scope="module", name="fitted")
def fitted_entries():
    return fit_view.entries(ROWS)


def test_the_files_hold_what_the_fit_gives(fitted):
    """`fabricmark validate --fit` prints what to write into systems/*.toml."""
    for parameter, now, value, _ in fitted:
        assert now == pytest.approx(value, rel=2e-3), str(parameter)


def test_the_comparison_notices_a_figure_that_was_not_fitted(fitted):
    parameter, now, _, _ = fitted[-1]
    group = next(one for one in GROUPS if parameter in one.parameters)
    wrong = fit.with_values(load, {parameter: now * 0.9})
    assert fit.current(group, ROWS, wrong)[parameter] == pytest.approx(now * 0.9)


def test_no_parameter_hangs_on_one_device_count_or_size(fitted):
    for parameter, _, _, support in fitted:
        assert support.rows >= 2, str(parameter)
        assert len(support.devices) > 1 or len(support.sizes) > 4, str(parameter)


def test_a_parameter_of_a_single_run_would_be_noticed():
    """The bandwidth to itself of a HACC host: only runs on one device depend on it, so it is not fitted."""
    alone = Parameter("network", "u280_ddr", ("host",), ("self_bandwidth",))
    group = Group("alone", (alone,), lambda row: row.system == "hacc" and row.benchmark == "b_eff")
    found = fit.support(alone, group, ROWS, load, fit.current(group, ROWS, load))
    assert found.rows > 0
    assert found.devices == (1,)


def test_a_fit_finds_what_made_the_rows():
    """Rows made with other values than those of the files give these values back."""
    group = next(one for one in GROUPS if one.name == "hpl over channels")
    true = dict(zip(group.parameters, (0.5, 0.8), strict=True))
    predictor = outcomes.Predictor(fit.with_values(load, true), CALIBRATION)
    made = [replace(row, value=predictor.outcome(0, row).predicted) for row in fit.rows_of(group, ROWS)]
    found = fit.fit_group(group, made, CALIBRATION, load, {})
    for parameter, value in true.items():
        assert found[parameter] == pytest.approx(value, rel=1e-2)


def test_single_odd_rows_do_not_move_a_fit():
    group = next(one for one in GROUPS if one.name == "gemm" or one.name == "fft")
    rows = fit.rows_of(group, ROWS)
    odd = [replace(rows[0], value=3 * rows[0].value), *rows[1:]]
    (parameter,) = group.parameters
    right = fit.fit_group(group, rows, CALIBRATION, load, {})[parameter]
    assert fit.fit_group(group, odd, CALIBRATION, load, {})[parameter] == pytest.approx(right, rel=0.05)


def test_what_no_row_determines_is_taken_from_its_like():
    """Without the rows of one device nothing says how HPL's kernels do on the U280: others' values do."""
    rows = [row for row in ROWS if row.benchmark != "hpl" or row.system == "noctua1"]
    groups = [group for group in GROUPS if group.name.startswith("hpl")]
    values = fit.fit(rows, load, groups)
    panels = ("fitted.panel_efficiency",)
    alveo = next(one for one in values if one.board == "u280_ddr" and one.names == panels)
    others = [value for one, value in values.items() if one.names == panels and one is not alveo]
    assert len(others) == 2
    assert min(others) < values[alveo] < max(others)


SPLITS = splits.splits(ROWS)


def test_there_are_five_splits():
    assert [split.name for split in SPLITS] == [
        "without 1 device", "without 2 devices", "without 4 devices", "without 16 devices",
        "without every second matrix size",
    ]  # fmt: skip
    for split in SPLITS:
        left = [row for row in ROWS if row.role == "test" and split.leaves_out(row)]
        assert 0 < len(left) < 200


@pytest.fixture(scope="module", name="left_out")
def left_out_rows():
    """All outcomes of each split."""
    return {split.name: splits.left_out(split, ROWS, load) for split in SPLITS}


def assert_within_bars(found):
    for bar in BARS:
        errors = validate.spread(one for one in found if bar.is_of(one))
        if errors is not None:
            assert errors.median <= WORSE * bar.median, (bar.name, errors)
            assert errors.p90 <= WORSE * bar.p90, (bar.name, errors)


def test_all_rows_that_had_no_part_in_a_fit(left_out):
    found = [one for outcomes_of_split in left_out.values() for one in outcomes_of_split]
    assert validate.unpredicted(found) == []
    assert len(found) > 400
    assert_within_bars(found)


@pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.name)
def test_rows_that_had_no_part_in_this_fit(left_out, split):
    """Each split alone, but for HPL of the U280: without one device one row is left for its two values."""
    found = [one for one in left_out[split.name] if not splits.is_new(split, one.row, ROWS)]
    new = {
        (one.row.benchmark, one.row.board)
        for one in left_out[split.name]
        if splits.is_new(split, one.row, ROWS)
    }
    assert new == ({("hpl", "u280_ddr")} if split.name == "without 1 device" else set())
    assert_within_bars(found)


def test_hpl_on_four_boards_of_the_hacc(left_out):
    """Table 4.8, beside the given rows: left out with those of four devices, and of one device alone."""
    (found,) = [one for one in left_out["without 4 devices"] if one.row.source == tables.SOURCE]
    assert (found.row.system, found.row.devices, found.row.matrix_width) == ("hacc", 4, 49152)
    assert found.error < 0.05


def test_a_parameter_too_many_would_be_noticed():
    """One value for a device count fits its rows, and says nothing of others: left out, it is far off."""
    split = next(one for one in SPLITS if one.name == "without 16 devices")
    found = splits.left_out(split, ROWS, lambda *key: slower_with_many(load(*key)))
    errors = validate.spread(one for one in found if BARS[0].is_of(one))
    assert errors.p90 > WORSE * BARS[0].p90


def slower_with_many(system):
    """A system whose kernels do half as much from 16 devices on, as if a value were of that count alone."""

    class Odd(type(system)):
        def board_with(self, bitstream, devices):
            board = super().board_with(bitstream, devices)
            if devices < 16:
                return board
            names = [name for name in ("clock", "memory.bank_bandwidth") if board.get(name)]
            return board.having({name: board[name] / 2 for name in names})

    return Odd(**{name: getattr(system, name) for name in system.__dataclass_fields__})


@pytest.mark.full
@pytest.mark.programs
def test_the_page_has_the_figures_of_texts_of_today():
    """Apart: those of shallow water need the program that makes meshes."""
    text = tool.PAGE.read_text(encoding="utf-8")
    assert tool.page(text, {"texts": tool.texts_table(texts.compare(texts.load()))}) == text


def test_the_page_has_the_tables_of_today(fitted, left_out):
    """`.venv/bin/python tools/validation.py` writes them."""
    text = tool.PAGE.read_text(encoding="utf-8")
    found = validate.predict_rows(outcomes.read(), load=load)
    printed = scored.score(load)
    tables = {
        "errors": tool.errors_table(found),
        "fitted": tool.fitted_table(fitted),
        "coverage": tool.coverage_table(intervals.load()),
        "scored": tool.scored_table(printed),
        "misses": tool.misses_table(printed),
    }
    assert tool.page(text, tables) == text
    wrong = {"coverage": tables["coverage"].replace("hpl", "hpcg")}
    assert tool.page(text, wrong) != text
    worst = max(one.error for one in left_out["without 1 device"])
    assert percent(worst, digits=1) in text


def test_the_picture_has_every_benchmark():
    picture = tool.PICTURE.read_text(encoding="utf-8")
    for name in {row.benchmark for row in ROWS}:
        assert f"{name}, noctua1" in picture
    drawn = tool.svg(validate.predict_rows(outcomes.read(), load=load))
    assert drawn.startswith(b"<?xml") and b"b_eff over the host" in drawn

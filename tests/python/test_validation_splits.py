"""`fabricmark validate --splits`: device counts, sizes and systems that are left out of the fit."""

import pytest
from conftest import REPOSITORY
from fabricmark.validate import intervals, outcomes, splits, splits_view, tables
from fabricmark.validate.intervals import Asked, Intervals

ROWS = tables.with_tables(row for _, row in outcomes.read())


@pytest.fixture(scope="module", name="found")
def all_splits():
    return list(splits_view.every(ROWS))


def coverage(pairs):
    return intervals.coverage([(one.error, interval) for one, interval in pairs])


def test_every_row_is_left_out_by_its_devices_and_by_its_system(found):
    tested = [row for row in ROWS if row.role == "test"]
    of_systems = [pair for split, pairs in found if split.of_system for pair in pairs]
    of_devices = [pair for split, pairs in found if " device" in split.name for pair in pairs]
    assert len(of_systems) == len(of_devices) == len(tested)


def test_intervals_cover_what_a_split_leaves_out(found):
    """Where they are for: all but systems that nobody measured."""
    own = [(split, pairs) for split, pairs in found if not split.of_system]
    for split, pairs in own:
        assert coverage(pairs).share >= 0.8, split.name
        assert coverage(pairs).unvalidated == 0
    assert 0.85 <= coverage([pair for _, pairs in own for pair in pairs]).share <= 0.95


def test_a_system_that_nobody_measured_has_no_interval(found):
    for split, pairs in found:
        if split.of_system:
            assert coverage(pairs).unvalidated == len(pairs)
            assert "of this system" in pairs[0][1].reason


def test_with_fewer_devices_than_were_measured_the_wider_of_both_counts():
    rows = [one for one in intervals.load() if (one.benchmark, one.transport) == ("b_eff", "channels")]
    more = [one for one in rows if one.devices > 1]
    asked = Asked("b_eff", "noctua1", "520n", "channels", 1, 1024.0, metric=rows[0].metric)
    known = Intervals(more)
    width = known.of(asked).half_width
    by_quantile = known._by_quantile(asked, more, known._distance(asked, more))
    assert width >= by_quantile and width > known.of(Asked(**{**vars(asked), "devices": 2})).half_width


def test_the_table_has_a_line_for_each_split(place):
    done = place.run("validate", "--splits", FABRICMARK_ROOT=str(REPOSITORY))
    assert done.returncode == 0, done.stderr
    for split in [*splits.splits(ROWS), *splits.of_systems(ROWS)]:
        assert any(line.startswith(split.name) for line in done.stdout.splitlines()), split.name


@pytest.mark.parametrize("more", [("--fit",), ("--profile", "published"), ("--csv", "-")])
def test_splits_are_of_the_published_rows_alone(place, one_error_line, more):
    done = place.run("validate", "--splits", *more, FABRICMARK_ROOT=str(REPOSITORY))
    assert "--splits is of the published rows alone" in one_error_line(done, 2)

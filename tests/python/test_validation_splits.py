"""`fabricmark validate --splits`: device counts, sizes and systems that are left out of the fit."""

import pytest
from conftest import REPOSITORY
from fabricmark.base.grouping import grouped
from fabricmark.validate import intervals, outcomes, splits, splits_view, tables, unmeasured
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
    """Beside systems that nobody measured."""
    own = [(split, pairs) for split, pairs in found if not split.of_system]
    for split, pairs in own:
        assert coverage(pairs).share >= 0.8, split.name
        assert coverage(pairs).unvalidated == 0
    assert 0.85 <= coverage([pair for _, pairs in own for pair in pairs]).share <= 0.95


def test_intervals_cover_most_of_each_benchmark_that_a_split_leaves_out(found):
    """Also where guesses stand in place of what is fitted: HPL on the HACC without one device."""
    for split, pairs in found:
        if split.of_system:
            continue
        for key, own in grouped(
            ((one.benchmark, one.system, one.transport), (one, bar)) for one, bar in pairs
        ).items():
            assert len(own) < 6 or coverage(own).share >= 0.8, (split.name, key)


def test_rows_with_guesses_have_the_wide_interval_of_other_systems(found):
    (own,) = [pairs for split, pairs in found if split.name == "without 1 device"]
    widths = {bar.half_width for one, bar in own if (one.benchmark, one.system) == ("hpl", "hacc")}
    others = [one for one in unmeasured.known() if one.system != "hacc"]
    assert widths == {unmeasured.half_width("hpl", "host", others)}
    assert all(bar.half_width < 1 for one, bar in own if one.system == "noctua1")


def test_a_system_that_nobody_measured_has_the_wide_interval_of_the_others(found):
    for split, pairs in found:
        if split.of_system:
            assert coverage(pairs).unvalidated == 0
            assert 0.8 <= coverage(pairs).share < 1, split.name
            assert coverage(pairs).half_width > 1


def test_the_file_of_systems_that_are_left_out_is_that_of_the_splits(found):
    made = [one for split, pairs in found if split.of_system for one, _ in pairs]
    known = unmeasured.known()
    assert [(one.system, one.metric, one.devices) for one in made] == [
        (one.system, one.metric, one.devices) for one in known
    ]
    for one, other in zip(made, known, strict=True):
        assert one.error == pytest.approx(other.error, abs=0.003)


def test_of_a_machine_that_nobody_measured():
    """Of this benchmark where two systems have enough rows, else of all; copies apart; each group once."""

    def rows(system, benchmark, error, count, metric="bandwidth_copy"):
        about = (benchmark, system, "a", "none", 1, 0.0, metric, error, "here")
        return [intervals.Residual(*about)] * count

    stream = [*rows("one", "stream", 0.1, 6), *rows("two", "stream", 0.2, 6)]
    others = [*rows("one", "gemm", 2.0, 1), *rows("one", "fft", -0.5, 1)]
    assert unmeasured.half_width("stream", "none", [*stream, *others]) == pytest.approx(0.2)
    assert unmeasured.half_width("gemm", "none", [*stream, *others]) == pytest.approx(2.0)
    assert unmeasured.half_width("gemm", "none", rows("one", "fft", -0.5, 1)) == pytest.approx(1.0)
    assert unmeasured.half_width("stream", "none", stream, of_copies=True) is None
    rare = [*rows("one", "hpl", 3.0, 1), *rows("one", "gemm", 0.1, 100)]
    assert unmeasured.half_width("fft", "none", rare) == pytest.approx(3.0), "not one of 101"


def test_with_fewer_devices_than_were_measured_the_wider_of_both_counts():
    rows = [one for one in intervals.load() if (one.benchmark, one.transport) == ("b_eff", "channels")]
    more = [one for one in rows if one.devices > 1]
    asked = Asked("b_eff", "noctua1", "520n", "channels", 1, 1024.0, metric=rows[0].metric)
    known = Intervals(more)
    width = known.of(asked).half_width
    by_quantile = known._by_quantile(asked, more, known._distance(asked, more))
    assert width >= by_quantile and width > known.of(Asked(**{**vars(asked), "devices": 2})).half_width


def test_the_table_has_a_line_for_each_split(place, found, monkeypatch):
    """Of what was found above."""

    def every(rows):
        assert rows == ROWS
        return found

    monkeypatch.setattr(splits_view, "every", every)
    done = place.run("validate", "--splits", FABRICMARK_ROOT=str(REPOSITORY))
    assert done.returncode == 0, done.stderr
    for split in [*splits.splits(ROWS), *splits.of_systems(ROWS)]:
        assert any(line.startswith(split.name) for line in done.stdout.splitlines()), split.name


@pytest.mark.parametrize("more", [("--fit",), ("--profile", "published"), ("--csv", "-")])
def test_splits_are_of_the_published_rows_alone(place, one_error_line, more):
    done = place.run("validate", "--splits", *more, FABRICMARK_ROOT=str(REPOSITORY))
    assert "--splits is of the published rows alone" in one_error_line(done, 2)

"""Error bars where values or parameters are set or swept: wider than those of what was measured."""

from dataclasses import replace
from math import log2

import numpy as np
import pytest
from conftest import REPOSITORY
from fabricmark import systems
from fabricmark.predict import certainty, points
from fabricmark.validate import intervals

KNOWN = intervals.load()
# The bitstream whose parameters are changed, and those of the same board that rows are of, by their files.
USUAL = {("hpl", "host"): ("520n_multi", "hpl_host"), ("stream", "none"): ("520n_multi", "stream")}
OTHERS = {"hpl_host_256": "520n_multi", "stream_16k": "520n_single", "stream_float": "520n_single",
          "stream_double": "520n_single"}  # fmt: skip


def case_of(benchmark, transport, given=None, overrides=None, devices=(1,), axes=None):
    request = points.PredictionRequest(
        benchmark, systems.load("noctua1"), transport, points.WEAK, given or {}, overrides or {}
    )
    found, _ = points.predict(request, list(devices), axes or {})
    known = certainty.certainty_of(request, found, "noctua1")
    return request, [known.of(one, one.headline) for one in found], known.line


def changed(row):
    """What differs between the usual bitstream and that of a row: values of both by parameter."""
    file, name = USUAL[row.benchmark, row.transport]
    usual = systems.bitstreams(file)[name].parameters
    own = systems.bitstreams(OTHERS[row.design])[row.design].parameters
    return {key: (usual.get(key), own.get(key)) for key in {*usual, *own} if usual.get(key) != own.get(key)}


def doublings(values):
    are_numbers = all(isinstance(one, int | float) and one > 0 for one in values)
    return abs(log2(values[0] / values[1])) if are_numbers else 1.0


def test_rows_of_other_bitstreams_are_within_the_wider_bar():
    rows = [one for one in KNOWN if one.board == "520n" and one.design in OTHERS]
    usual, wide = [], []
    for row in rows:
        left = intervals.Intervals([one for one in KNOWN if one.design != row.design])
        _, design = USUAL[row.benchmark, row.transport]
        width = left.of(replace(intervals.asked_of(row), design=design)).half_width
        usual.append(abs(row.error) <= width)
        wide.append(abs(row.error) <= width * (1 + sum(map(doublings, changed(row).values()))))
    assert len(rows) == 34
    assert np.mean(usual) < 0.75  # without it these rows are not covered
    assert np.mean(wide) >= 0.9


@pytest.mark.parametrize("by", (0.5, 2.0, 4.0))
def test_a_changed_value_makes_it_wider_by_once_for_each_doubling(by):
    _, (usual,), line = case_of("stream", "none")
    rate = systems.load("noctua1").board["memory.bank_bandwidth"]
    _, (now,), said = case_of("stream", "none", overrides={"board.memory.bank_bandwidth": by * rate})
    assert now == pytest.approx(usual * (1 + abs(log2(by))))
    assert "nobody measured" not in line
    assert "wider by once as much for each doubling of board.memory.bank_bandwidth" in said


def test_each_point_of_a_sweep_is_as_wide_as_it_is_far():
    clock = systems.load("noctua1").bitstream("hpl", "channels")["clock"]
    axes = {"bitstream.clock": [clock / 2, clock, clock * 2]}
    _, widths, _ = case_of("hpl", "channels", axes=axes)
    _, (usual,), _ = case_of("hpl", "channels")
    assert widths[1] == pytest.approx(usual) and widths[0] == pytest.approx(2 * usual)


def test_a_parameter_that_is_no_number_counts_as_a_doubling():
    request, _, _ = case_of("hpl", "channels")
    (point,), _ = points.predict(request, [1], {})
    other = replace(request, given={"block_size": 256, "data_type": "half"})
    assert certainty._doublings(other, point, "block_size") == 1.0
    assert certainty._doublings(other, point, "data_type") == 1.0


def test_rows_of_one_s_own_do_not_measure_changed_values(predict):
    words = ["hpl", "--system", "noctua1", "--transport", "channels", "--calibrate",
             REPOSITORY / "docs" / "examples" / "own_rows.csv"]  # fmt: skip
    usual, changed = predict(*words), predict(*words, "--set", "bitstream.clock=400MHz")
    widths = [float(one.stdout.splitlines()[3].split("%")[0].split()[-1]) for one in (usual, changed)]
    assert widths[1] > 1.2 * widths[0]
    assert "for each doubling of bitstream.clock, which nobody measured" in " ".join(changed.stdout.split())


def test_a_closed_form_has_none():
    request, _, _ = case_of("b_eff", "host")
    found, _ = points.predict(request, [2], {})
    known = certainty.certainty_of(replace(request, closed_form=True), found, "noctua1")
    assert "--closed-form differs from what was measured" in known.line

"""Axes of plots: where their ticks stand and how they are written."""

import pytest
from fabricmark.report import scales


@pytest.mark.parametrize(
    "value, unit, shown",
    [
        (1e-6, "GB/s", "1 kB/s"),
        (100e-6, "GB/s", "100 kB/s"),
        (48.12, "GB/s", "48.12 GB/s"),
        (1000, "GB/s", "1 TB/s"),
        (2500, "us", "2.5 ms"),
        (0.5, "us", "500 ns"),
        (0.02, "GUOP/s", "20 MUOP/s"),
        (80, "%", "80 %"),
        (3, "", "3"),
    ],
)
def test_ticks_have_prefixes(value, unit, shown):
    assert scales.text(value, unit) == shown


@pytest.mark.parametrize(
    "low, high, is_log", [(0, 1, False), (3, 3.4, False), (1e-4, 30, True), (2, 9, True), (5, 6, True)]
)
def test_axes_have_ticks_inside(low, high, is_log):
    scale = scales.over([low, high], 0, 100, is_log)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 6 and all(0 <= scale(value) <= 100 for value in ticks)
    assert ticks == sorted(set(ticks))


def test_axes_of_one_value():
    for values, is_log in (([7.0], True), ([7.0], False), ([0.0], False), ([], False)):
        assert len(scales.over(values, 0, 100, is_log).ticks()) >= 2

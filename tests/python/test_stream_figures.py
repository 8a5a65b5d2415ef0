"""docs/stream_*.svg, the page around them, and the clock's figures that they show."""

import re
from dataclasses import replace

import credit_link_timelines as timelines
import pytest
import stream_clock as clock
import stream_figures as figures
import stream_series as series
from conftest import REPOSITORY

AGAIN = "draw them again: .venv/bin/python tools/stream_figures.py"
PAGE = (REPOSITORY / "docs" / "stream_figures.md").read_text(encoding="utf-8")
THESIS = [
    *(f"2.{number}" for number in range(2, 11)),
    *(f"3.{number}" for number in range(8, 15)),
    *(f"4.{number}" for number in range(6, 11)),
]


def numbers(picture):
    return [float(word) for word in re.findall(r"-?\d+\.\d+", picture)]


def points(figure, kind, panel=0):
    """{x: y} of all lines of a kind, in their order."""
    return [
        dict(zip(line.x, line.y, strict=True))
        for line in series.FIGURES[figure]()[panel].lines
        if line.kind == kind
    ]


def test_every_figure_of_the_thesis_is_there():
    drawn = {panel.figure for panel in timelines.PANELS} | set(series.FIGURES)
    assert drawn == set(THESIS)
    for figure in series.FIGURES:
        assert f"]({figures.picture(figure).name})\n\nFig. {figure}. " in PAGE
    assert f"]({timelines.PICTURE.name})" in PAGE


@pytest.mark.parametrize("figure", series.FIGURES)
def test_pictures_are_what_the_models_say(figure):
    kept, drawn = figures.picture(figure).read_text(encoding="utf-8"), figures.svg(figure).decode()
    assert numbers(kept) == pytest.approx(numbers(drawn), abs=1e-3), AGAIN


def test_another_figure_of_the_clock_would_be_seen(monkeypatch):
    found = clock.stored()
    monkeypatch.setattr(clock, "stored", lambda: {run: 1.01 * rate for run, rate in found.items()})
    kept, drawn = figures.picture("3.8").read_text(encoding="utf-8"), figures.svg("3.8").decode()
    assert numbers(kept) != pytest.approx(numbers(drawn), abs=1e-3)


def test_equations_give_what_was_worked_out_by_hand():
    """The check values of eqs. 3.8 and 4.2 to 4.6, in GFLOP/s and us."""
    rates = [each[64] for each in points("4.10", series.MODEL)]
    assert rates[1] == pytest.approx(10890, rel=1e-3) and rates[3] == pytest.approx(11170, rel=1e-3)
    assert [each[4] for each in points("3.8", series.MODEL)][2] == pytest.approx(724.5, rel=1e-3)
    assert points("3.9", series.MODEL)[0][8] == pytest.approx(2.549, rel=1e-3)
    direct, switched = points("4.9", series.MODEL, panel=2)
    assert [1e3 * direct[boards] for boards in (2, 16, 64, 128)] == pytest.approx(
        [245.6, 254.0, 282.8, 321.1], rel=1e-3
    )
    assert [1e3 * switched[boards] for boards in (2, 16, 64, 128)] == pytest.approx(
        [241.1, 264.1, 343.1, 455.0], rel=1e-3
    )
    assert [1e6 * hop for hop, _ in series.cases().values()] == pytest.approx([0.599, 0.832, 1.646, 3.274])


def test_the_clock_is_stored_for_all_that_is_drawn():
    assert list(clock.stored()) == clock.runs()


@pytest.mark.programs
@pytest.mark.usefixtures("of_the_repository")
@pytest.mark.parametrize(
    "run",
    [
        clock.Run("tsunami", clock.RING, "published", *clock.SMALL, 1, 2),
        clock.Run("lbm_2", clock.RING, "published", *clock.FLOW, 1, 2),
        clock.Run("tsunami", clock.SWITCHES, "fitted", *clock.KIB_4, 1, 2),
        *(
            pytest.param(run, marks=pytest.mark.full)
            for run in clock.runs()
            if run.cells * run.steps < 10**7 and run.boards > 2
        ),
    ],
    ids=lambda run: f"{run.bitstream}-{run.cells}-{run.cascaded}-{run.boards}",
)
def test_the_clock_still_says_so(run, tmp_path):
    again = "run .venv/bin/python tools/stream_clock.py"
    alone = replace(run, boards=1, ratio=clock.PLAIN)
    assert clock.rate(run, tmp_path) == pytest.approx(clock.stored()[run], rel=1e-4), again
    assert clock.rate(run, tmp_path) != pytest.approx(clock.stored()[alone], rel=1e-4)

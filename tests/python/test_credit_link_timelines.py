"""docs/credit_link_timelines.svg, and what fabricmark-describe says of a credit link cycle by cycle."""

import re
from itertools import pairwise

import credit_link_timelines as timelines
import pytest
from conftest import REPOSITORY
from fabricmark.base import kernels
from fabricmark.base.errors import FabricmarkError

AGAIN = "draw it again: .venv/bin/python tools/credit_link_timelines.py"
pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]


@pytest.fixture(scope="module")
def found():
    return {panel.figure: shown for panel, shown in zip(timelines.PANELS, timelines.timelines(), strict=True)}


def intervals(headers, kind):
    return [
        after - before for before, after in pairwise(one["cycle"] for one in headers if one["kind"] == kind)
    ]


def numbers(picture):
    """Every coordinate of a picture, however matplotlib wrote it."""
    return [float(word) for word in re.findall(r"-?\d+\.\d+", picture)]


def test_the_picture_is_of_this_model(found):
    drawn = timelines.svg(list(found.values()))
    assert numbers(timelines.PICTURE.read_text()) == pytest.approx(numbers(drawn.decode()), abs=1e-3), AGAIN
    page = (REPOSITORY / "docs" / "credit_link.md").read_text(encoding="utf-8")
    assert f"]({timelines.PICTURE.name})" in page


def test_credits_come_back_as_the_thesis_prints(found):
    """Mondigo 2020, Figs. 2.2 and 2.3: every 128 reads, twice as long where every other cycle has one."""
    for figure, cycles in (("2.2", 129), ("2.3", 256)):
        told = intervals(found[figure]["ends"][1]["headers"], "credits")
        assert len(told) > 5 and set(told[1:]) == {cycles}


def test_credits_ride_on_data_where_both_directions_have_some(found):
    headers = found["2.4"]["ends"][1]["headers"]
    assert {one["kind"] for one in headers[3:]} == {"data"}
    assert {one["kind"] for one in found["2.6"]["ends"][1]["headers"]} == {"credits"}


def test_a_word_now_and_then_leaves_by_the_time_out(found):
    for figure in ("2.5", "2.7"):
        first = found[figure]["ends"][0]["headers"][0]
        assert first["cycle"] == pytest.approx(timelines.LINK["timeout"], abs=4)


def test_a_sink_that_stops_loses_nothing(found):
    near, far = found["2.8"]["ends"]
    assert 480 <= max(far["receive_fill"]) <= timelines.LINK["receive"]
    assert min(near["credit"]) == 0 and sum(far["reads"][1801:]) > 500


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"credit_link": {"receive": 62}}, "wait for ever"),
        ({"credit_link": {"depth": 62}}, "a request has no depth"),
        ({"cycles": 200000}, "100000 cycles at most"),
        ({"ends": [{}]}, "has two ends"),
        ({"ends": [{"writes": {"every": 0}}, {}]}, "repeats after no cycle"),
        ({"ends": [{"writes": {}, "returns": True}, {}]}, "returns words writes others"),
    ],
)
def test_what_cannot_be_is_refused(change, cause):
    with pytest.raises(FabricmarkError, match=cause):
        kernels.ask([timelines.PANELS[4].request | change])

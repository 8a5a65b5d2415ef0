"""Resources of designs: factors fitted on half of the published builds, and tested on the others."""

import statistics

import area_factors as tool
import pytest
from conftest import REPOSITORY
from fabricmark.explore import area, area_fit, view
from inspect_support import needs_clang


@needs_clang
def test_the_files_are_what_the_tool_writes():
    for name, text in tool.texts().items():
        assert (area.folder() / name).read_text() == text, f"run tools/area_factors.py: {name}"


def test_no_build_is_in_both_halves_and_every_family_is_tested():
    for vendor in ("intel", "xilinx"):
        for one in area.factors(vendor).values():
            assert not set(one.fitted_to) & set(one.tested_on)
            assert one.fitted_to and one.tested_on
    tested = {one.family for one in view.builds() if one.part == area_fit.TEST}
    assert tested == {"stream", "random_access", "fft", "gemm", "ptrans", "hpl"}


def test_the_test_half_holds_the_bars_and_what_misses_them_is_said():
    tested = [one for one in view.builds() if one.part == area_fit.TEST]
    median, p90 = area_fit.spread(tested)
    assert median <= area_fit.MEDIAN_BAR and p90 <= area_fit.P90_BAR
    page = (REPOSITORY / "docs/explore.md").read_text()
    for family in dict.fromkeys(one.family for one in tested):
        own = [one for one in tested if one.family == family]
        median, p90 = area_fit.spread(own)
        word = "held" if median <= area_fit.MEDIAN_BAR and p90 <= area_fit.P90_BAR else "missed"
        assert f"| {family} | {100 * median:.0f} % | {100 * p90:.0f} % | {word} |" in page


@needs_clang
@pytest.mark.parametrize("resource", ["logic", "registers"])
def test_builds_of_the_fit_chose_what_their_resources_follow_from(resource):
    """Each estimated from the others of its half: by DSPs they are nearer than by operations."""
    intel = [one for one in area_fit.builds() if one.vendor == "intel"]
    fit, _ = area_fit.halves(intel, resource)
    chosen = area_fit.TAKES["intel"][resource]
    other = [area.OPERATIONS if name == area.DSPS else name for name in chosen]
    by_dsps, by_operations = (
        area_fit.left_out(fit, "intel", resource, names) for names in (chosen, other)
    )  # fmt: skip
    assert statistics.median(by_dsps) < statistics.median(by_operations)
    assert statistics.mean(by_dsps) < statistics.mean(by_operations)


def test_engines_are_the_difference_of_published_designs():
    """Meyer 2024, Table 5.1."""
    found = {one.transport: one for one in area_fit.engines() if one.board == "u280_hbm"}
    udp = found["accl-udp"]
    assert udp.more == {"logic": 50238, "registers": 123366, "bram": 47, "uram": 0, "dsps": 24}
    assert not udp.note and found["accl-tcp"].note and found["accl-tcp"].more["logic"] == 207579


def test_a_fit_does_not_see_the_builds_of_the_test():
    """The fault: a build of the test that is ten times as large changes no factor."""
    rows = [
        area_fit.Build(
            str(number), "gemm", "intel", dict.fromkeys(area.AMOUNTS, float(number)), {"dsps": number}
        )
        for number in range(1, 9)
    ]
    before = area_fit.fitted(area_fit.halves(rows, "dsps")[0], "intel", "dsps")
    rows[1] = area_fit.Build("2", "gemm", "intel", rows[1].amounts, {"dsps": 20})
    assert area_fit.fitted(area_fit.halves(rows, "dsps")[0], "intel", "dsps") == before == {"dsps": 1.0}
    rows[0] = area_fit.Build("1", "gemm", "intel", rows[0].amounts, {"dsps": 20})
    assert area_fit.fitted(area_fit.halves(rows, "dsps")[0], "intel", "dsps") != before

"""The metrics of `fabricmark scale`: speed-up, efficiency, normalised as published."""

import pytest
import samples
from fabricmark import results
from fabricmark.base.errors import FabricmarkError
from fabricmark.measure import scale
from fabricmark.report import groups, speedups
from fabricmark.results import scaling
from fabricmark.results.scaling import Design
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    "gflops, replications, mhz, normalised",
    [
        (708.95, 5, 160.42, 88.39),  # 520N
        (765.23, 4, 240.00, 79.71),  # 520N MX
        (603.86, 3, 236.00, 85.29),  # U280, HBM2
        (266.91, 3, 100.00, 88.97),  # U280, DDR
        (739.59, 5, 225.00, 65.74),  # PAC D5005
    ],
)
def test_gemm_norm_as_published(gflops, replications, mhz, normalised):
    """Meyer 2024, Tables 3.4 (replications), 3.5 (frequency) and 3.6 (GEMM, GEMM norm)."""
    found = scaling.normalised(gflops, replications, Design(kernel_mhz=mhz))
    assert found["per_replication_100_mhz"] == pytest.approx(normalised, abs=0.006)


@given(
    st.sampled_from(["weak", "strong"]),
    st.sampled_from(["higher", "lower"]),
    st.integers(1, 64),
    st.integers(1, 64),
    st.floats(1e-6, 1e6),
)
def test_perfect_scaling_is_one(mode, better, fewest, more, first):
    ranks = [fewest, fewest * more]
    last = first * more if better == "higher" else first if mode == "weak" else first / more
    gained, efficiency = scaling.speed_up(mode, better, ranks, [first, last])
    assert (gained, efficiency) == (pytest.approx(more), pytest.approx(1))
    assert scaling.speed_up(mode, better, ranks, [0.0, last]) == (None, None)


@pytest.mark.parametrize(
    "kind, first, last, expected",
    [
        ("measured", (1, 1), (4, 4), (3.0, 0.75)),
        ("measured", (2, 2), (8, 8), (3.0, 0.75)),
        ("measured", (1, 1), (4, 2), (3.0, None)),  # two ranks on each device
        ("measured", (1, 1), (4, 1), (3.0, None)),
        ("measured", (2, 1), (8, 8), (3.0, None)),  # the first ones share
        ("modelled", (1, 1), (4, 1), (3.0, 0.75)),  # of a system that has as many
        ("emulated", (1, 1), (4, 4), (None, None)),
    ],
)
def test_the_one_judge_of_scaling(place, kind, first, last, expected):
    """The same answer in the summary of `scale` and in the plots of result files."""
    points = [scaling.Point(*first, 10.0), scaling.Point(*last, 30.0)]
    assert scaling.judged("weak", "higher", kind, *points) == expected
    runs = []
    for point in points:
        document = samples.result(ranks=point.ranks, devices=point.devices, operations=(), kind=kind)
        seconds = samples.SIZE * 12 * point.ranks / point.best / 1e9
        document["measurements"] = [samples.measurement("triad", ((seconds,),) * point.ranks, kind)]
        runs.append(
            scaling.Run(point.ranks, None, results.load(place.write(f"{point.ranks}.json", document)))
        )
    (series,) = scaling.series("weak", runs, Design())
    assert (series.speed_up[-1], series.efficiency[-1]) == pytest.approx(expected)
    shares = [
        line.efficiencies[-1] for line in speedups.speed_up_lines(groups.make([run.result for run in runs]))
    ]
    assert shares == ([] if kind == "emulated" else [pytest.approx(expected[1])])


@given(st.text(max_size=12))
def test_numbers_of_ranks_are_read(text):
    try:
        assert all(ranks > 0 for ranks in scale.parse_ranks(text))
    except FabricmarkError as error:
        assert "\n" not in str(error)

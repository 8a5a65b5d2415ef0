"""The metrics of `fabricmark scale`: speed-up, efficiency, normalised as published."""

import pytest
from fabricmark.base.errors import FabricmarkError
from fabricmark.measure import scale
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


@given(st.text(max_size=12))
def test_numbers_of_ranks_are_read(text):
    try:
        assert all(ranks > 0 for ranks in scale.parse_ranks(text))
    except FabricmarkError as error:
        assert "\n" not in str(error)

"""What the comparisons of `make bench` rest on: ratios, which row counts, and sizes of the peers."""

import sys

import pytest
from conftest import REPOSITORY


@pytest.fixture(autouse=True)
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(REPOSITORY / "bench"))
    yield
    for name in ("common", "pairs", "hpcc"):
        sys.modules.pop(name, None)


def contender(name, *figures):
    from pairs import Contender

    return Contender(name, lambda: 0.0, list(figures))


@pytest.mark.parametrize("bar, reached", [(0.7, True), (0.9, False)])
def test_the_bar_counts_for_the_faster_runtime(bar, reached):
    from common import fastest_counts

    ours = [contender("slow", 5, 6, 7), contender("fast", 8, 8, 9)]
    rows = fastest_counts("GEMM on {} / peer", ours, contender("peer", 10, 10, 10), bar, 3)
    assert [row.what for row in rows] == ["GEMM on slow / peer", "GEMM on fast / peer"]
    assert [row.counts for row in rows] == [False, True]
    assert rows[1].reached is reached
    assert rows[1].bar == f">= {bar:.2f}, faster runtime"
    assert rows[0].bar == f">= {bar:.2f} on fast"
    assert (rows[1].figure, rows[1].spread) == (0.8, "0.800 to 0.900, 3 pairs")


def test_contenders_take_turns():
    from pairs import Contender, interleave

    order = []
    contenders = [Contender(name, lambda name=name: order.append(name) or 1.0) for name in "abc"]
    interleave(contenders, 3)
    assert "".join(order) == "abcbcacab"


def test_widths_of_hpcc_give_the_sizes_that_they_are_named_by():
    import hpcc

    for log_table, (width, log_vector) in hpcc.WIDTHS.items():
        assert 2**log_table <= width**2 / 2 < 2 ** (log_table + 1)
        assert 2**log_vector == hpcc.RANKS * 2**log_table / 8
        assert f"\n{width} Ns\n" in hpcc.INPUT.format(width=width)


def test_without_hpcc_its_rows_are_left_out_and_it_is_said(monkeypatch, capsys):
    import hpcc

    monkeypatch.setattr(hpcc.shutil, "which", lambda name: None)
    assert hpcc.is_there() is False
    assert "rows left out" in capsys.readouterr().err

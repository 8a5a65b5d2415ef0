"""What the comparisons of `make bench` rest on: ratios, which row counts, and sizes of the peers."""

import os
import random
import shutil
import statistics
import sys
import types

import pytest
from conftest import REPOSITORY

MODULES = ("against", "anuga_peer", "common", "pairs", "peer_packages", "hpcc", "cases")


@pytest.fixture(autouse=True)
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(REPOSITORY / "bench"))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] in MODULES]:
        sys.modules.pop(name)


def contender(name, *values):
    from pairs import Contender

    return Contender(name, lambda: 0.0, list(values))


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
    assert (rows[1].value, rows[1].spread) == (0.8, "0.800 to 0.900, 3 pairs")


def test_contenders_take_turns():
    from pairs import Contender, interleave

    order = []
    contenders = [Contender(name, lambda name=name: order.append(name) or 1.0) for name in "abc"]
    interleave(contenders, 3)
    assert "".join(order) == "abcbcacab"


def planted(generator, rate, spread=0.1, rounds=40):
    return [generator.gauss(rate, spread * rate) for _ in range(rounds)]


def test_the_better_peer_is_found_and_the_ratio_is_its():
    from pairs import ratio_to_best

    generator = random.Random(1)
    peers = [contender("slow", *planted(generator, 5)), contender("fast", *planted(generator, 10))]
    found, names = ratio_to_best(contender("own", *planted(generator, 8)), peers)
    assert names == ["fast"]
    assert found.median == pytest.approx(0.8, rel=0.1)


def test_the_best_of_equal_peers_is_not_favoured_by_the_noise_that_made_it_the_best():
    from pairs import ratio, ratio_to_best

    fair, favoured = [], []
    for seed in range(200):
        generator = random.Random(seed)
        own = contender("own", *planted(generator, 1, rounds=8))
        peers = [contender(str(i), *planted(generator, 1, rounds=8)) for i in range(4)]
        fair.append(ratio_to_best(own, peers)[0].median)
        favoured.append(ratio(own, max(peers, key=lambda peer: statistics.median(peer.values))).median)
    assert statistics.mean(fair) == pytest.approx(1, abs=0.01)
    assert statistics.mean(favoured) < 0.97


def test_each_half_of_the_rounds_is_met_by_the_best_of_the_other():
    from pairs import ratio_to_best

    peers = [contender("even", 4, 1, 4, 1, 4), contender("odd", 1, 4, 1, 4, 1)]
    found, names = ratio_to_best(contender("own", 2, 2, 2, 2, 2), peers)
    assert names == ["even", "odd"]
    assert (found.smallest, found.median, found.largest) == (2, 2, 2)  # of the same rounds it would be 1/2


def test_rows_of_the_choice_of_b_eff(monkeypatch):
    """Own rates are two thirds of those of whole messages in every round; one round becomes two."""
    from cases import b_eff

    runs = []

    def rates(variables, *options):
        runs.append(options)
        rate = {("--chunk-bytes", "0"): 3.0, (): 2.0}.get(options[2:], 1.0)
        return dict.fromkeys(b_eff.CHOICE_SIZES, rate)

    monkeypatch.setattr(b_eff, "b_eff_rates", rates)
    rows = b_eff.choices("host", {}, 1, " on system")
    assert rows[0].what == "b_eff host on system, chosen / best in the other rounds (whole), 1 B"
    assert [row.reached for row in rows] == [False] * len(b_eff.CHOICE_SIZES)
    assert rows[0].value == pytest.approx(2 / 3)
    assert "2 pairs" in rows[0].spread
    assert len(runs) == 2 * (1 + len(b_eff.FORCED["host"]))


def test_widths_of_hpcc_give_the_sizes_that_they_are_named_by():
    import hpcc

    for log_table, (width, log_vector) in hpcc.WIDTHS.items():
        assert 2**log_table <= width**2 / 2 < 2 ** (log_table + 1)
        assert 2**log_vector == hpcc.RANKS * 2**log_table / 8
        assert f"\n{width} Ns\n" in hpcc.input_text(width)
        assert "\n0 Number of additional problem sizes for PTRANS\n" in hpcc.input_text(width)


def test_a_further_width_for_ptrans():
    import hpcc

    text = hpcc.input_text(200, 4096)
    assert "\n1 Number of additional problem sizes for PTRANS\n4096 values of N\n" in text


HPCC_OUTPUT = """
TIME   M     N    MB  NB  P   Q     TIME   CHECK   GB/s   RESID
---- ----- ----- --- --- --- --- -------- ------ -------- -----
WALL  4096  4096  80  80   1   2     0.08 PASSED    1.599  0.00
CPU   4096  4096  80  80   1   2     0.07 PASSED    1.866  0.00
WALL  4096  4096  80  80   1   2     0.09 PASSED    1.440  0.00
CPU   4096  4096  80  80   1   2     0.06 PASSED    2.147  0.00
WALL   100   100  80  80   1   2     0.00 PASSED    1.493  0.00
Begin of Summary section.
VersionMajor=1
Success=1
HPL_Tflops=0.158
HPL_N=8192
PTRANS_GBs=1.49307
PTRANS_n=100
"""


def test_metrics_of_hpcc():
    import hpcc

    found = hpcc.summary(HPCC_OUTPUT)
    assert (found["Success"], found["HPL_Tflops"], found["PTRANS_n"]) == (1, 0.158, 100)
    assert hpcc.ptrans_rates(HPCC_OUTPUT) == {4096: 1.440, 100: 1.493}  # the slowest of the repetitions
    hpcc.expect(found, "HPL_N", 8192)
    with pytest.raises(SystemExit, match=r"hpcc took HPL_N = 8192.0 instead of 4096"):
        hpcc.expect(found, "HPL_N", 4096)


def hpl_result(lu=(3.0, 2.5), solve=(0.5, 0.4)):
    """What bench/cases/hpl.py reads of a result of fm_hpl on two ranks."""
    return {
        "run": {
            "steps": [
                {"name": name, "seconds": seconds}
                for name, seconds in (
                    ("kernels", 9.0),
                    ("inputs", 1.0),
                    ("repetitions", 99.0),
                    ("check", 2.0),
                )
            ]
        },
        "measurements": [
            {
                "name": "performance",
                "axes": {"operation": "lu"},
                "best": 100.0,
                "samples": {"per_rank": [lu, lu]},
            },
            {
                "name": "time",
                "axes": {"operation": "solve"},
                "best": 0.4,
                "samples": {"per_rank": [(0, 0), solve]},
            },
            {
                "name": "performance",
                "axes": {"operation": "lu+solve"},
                "best": 90.0,
                "samples": {"per_rank": []},
            },
        ],
    }


def test_the_wall_time_of_hpl_is_compared_with_what_it_cannot_do_without():
    from cases import hpl

    # 3 + 2.5 + 0.5 + 0.4 s are timed, 1 + 2 s are inputs and check; building kernels is overhead.
    assert hpl.needed_seconds(hpl_result()) == pytest.approx(9.4)


def test_rates_of_hpl_and_its_overhead(monkeypatch):
    from cases import hpl

    run = hpl.Runs("double", "system")
    monkeypatch.setattr(hpl, "run_result_on_two_ranks", lambda *_: hpl_result())
    ticks = iter([100.0, 118.8])
    monkeypatch.setattr(hpl.time, "perf_counter", lambda: next(ticks))
    assert run.rate() == 90
    assert run.wall == [pytest.approx(2.0)]
    assert "double" in run.options and "8192" in run.options


@pytest.mark.parametrize("shares, reached", [([1.2, 1.5, 1.6], True), ([1.2, 1.51, 1.6], False)])
def test_too_much_wall_time_is_a_miss(shares, reached):
    from cases import hpl

    row = hpl.wall_row("system", shares)
    assert (row.value, row.reached, row.bar) == (shares[1], reached, "<= 1.50")
    assert row.counts


def test_share_of_the_exchange_that_is_hidden():
    from cases import hpl

    others = [{"name": "performance", "best": 99.0}]
    hidden = {"name": "exchange_hidden", "best": 80.0}
    assert hpl.hidden_share({"measurements": [*others, hidden]}) == pytest.approx(0.8)
    assert hpl.hidden_share({"measurements": others}) == 0


@pytest.mark.parametrize("share, reached", [(0.5, True), (0.49, False)])
def test_exchange_in_the_open_is_a_miss(share, reached):
    from cases import hpl

    assert hpl.hidden_row("system", [share, share, 1.0]).reached is reached


def test_rows_of_hpl_and_ptrans(monkeypatch):
    """Rates are divided by hpcc's, for each type and runtime; a miss says so."""
    from cases import hpl, ptrans
    from common import Settings

    settings = Settings(pairs=1, runtimes=["system"])
    for case in (hpl, ptrans):
        monkeypatch.setattr(case.hpcc, "is_there", lambda: True)
        monkeypatch.setattr(case.hpcc, "run", lambda _: HPCC_OUTPUT)
    monkeypatch.setattr(hpl, "run_result_on_two_ranks", lambda *_: hpl_result())
    double, single, wall = hpl.compare_rates(settings)
    assert (double.value, double.reached, double.bar) == (
        pytest.approx(90 / 158), False, ">= 0.60, faster runtime",
    )  # fmt: skip
    assert "HPL double, n = 8192" in double.what and "float" in single.what and not single.reached
    assert "wall time" in wall.what and wall.reached
    measured = {"name": "bandwidth", "axes": {"operation": "transpose"}, "median": 2.16, "best": 9.0}
    monkeypatch.setattr(ptrans, "run_result_on_two_ranks", lambda *_: {"measurements": [measured]})
    (row,) = ptrans.compare(settings)
    assert (row.value, row.reached) == (pytest.approx(1.5), True)
    measured["median"] = 2.15
    assert not ptrans.compare(settings)[0].reached


def test_a_missed_bar_says_so(capsys, monkeypatch):
    from cases import hpl

    monkeypatch.setenv("COLUMNS", "140")
    import run

    run.print_rows([hpl.hidden_row("system", [0.49])])
    assert "MISSED" in capsys.readouterr().out
    sys.modules.pop("run")


def test_without_hpcc_its_rows_are_left_out_and_it_is_said(monkeypatch, capsys):
    import hpcc

    monkeypatch.setattr(hpcc.shutil, "which", lambda name: None)
    assert hpcc.is_there() is False
    assert "rows left out" in capsys.readouterr().err


def case_of(tmp_path, rates):
    """A case that gives the rates of the build that is measured, one a run; and the other build's folder."""
    import common

    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/fm_stream").touch()
    order = []

    def measure():
        side = "other" if common.program("x") == str(tmp_path / "bin/x") else "own"
        order.append(side)
        return {"triad": rates[side][order.count(side) - 1]}

    return types.SimpleNamespace(own_runs=lambda runtime: {"base kernel": measure}), order


@pytest.mark.parametrize(
    "factor, spread, reached",
    [(1.0, 0.01, True), (0.98, 0.01, True), (0.8, 0.01, False), (0.9, 0.3, True)],
)
def test_another_build_is_met_in_turns_and_only_a_clear_loss_is_missed(tmp_path, factor, spread, reached):
    import against
    from common import Settings

    noise = [1 + spread * (-1) ** i for i in range(6)]
    rates = {"own": [factor * x for x in noise], "other": [1.0] * 6}
    case, order = case_of(tmp_path, rates)
    (row,) = against.compare({"stream": case}, Settings(pairs=6, runtimes=["system"]), tmp_path)
    assert row.what == "stream on system: base kernel, triad"
    assert order[:4] == ["other", "own", "own", "other"]
    assert row.reached is reached
    assert row.value == pytest.approx(factor, rel=spread)


def test_a_folder_without_programs_is_no_build(tmp_path):
    import against
    from common import Settings

    with pytest.raises(SystemExit, match=r"has no bin/fm_\*"):
        against.compare({}, Settings(pairs=1, runtimes=[]), tmp_path)


def test_each_build_reads_the_kernels_of_its_own_sources(tmp_path, monkeypatch):
    import against
    import common
    from common import Settings

    monkeypatch.setenv("FABRICMARK_KERNELS", "/of/the/user")
    builds = {name: tmp_path / name / "build" for name in ("own", "other")}
    for build in builds.values():
        (build / "bin").mkdir(parents=True)
        (build.parent / "kernels").mkdir()
        (build / "CMakeCache.txt").write_text(f"A:B=C\nCMAKE_HOME_DIRECTORY:INTERNAL={build.parent}\nD:E=F\n")
        program = build / "bin" / "fm_kernels"
        program.write_text(f"#!{sys.executable}\nimport os\nprint(os.environ['FABRICMARK_KERNELS'])\n")
        program.chmod(0o755)
    monkeypatch.setattr(against, "OWN_BUILD", builds["own"])
    read = []

    def measure():
        read.append(common.run_program([common.program("fm_kernels")]).strip())
        return {"rate": 1.0}

    case = types.SimpleNamespace(own_runs=lambda runtime: {"run": measure})
    against.compare({"x": case}, Settings(pairs=2, runtimes=["system"]), builds["other"])
    own, other = (str(build.parent / "kernels") for build in builds.values())
    assert read == [other, own, own, other]
    with common.programs_of(tmp_path):  # which does not say where its sources lie
        assert "FABRICMARK_KERNELS" not in os.environ
    assert os.environ["FABRICMARK_KERNELS"] == "/of/the/user"
    shutil.rmtree(tmp_path / "other" / "kernels")
    with (
        pytest.raises(SystemExit, match=r"has no kernels; make that build again"),
        common.programs_of(builds["other"]),
    ):
        pass


def test_the_grids_of_the_models_have_axes_that_there_are(monkeypatch):
    """Names of values change; the first value of each axis is enough to meet all of them."""
    from cases import models

    first = {key: (more, {name: axis[:1] for name, axis in axes.items()})
             for key, (more, axes) in models.GRIDS.items()}  # fmt: skip
    monkeypatch.setattr(models, "GRIDS", first)
    for benchmark, transport in first:
        assert models.evaluations(benchmark, transport) > 0


def test_the_cases_say_what_they_run():
    """Every program of the suite is met by one of them."""
    import importlib

    names = [path.stem for path in (REPOSITORY / "bench/cases").glob("*.py")]
    cases = {name: importlib.import_module(f"cases.{name}") for name in names if name != "__init__"}
    benchmarks = {path.name for path in (REPOSITORY / "src/benchmarks").iterdir()} - {"common"}
    assert benchmarks <= {name for name, case in cases.items() if hasattr(case, "own_runs")}


@pytest.mark.parametrize("code, reached", [(3, True), (0, False)])
def test_a_program_that_survives_its_fault_is_a_missed_row_and_a_line(monkeypatch, capsys, code, reached):
    from cases import failures
    from common import Settings

    def run(command, **_):
        is_fault = any("kill" in word for word in command) and any("fm_hpl" in word for word in command)
        return failures.subprocess.CompletedProcess(command, code if is_fault else 3)

    monkeypatch.setattr(failures.subprocess, "run", run)
    monkeypatch.setattr(failures, "TIME_OUT", 0)
    rows = failures.compare(Settings(pairs=1, runtimes=[]))
    assert [row.reached for row in rows if "(kill)" in row.what] == [reached, reached]
    assert all(row.reached for row in rows if "(kill)" not in row.what)
    said = "" if reached else "fm_hpl on 2 ranks survived kill:timed@1"
    assert said in capsys.readouterr().err

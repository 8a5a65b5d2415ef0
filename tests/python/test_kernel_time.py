"""Times of kernels on FPGAs: kernel.toml is their only home, for every benchmark that declares some."""

import re
import shutil
from types import SimpleNamespace

import declared
import numpy as np
import pytest
from conftest import REPOSITORY
from fabricmark import models
from fabricmark.base import kernels
from fabricmark.base.kernels import LoopTime
from fabricmark.models import Board, MissingValue, _kernel_time
from fabricmark.models._kernel_time import kernel_time

BOARD = Board("board", "fpga").having(
    {
        "memory.banks": 4,
        "memory.bank_bandwidth": 19.2e9,
        "clock": 300e6,
        "memory.burst_latency": 1e-7,
        "memory.update_latency": 1e-8,
    }
)
FORMULA = re.compile(r'^((?:trips|depth|memory_bytes|memory_cycles|waits\.\w+) = ")(.*)"$', re.MULTILINE)
BESIDE = {"launch", "exchange"}  # phases that are no kernels'


def with_costs():
    """Benchmarks whose base kernels take time, of those that have a model: all folders are looked at."""
    names = sorted(path.parent.name for path in (REPOSITORY / "kernels").glob("*/kernel.toml"))
    of_base = {name: kernels.costs(name).get("base", {}) for name in names if models.find(name)}
    return [
        name
        for name, entries in of_base.items()
        if any((loop.cycles, loop.memory) != ("0", "0") for loops in entries.values() for loop in loops)
    ]


def spent(benchmark):
    """Time in kernels [s] of the default run on an FPGA."""
    (run,) = kernels.ask([kernels.wanted(benchmark, "fpga", {}, None, banks=BOARD["memory.banks"])])
    parameters = {**run["parameters"], "variant": "base"}
    found = models.find(benchmark).predict(parameters, BOARD, 1)
    headline = next(one for one in found if models.traits(benchmark).is_headline(one))
    return sum(seconds for name, seconds in headline.phases.items() if name not in BESIDE)


def test_the_benchmarks_that_have_costs():
    assert {"fft", "gemm", "hpl", "random_access", "stream"} <= set(with_costs())


@pytest.mark.parametrize("benchmark", with_costs())
def test_predictions_have_no_formulas_of_their_own(benchmark, tmp_path, monkeypatch):
    """Twice as much in kernel.toml is twice as much in a prediction."""
    before = spent(benchmark)
    shutil.copytree(REPOSITORY / "kernels", tmp_path / "kernels")
    file = declared.file_of_variants(tmp_path / "kernels", benchmark)
    file.write_text(FORMULA.sub(r'\g<1>2 * (\g<2>)"', file.read_text()))
    monkeypatch.setenv("FABRICMARK_KERNELS", str(tmp_path / "kernels"))
    assert spent(benchmark) == pytest.approx(2 * before, rel=1e-12)


def loop(**formulas):
    usual = {"repeat": "1", "cycles": "0", "memory": "0", "seconds": "max(cycles, memory)"}
    return LoopTime("", "kernel", system={"kernel_hz": "", "memory_hz": "kernel_hz"}, **{**usual, **formulas})


def time_of(monkeypatch, loops, arguments, board=BOARD, **parameters):
    known = SimpleNamespace(costs=lambda benchmark: {"base": {"entry": loops}})
    monkeypatch.setattr(_kernel_time, "kernels", known)
    return kernel_time("any", "entry", arguments, parameters, board)


def test_formulas_are_those_of_programs(monkeypatch):
    """The precedence of ^, names that are words of Python, functions of several values."""
    texts = {
        "2^3^2": 512, "2 * 3^2 - 1": 17, "0 - 2^2": -4, "lambda / 2": 3.5, "max(1, lambda, 2)": 7,
        "min(lambda, 2) + ceil(lambda / 2) - floor(lambda / 2)": 3, "2^(1 - lambda)": 2**-6,
    }  # fmt: skip
    for text, value in texts.items():
        found = time_of(monkeypatch, [loop(cycles=text, seconds="cycles")], {"lambda": 7})
        assert found.seconds == pytest.approx(value), text


def test_arrays_and_whose_time_it_is(monkeypatch):
    loops = [
        loop(cycles="n / kernel_hz", memory="m / memory_hz"),
        loop(memory="n * element_bytes / memory_hz"),
    ]
    values = {"n": np.array([1, 2, 3]), "m": 2}
    found = time_of(monkeypatch, loops, values, data_type="double")
    assert found.seconds * 300e6 == pytest.approx([2 + 8, 2 + 16, 3 + 24])
    assert found.of_kernel * 300e6 == pytest.approx([0, 2, 3])


def test_a_loop_that_follows_itself(monkeypatch):
    longest = "max(cycles, memory) * n"
    loops = [loop(repeat="n", cycles="n / kernel_hz", memory="2 / memory_hz", seconds=longest)]
    found = time_of(monkeypatch, loops, {"n": np.array([1, 2, 3])})
    (one,) = found.loops
    assert one.cycles * 300e6 == pytest.approx([1, 4, 9])
    assert one.memory * 300e6 == pytest.approx([2, 4, 6])
    assert found.seconds * 300e6 == pytest.approx([2, 4, 9])


def test_sums_leave_what_they_add_as_it_was():
    values = [np.array([[1.0], [2.0]]), 1.0, np.array([10.0, 20.0]), 5.0]
    kept = [np.array(one) for one in values]
    assert _kernel_time.total(*values).tolist() == [[17, 27], [18, 28]]
    assert _kernel_time.per_second(34.0, *values)[0, 0] == 2
    assert _kernel_time.per_second(np.ones((3, 1, 1)), *values).shape == (3, 2, 2)
    assert _kernel_time.per_second(2.0, values[2]).tolist() == [0.2, 0.1]
    assert all(np.array_equal(one, before) for one, before in zip(values, kept, strict=True))


def test_texts_are_asked_for_their_values(monkeypatch):
    choice = [loop(cycles="1 + 8 * form_is_four_step", seconds="cycles")]
    for form, value in {"four-step": 9, "four": 1}.items():
        assert time_of(monkeypatch, choice, {}, form=form).seconds == value
    with pytest.raises(MissingValue, match="form"):
        time_of(monkeypatch, choice, {})


def test_a_step_of_two_phases_takes_twice_and_moves_more_numbers():
    (run,) = kernels.ask([kernels.wanted("tsunami", "fpga", {}, None, banks=BOARD["memory.banks"])])
    both = {}
    for scheme in ("splitting", "finite_volume"):
        parameters = {**run["parameters"], "variant": "base", "scheme": scheme}
        cell_steps, *_ = models.find("tsunami").predict(parameters, BOARD, 1)
        both[scheme] = cell_steps
    cells = run["parameters"]["columns"] * run["parameters"]["rows"]
    assert both["finite_volume"].limit == both["splitting"].limit / 2
    numbers = 2 * (14 + 1) * 4 * cells / 19.2e9  # of a phase, through one bank
    assert sum(both["finite_volume"].phases.values()) == pytest.approx(2 * numbers, rel=1e-3)


def test_what_a_board_lacks_is_named(monkeypatch):
    for text in ("1 / kernel_hz", "1 / memory_hz"):
        with pytest.raises(MissingValue, match=r"bitstream\.clock"):
            time_of(
                monkeypatch,
                [loop(cycles=text)],
                {},
                Board("board", "fpga").having({"memory.banks": 4, "memory.bank_bandwidth": 19.2e9}),
            )
    with pytest.raises(MissingValue, match="unknown"):
        time_of(monkeypatch, [loop(cycles="unknown")], {})

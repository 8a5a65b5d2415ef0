"""What `make test` leaves to `make test-full`."""

import itertools

import pytest
from conftest import FIRST, HERE
from matrices import few, wide_parts

pytest_plugins = ["pytester"]


@pytest.mark.parametrize("lengths", [(1, 1), (2, 3), (5, 3, 2), (4, 4), (1, 7)])
def test_every_value_of_every_parameter_occurs(lengths):
    axes = [[f"{axis}.{value}" for value in range(length)] for axis, length in enumerate(lengths)]
    cases = [dict(enumerate(values)) for values in itertools.product(*axes)]
    chosen = few(cases)
    assert {value for index in chosen for value in cases[index].values()} == set(itertools.chain(*axes))
    assert max(lengths) <= len(chosen) < max(lengths) + len(lengths)
    assert chosen == few(cases)


def test_the_files_to_begin_with_are_there():
    assert [name for name in FIRST if not (HERE / f"{name}.py").is_file()] == []


def test_cases_of_a_matrix_with_holes():
    cases = [{"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 3}]
    assert few(cases) == {0, 1, 2}
    assert few([]) == set()


SOURCE = """
import pytest
pytestmark = pytest.mark.programs

@pytest.mark.parametrize("a", range(3))
@pytest.mark.parametrize("b", "xyz")
def test_matrix(a, b): pass

@pytest.mark.parametrize("a", range(9))
def test_line(a): pass

@pytest.mark.parametrize("a", [1, pytest.param(2, marks=pytest.mark.full)])
@pytest.mark.parametrize("b", [1, 2])
def test_marked(a, b): pass
"""


def test_only_matrices_of_programs_are_cut(pytester):
    left_out = [item.name for item in wide_parts(pytester.getitems(SOURCE))]
    assert {name.partition("[")[0] for name in left_out} == {"test_matrix"}
    assert 4 <= len(left_out) <= 6


def test_others_are_left_whole(pytester):
    assert list(wide_parts(pytester.getitems(SOURCE.replace("pytestmark = ", "unused = ")))) == []

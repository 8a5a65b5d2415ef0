"""Which combinations of settings `make test` takes, where `make test-full` takes all."""

import itertools

import pytest


def some_of(*axes):
    """All combinations of the values of the axes, for parametrize; but for a few they are marked `full`.

    As many are left as the first axis has values; every value of every axis is in one of them.
    """
    axes = [list(axis) for axis in axes]
    left = [
        tuple(axis[i // max(1, 2 ** (number - 1)) % len(axis)] for number, axis in enumerate(axes))
        for i in range(len(axes[0]))
    ]
    for number, axis in enumerate(axes):
        assert all(value in [one[number] for one in left] for value in axis), "a value is in none"
    return [
        one if one in left else pytest.param(*one, marks=pytest.mark.full) for one in itertools.product(*axes)
    ]


def only(cases, *quick):
    """`cases`, for parametrize, of a test that takes long: `make test` takes those in `quick`."""
    assert quick and set(quick) <= set(cases), set(quick) - set(cases)
    return [
        one
        if one in quick
        else pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=pytest.mark.full)
        for one in cases
    ]

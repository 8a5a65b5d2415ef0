"""Rates of ranks that do not run at the same time: from the first start to the last end."""

import pytest
import samples
from fabricmark import results
from fabricmark.results.windows import spans

TURNS = [[0.0, 0.0, 0.0], [0.01, 0.012, 0.011]]  # the second rank begins when the first one has ended
TOGETHER = [[0.0] * 3] * 2
ONE = (0.01, 0.012, 0.011)


@pytest.mark.parametrize(
    "starts, seconds, expected",
    [
        ([[0.0], [0.0]], [[2.0], [2.0]], 2.0),
        ([[0.0], [2.0], [4.0]], [[2.0]] * 3, 6.0),
        ([[1.0], [0.0]], [[2.0], [2.0]], 3.0),
        ([[0.0], [1.0]], [[4.0], [2.0]], 4.0),
        (None, [[1.0], [3.0]], 3.0),
    ],
)
def test_a_repetition_lasts_from_the_first_start_to_the_last_end(starts, seconds, expected):
    assert spans(seconds, starts) == [expected]


def two_ranks(starts, taken_as=None):
    """Two ranks with the times of one, and the rate of other starts than the file's where these are given."""
    document = samples.result(ranks=2, operations=())
    entry = samples.measurement("triad", (ONE, ONE), starts=TURNS if taken_as is None else taken_as)
    entry["samples"]["starts"] = starts
    document["measurements"] = [entry]
    return document


def test_ranks_that_take_turns_have_the_rate_of_one(place):
    alone = samples.measurement("triad", (ONE,))
    (entry,) = results.load(place.write("one.json", two_ranks(TURNS))).measurements
    assert entry.best == pytest.approx(alone["best"]) and results.values(entry)[0] == pytest.approx(
        entry.best
    )
    together = results.load(place.write("old.json", samples.result(ranks=2))).measurements[3]
    assert together.starts is None and together.best > 1.9 * alone["best"]


FAULTS = {
    "rates added up": (two_ranks(TURNS, taken_as=TOGETHER), "but the raw samples make"),
    "starts of one rank": (two_ranks([TURNS[0]]), "starts"),
    "starts of two repetitions": (two_ranks([[0.0, 0.0]] * 2), "starts of other ranks or repetitions"),
    "a start before the first": (two_ranks([[0.0] * 3, [-0.1] * 3]), "starts"),
    "no first start": (two_ranks([[0.1] * 3, [0.1] * 3]), "do not count from the first"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_starts_that_contradict_the_file_are_refused(place, fault):
    document, reason = FAULTS[fault]
    with pytest.raises(results.FabricmarkError, match=reason):
        results.load(place.write("one.json", document))


def test_modelled_times_have_no_starts(place):
    document = samples.result(ranks=2, kind="modelled", operations=("triad",))
    document["measurements"][0]["samples"]["starts"] = [[0.0] * 3] * 2
    with pytest.raises(results.FabricmarkError, match="modelled times have no starts"):
        results.load(place.write("one.json", document))

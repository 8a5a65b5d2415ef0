"""`--timeline` of runs on emulated boards: what kernels, links, engine and hosts did in each timed region."""

from itertools import pairwise

import pytest
from boards import Systems
from fabricmark.report import waits
from fabricmark.results import timeline
from simulated_runs import program
from stream_program import mpirun

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]

FULL = pytest.mark.full
SHORT = {
    "b_eff": ("--largest", 4),
    "ptrans": ("--size", 100, "--block-size", 16),
    "hpl": ("--size", 64, "--block-size", 16),
}
WAYS = {
    "channels": (),
    "accl-tcp": ("--issuer", "host"),
    "accl-rdma": ("--issuer", "logic"),
}
# Each program and each way once.
EACH = [("b_eff", "channels"), ("ptrans", "accl-rdma"), pytest.param("hpl", "accl-tcp", marks=FULL)]
TOUCHING = 1e-6  # of the time: times are written as seconds


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("timelines")
    systems = Systems(folder)

    def document(name, way, *words, launcher=()):
        asked = (*systems.words(way), *WAYS[way], *SHORT[name], "--timeline", *words)
        done = program(folder, name).run(*asked, "--repetitions", 2, launcher=launcher)
        assert done.code == 0, done.errors
        return done.document

    return document


def parts_of(document):
    """Times and names of the timed regions, in their order."""
    return sorted(
        (start, end, one["what"])
        for one in document["modelled_timeline"]["series"]
        if one["lane"] == "timed region"
        for start, end, *_ in one["activities"]
    )


def done_in(document, *kinds):
    """Times of all that ranks did, of these kinds or of any."""
    return [
        (start, end)
        for one in document["modelled_timeline"]["series"]
        if one["lane"] != "timed region" and (not kinds or one["kind"] in kinds)
        for start, end, *_ in one["activities"]
    ]


@pytest.mark.parametrize("name, way", EACH)
def test_each_timed_part_has_what_was_done_in_it(run, name, way):
    document = run(name, way, "--ranks", 4)
    assert timeline.first_fault_of(document["modelled_timeline"]) is None
    parts = parts_of(document)
    assert parts[0][0] == 0
    assert all(before[1] == after[0] for before, after in pairwise(parts))
    length = parts[-1][1]
    near = TOUCHING * length
    # Nothing outside: an activity lies within a part, or touches one of the next.
    assert min(start for start, _ in done_in(document)) >= 0
    assert max(end for _, end in done_in(document)) <= length + near
    for start, end, what in parts:
        inside = [one for one in done_in(document) if one[0] < end - near and one[1] > start + near]
        assert inside, what
        # Something begins with the part, but for what PTRANS's host takes in all, and something ends with it.
        assert name == "ptrans" or min(one[0] for one in inside) <= start + near, what
        assert max(one[1] for one in inside) >= end - near, what
    assert done_in(document, "wait-for-word", "wait-for-message")
    assert bool(done_in(document, "link")) == (way == "channels")
    assert {one["device"] for one in document["modelled_timeline"]["series"]} == {0, 1, 2, 3}
    (said, *_) = waits.most_waited(timeline.made("run.json", document["modelled_timeline"]))
    assert said.startswith("Longest waits: ")


def series(document):
    """Without those who are waited for: another process knows no name of theirs."""
    return [{**one, "whom": ""} for one in document["modelled_timeline"]["series"]]


@pytest.mark.parametrize("way", ["channels", pytest.param("accl-tcp", marks=FULL)])
def test_it_is_the_same_between_processes_and_where_nothing_is_computed(run, way):
    threads = run("b_eff", way, "--ranks", 2)
    assert series(threads) == series(run("b_eff", way, launcher=mpirun(2)))
    alone = run("b_eff", way, "--ranks", 2, "--timing-only", "--warmup", 3)
    assert alone["modelled_timeline"]["series"] == threads["modelled_timeline"]["series"]


def test_starts_of_kernels_are_told_where_they_count(run):
    """Those of kernels that run for many messages are no part of b_eff's time over channels."""
    assert not done_in(run("b_eff", "channels", "--ranks", 2), "launch")
    launches = done_in(run("hpl", "channels"), "launch")
    assert launches and min(start for start, _ in launches) == 0

"""The real fm_b_eff: each lost, late, swapped, shortened or corrupted message is found and placed."""

import re

import pytest
from b_eff_program import SHORT, WAYS, failed
from stream_program import mpirun, on_a_device, one_error, only_error

pytestmark = pytest.mark.programs

FULL = pytest.mark.full


@pytest.fixture(scope="module")
def b_eff(tmp_path_factory):
    return on_a_device(tmp_path_factory, "b_eff")


def ends_of_lost_message(line):
    """The ranks that did not send and did not receive: two of the circle of waits, as a lost message is."""
    found = re.search(r"of a message of 1 bytes from rank (\d) in 1 s;.* \(rank (\d)\)$", line)
    assert found, line
    sender, receiver = map(int, found.groups())
    assert sender != receiver
    return {sender, receiver}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("where", ["", "@1"])
def test_a_lost_message_ends_in_one_line_that_names_the_rank(b_eff, way, where):
    words = ("--ranks", "3", "--timeout", "1", "--inject-fault", f"lost{where}")
    done = b_eff.run(*SHORT, *WAYS[way], *words)
    ends = ends_of_lost_message(only_error(done, codes=(3,)))
    assert ends <= {0, 1, 2}
    assert not where or 1 in ends
    assert done.document is None


@pytest.mark.parametrize("way", WAYS)
def test_a_rank_that_sends_nothing_any_more_ends_in_one_line_that_names_it(b_eff, way):
    done = b_eff.run(*SHORT, *WAYS[way], "--ranks", "3", "--timeout", "1", "--inject-fault", "dead@1")
    assert 1 in ends_of_lost_message(only_error(done, codes=(3,)))
    assert done.document is None


def test_a_lost_message_in_a_ring_of_one_is_found_too(b_eff):
    done = b_eff.run(*SHORT, *WAYS["whole"], "--timeout", "0.3", "--inject-fault", "lost")
    assert "from rank 0 in 0.3 s" in only_error(done, codes=(3,))


@pytest.mark.parametrize(
    "way", ["cpu", pytest.param("whole", marks=FULL), pytest.param("chunks", marks=FULL)]
)
@pytest.mark.parametrize("where", ["@1", pytest.param("", marks=FULL)])
def test_a_lost_message_of_mpi_ends_in_one_line_that_names_the_rank(b_eff, way, where):
    words = (*SHORT, *WAYS[way], "--timeout", "1", "--inject-fault", f"lost{where}")
    done = b_eff.run(*words, launcher=mpirun(2))
    assert ends_of_lost_message(one_error(done, codes=(3,))) == {0, 1}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["late", "swapped"])
def test_a_message_that_is_late_or_swapped_is_found_and_placed(b_eff, kind, way):
    done = b_eff.run(*SHORT, *WAYS[way], "--ranks", "3", "--inject-fault", f"{kind}@1")
    assert done.code == 1 and done.errors == ""
    found = failed(done)
    # What rank 1 sends to the right arrives at rank 2, and to the left at rank 0.
    receivers = {"messages to the left": 0}
    if kind == "swapped":
        receivers["messages to the right"] = 2
    assert {name: place[0] for name, place in found.items()} == receivers
    assert all(sender == 1 for _, _, _, _, sender in found.values())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["late", "swapped"])
def test_messages_that_are_late_or_swapped_everywhere_are_found(b_eff, kind, way):
    for ranks in (1, 2, 4):
        done = b_eff.run(*SHORT, *WAYS[way], "--ranks", ranks, "--inject-fault", kind)
        assert done.code == 1
        assert len(failed(done)) == (2 if kind == "swapped" else 1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["blank", "half", "flipped"])
def test_messages_that_are_blank_or_half_or_flipped_are_found_and_placed(b_eff, kind, way):
    """Both directions, also where all ranks agree about the shorter messages."""
    for where, receivers in (("@1", {0, 2}), ("", {0, 1, 2})):
        done = b_eff.run(*SHORT, *WAYS[way], "--ranks", "3", "--inject-fault", kind + where)
        assert done.code == 1 and done.errors == ""
        found = failed(done)
        assert set(found) == {"messages to the left", "messages to the right"}
        assert {place[0] for place in found.values()} <= receivers


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind, byte", [("element", 2048), ("zeros", 0), ("scale", 0), ("stale", 0)])
def test_a_received_message_that_was_corrupted_is_found_and_placed(b_eff, kind, byte, way):
    for where, receiver in (("@2", 2), ("", None)):
        done = b_eff.run(*SHORT, *WAYS[way], "--ranks", "3", "--inject-fault", kind + where)
        assert done.code == 1 and done.errors == ""
        ((name, place),) = failed(done).items()
        assert name == "messages to the right"
        rank, *rest = place
        assert receiver in (None, rank)
        assert rest == [byte, 0, 4096, (rank + 2) % 3]
    if kind == "element":
        assert {v["error"] for v in done.document["verdicts"]} == {0, 1}, "a byte in each repetition"


# In one path of the messages: else every start measures which is the fastest.
OF_TWO_RANKS = ("--repetitions", "3", "--largest", "6", "--messages", "3", "--ranks", "2", *WAYS["whole"])


@pytest.mark.parametrize("repetition", [0, 1, 2])
@pytest.mark.parametrize("kind", ["late", "swapped", "blank", "half", "element", "zeros"])
def test_messages_of_one_repetition_are_found_there(b_eff, kind, repetition):
    done = b_eff.run(*OF_TWO_RANKS, "--inject-fault", f"{kind}@1#{repetition}")
    assert done.code == 1
    assert {v["repetition"] for v in done.document["verdicts"] if v["status"] == "failed"} == {repetition}


@pytest.mark.parametrize("kind", ["element", "scale", "zeros", "stale"])
@pytest.mark.parametrize("step", ["kernel", "read", "message", "write"])
def test_every_step_over_the_host_is_checked_in_every_repetition(b_eff, step, kind):
    done = b_eff.run(*OF_TWO_RANKS, "--inject-fault", f"{kind}:{step}@1#1")
    assert done.code == 1
    found = {v["name"]: v for v in done.document["verdicts"] if v["status"] == "failed"}
    verdict = found["messages to the right" if step == "write" else "steps over host"]
    assert {v["repetition"] for v in found.values()} == {1}
    if step in ("read", "message"):  # what a step has left goes on to the next ones
        assert re.match("(read|message): byte ", verdict["worst"]["place"])


@pytest.mark.parametrize(
    "kind", ["late", "half", *(pytest.param(kind, marks=FULL) for kind in ("swapped", "blank", "zeros"))]
)
def test_faults_of_mpi_are_found(b_eff, kind):
    done = b_eff.run(*SHORT, *WAYS["whole"], "--inject-fault", f"{kind}@1", launcher=mpirun(2))
    assert done.code == 1
    assert failed(done)


def test_processes_whose_chunks_differ_end_with_what_to_do(b_eff):
    words = (*SHORT, "--map-memory", "false", "--chunk-bytes")
    launcher = [*mpirun(1), b_eff.program, *words, "512", ":", "-n", "1"]
    line = one_error(b_eff.start(*words, "1024", launcher=launcher), codes=(2,))
    assert "--chunk-bytes is 512 on rank 0 and 1024 on rank 1" in line

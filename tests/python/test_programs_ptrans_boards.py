"""PTRANS' dataflow kernels on emulated boards: what is about PTRANS alone.

Runs over all transports and their faults are in test_programs_boards.py.
"""

import itertools

import pytest
from board_runs import ROWS, found_in_ptrans
from boards import Systems, refusals_missed
from simulated_runs import program
from stream_program import on_a_device, only_error

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]

FULL = pytest.mark.full
SHORT = tuple(ROWS["ptrans"].words.split())


@pytest.fixture(scope="module")
def ptrans(tmp_path_factory):
    return program(tmp_path_factory.mktemp("ptrans"), "ptrans")


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    """Words for a transport: the system that has it, and as wide words as it takes."""
    systems = Systems(tmp_path_factory.mktemp("systems"))

    def words(transport, *more):
        width = 8 if transport == "channels" else 16
        return (*SHORT, *systems.words(transport), "--channel-width", width, *more)

    return words


def on(distribution, ranks):
    return ("--distribution", distribution, "--ranks", ranks)


def test_any_number_of_channels_and_any_width_is_valid(ptrans, boards):
    for replications, width, ranks in ((1, 16, 1), (1, 16, 4), (3, 4, 1), (3, 4, 4)):
        chosen = (*boards("channels")[:-1], width, "--replications", replications)
        ptrans.valid(*chosen, *on("pq", ranks))


@FULL
def test_blocks_in_memory_go_over_engines_on_any_grid(ptrans, boards):
    for distribution, ranks in itertools.product(("pq", "diagonal"), (2, 3, 6, 12)):
        ptrans.valid(*boards("accl-tcp"), *on(distribution, ranks))


def test_boards_without_a_block_are_valid(ptrans, boards):
    for size, transport in itertools.product((1, 20), ("channels", "accl-tcp")):
        words = [str(size) if at == SHORT.index("--size") + 1 else word
                 for at, word in enumerate(boards(transport))]  # fmt: skip
        ptrans.valid(*words, *on("pq", 16))


def test_c_is_the_same_to_the_last_bit_from_other_kernels(tmp_path_factory):
    """One kernel file over memories, on any grid; and the kernel in OpenCL."""
    made = on_a_device(tmp_path_factory, "ptrans")
    runs = [("dataflow", "cpu", ranks) for ranks in (1, 4, 6)]
    runs += [("dataflow", "host", 4), ("base", "cpu", 4), ("base", "host", 4)]
    found = set()
    for variant, transport, ranks in runs:
        chunks = ("--chunk-bytes", 0) if transport == "host" else ()
        words = ("--variant", variant, "--transport", transport, "--ranks", ranks, *chunks)
        found.add(made.valid(*SHORT, *words).digest)
    assert len(found) == 1


def test_another_c_has_another_digest(ptrans, boards):
    words = (*boards("channels"), *on("pq", 4))
    found = [ptrans.valid(*words).digest]
    for fault in ("element", "swapped:c@2", "flipped@1#1"):
        done = ptrans.run(*words, "--inject-fault", fault)
        found_in_ptrans(done, fault)
        found.append(done.digest)
    assert len(set(found)) == 4


def test_faults_on_loops_and_of_one_repetition_are_found(ptrans, boards):
    found_in_ptrans(ptrans.run(*boards("channels"), "--inject-fault", "half#1"), "half")
    words = (*boards("channels"), *on("pq", 4))
    found_in_ptrans(ptrans.run(*words, "--inject-fault", "flipped@3#0"), "flipped")


# Bad input ------------------------------------------------------------------------------------------------

STREAMING = ("--mode", "streaming")
REFUSED = {
    "a grid that is not square": ("channels", ("--ranks", 6), "2 x 3", "1, 4, 9, 16"),
    "a grid with one row": ("channels", ("--ranks", 4, "--grid-rows", 1), "1 x 4", "--distribution diagonal"),
    "diagonals over an odd number": ("channels", on("diagonal", 3), "over 3 ranks", "even number"),
    "a stream from several boards": ("accl-tcp", ("--ranks", 2, *STREAMING), "1 x 2", "pq on 1"),
    "words that the engine does not have": (
        "accl-tcp",
        ("--ranks", 4, *STREAMING, "--data-type", "double"),
        "--channel-width 8",
    ),
    "more channels than ports": ("channels", ("--ranks", 4, "--replications", 5), "5 ports", "has 4"),
    "other cables": ("channels", ("--ranks", 4, "--topology", "ring:4"), "device 0, port 0", "port 1"),
    "parts": ("channels", ("--ranks", 4, "--parts", "true"), "--parts true", "leave it out"),
    "a fault that nothing can have": ("accl-tcp", ("--inject-fault", "lost"), "no rank has enough", "more"),
    "a fault of a board that sends nothing": (
        "accl-tcp",
        ("--ranks", 4, "--inject-fault", "dead@3"),
        "rank 3 has not",
        "another rank",
    ),
}


def test_what_does_not_work_is_refused_with_what_does(ptrans, boards):
    runs = [(what, boards(transport, *words), says) for what, (transport, words, *says) in REFUSED.items()]
    runs.append(("narrow words", (*boards("accl-tcp")[:-1], 8, "--ranks", 4, *STREAMING), ("width 16",)))
    assert refusals_missed((what, ptrans.run(*words), says) for what, words, says in runs) == {}


def test_kernels_over_memories_have_no_modelled_time(ptrans, system):
    words = (*SHORT, "--variant", "dataflow", "--transport", "cpu")
    kinds = {one["kind"] for one in ptrans.valid(*words).document["measurements"]}
    assert kinds == {"emulated"}
    assert "leave it out" in only_error(ptrans.run(*words, "--system", system), codes=(2,))

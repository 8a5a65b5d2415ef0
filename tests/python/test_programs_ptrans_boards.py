"""PTRANS' dataflow kernels on emulated boards: the same C over every way, and every fault of it is found."""

import itertools

import pytest
from boards import ENGINES, FAULTS, ISSUERS, LOST, MODES, Systems
from charged_runs import samples
from stream_program import PROGRAM, Stream, mpirun, on_a_device, one_error, only_error

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]

FULL = pytest.mark.full
SIZE, BLOCK = 100, 16  # seven blocks along an edge, the last ones not whole
SHORT = ("--size", SIZE, "--block-size", BLOCK, "--round-blocks", 3, "--repetitions", 2, "--timeout", 10)
TYPES = ("float", "double")
# All that have a partner for each board.
GRIDS = (
    *(("pq", ranks) for ranks in (1, 4, 9, 16)),
    *(("diagonal", ranks) for ranks in (2, 4, 16)),
)
WORDS = {"channels": 32, **dict.fromkeys(ENGINES, 64)}  # bytes


@pytest.fixture(scope="module")
def ptrans(tmp_path_factory):
    return Stream(tmp_path_factory.mktemp("ptrans"), PROGRAM.with_name("fm_ptrans"))


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    """Words for a transport and a type: the system that has it, and as wide words as it takes."""
    systems = Systems(tmp_path_factory.mktemp("systems"))

    def words(transport, data_type="float", *more):
        width = WORDS[transport] // (8 if data_type == "double" else 4)
        wide = ("--data-type", data_type, "--channel-width", width)
        return (*SHORT, *systems.words(transport), *wide, *more)

    return words


def on(distribution, ranks):
    return ("--distribution", distribution, "--ranks", ranks)


def digest(document):
    (found,) = [note for note in document["notes"] if note.startswith("digest of C: ")]
    return found


def check_valid(done):
    verdicts = {one["name"]: one for one in done.document["verdicts"]}
    assert verdicts.keys() == {"elements", "bits"}
    assert {one["checked"] for one in verdicts.values()} == {3 * SIZE * SIZE}, "twice, and once more"
    assert verdicts["bits"]["error"] == 0
    kinds = {one["kind"] for one in done.document["measurements"]}
    assert kinds == {"emulated", "modelled"}


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("distribution, ranks", GRIDS)
def test_channels_are_valid_wherever_each_board_has_a_partner(ptrans, boards, distribution, ranks, data_type):
    check_valid(ptrans.valid(*boards("channels", data_type), *on(distribution, ranks)))


ALL_ENGINES = list(itertools.product(ENGINES, MODES, ISSUERS, TYPES, GRIDS))
FEW_ENGINES = [
    ("accl-udp", "buffered", "logic", "double", ("pq", 9)),
    ("accl-udp", "streaming", "host", "float", ("diagonal", 2)),
    ("accl-tcp", "buffered", "host", "float", ("pq", 16)),
    ("accl-tcp", "streaming", "logic", "double", ("diagonal", 16)),
    ("accl-rdma", "buffered", "logic", "float", ("diagonal", 4)),
    ("accl-rdma", "streaming", "host", "double", ("pq", 4)),
    ("accl-rdma", "streaming", "logic", "float", ("pq", 1)),
]


def marked(every, few):
    assert set(few) <= set(every)
    return [pytest.param(*one, marks=() if one in few else FULL) for one in every]


@pytest.mark.parametrize("transport, mode, issuer, data_type, grid", marked(ALL_ENGINES, FEW_ENGINES))
def test_engines_are_valid(ptrans, boards, transport, mode, issuer, data_type, grid):
    how = ("--mode", mode, "--issuer", issuer)
    check_valid(ptrans.valid(*boards(transport, data_type, *how), *on(*grid)))


@pytest.mark.parametrize("ranks", [2, 3, 6, pytest.param(12, marks=FULL)])
def test_blocks_in_memory_go_over_engines_on_any_grid(ptrans, boards, ranks):
    for distribution in ("pq", "diagonal"):
        check_valid(ptrans.valid(*boards("accl-tcp"), *on(distribution, ranks)))


@pytest.mark.parametrize("words", ["replications 1", "replications 3", "channel-width 4", "channel-width 16"])
def test_any_number_of_channels_and_any_width_is_valid(ptrans, boards, words):
    name, value = words.split()
    chosen = list(boards("channels"))
    if f"--{name}" in chosen:
        chosen[chosen.index(f"--{name}") + 1] = value
    else:
        chosen += [f"--{name}", value]
    for ranks in (1, 4):
        check_valid(ptrans.valid(*chosen, *on("pq", ranks)))


def test_boards_without_a_block_are_valid(ptrans, boards):
    for size, transport in itertools.product((1, 20), ("channels", "accl-tcp")):
        words = [str(size) if word == SIZE else word for word in boards(transport)]
        ptrans.valid(*words, *on("pq", 16))


@pytest.mark.parametrize("data_type", TYPES)
def test_c_is_the_same_to_the_last_bit_over_all_ways(ptrans, boards, tmp_path_factory, data_type):
    """One kernel file over every transport; also the kernel in OpenCL, and any grid."""
    runs = [(*boards("channels", data_type), *on(*grid)) for grid in (("pq", 1), ("pq", 4), ("diagonal", 4))]
    runs += [
        (*boards(transport, data_type, "--mode", mode), *on("pq", 4))
        for transport, mode in itertools.product(ENGINES, MODES)
    ]
    runs += [
        (*SHORT, "--variant", "dataflow", "--transport", "cpu", "--data-type", data_type, "--ranks", ranks)
        for ranks in (1, 4, 6)
    ]
    found = {digest(ptrans.valid(*words).document) for words in runs}
    assert len(found) == 1
    device = on_a_device(tmp_path_factory, "ptrans")
    for variant, transport in (("dataflow", "host"), ("base", "cpu"), ("base", "host")):
        words = ("--variant", variant, "--transport", transport, "--data-type", data_type, "--ranks", 4)
        found.add(digest(device.valid(*SHORT, *words).document))
    assert len(found) == 1


def test_another_c_has_another_digest(ptrans, boards):
    words = (*boards("channels"), *on("pq", 4))
    found = [digest(ptrans.valid(*words).document)]
    for fault in ("element", "swapped:c@2", "flipped@1#1"):
        done = ptrans.run(*words, "--inject-fault", fault)
        assert done.code == 1
        found.append(digest(done.document))
    assert len(set(found)) == 4


MPI = [("channels", ()), *((name, ("--mode", mode)) for name, mode in itertools.product(ENGINES, MODES))]
FEW_MPI = ("channels", "accl-udp-streaming", "accl-tcp-streaming", "accl-rdma-buffered")


@pytest.mark.parametrize(
    "transport, how",
    [
        pytest.param(
            name, how, id=(made := "-".join((name, *how[1:]))), marks=() if made in FEW_MPI else FULL
        )
        for name, how in MPI
    ],
)
def test_processes_do_what_threads_do(ptrans, boards, transport, how):
    words = boards(transport, "float", *how)
    threads = ptrans.valid(*words, "--ranks", 4)
    processes = ptrans.valid(*words, launcher=mpirun(4))
    check_valid(processes)
    assert digest(processes.document) == digest(threads.document)
    assert samples(processes.document) == samples(threads.document)


# Faults ---------------------------------------------------------------------------------------------------


def check_found(done, kind):
    """INVALID, or the line of what did not come."""
    assert done.code == 1, (done.output, done.errors)
    if kind in LOST:
        line = only_error(done, codes=(1,))
        assert "deadlock" in line or "in vain" in line or "does not answer" in line
        return
    assert done.errors == ""
    failed = {one["name"] for one in done.document["verdicts"] if one["status"] == "failed"}
    assert "bits" in failed


@pytest.mark.parametrize("transport", ["channels", *ENGINES])
@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_is_found(ptrans, boards, transport, kind):
    words = (*boards(transport), *on("pq", 4))
    check_found(ptrans.run(*words, "--inject-fault", f"{kind}@1"), kind)


@pytest.mark.parametrize("transport", ENGINES)
@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_of_words_is_found(ptrans, boards, transport, kind):
    words = (*boards(transport, "double", "--mode", "streaming"), *on("diagonal", 4))
    check_found(ptrans.run(*words, "--inject-fault", kind), kind)


@FULL
@pytest.mark.parametrize("transport", ["channels", *ENGINES])
@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_is_found_in_all_ways(ptrans, boards, transport, kind):
    hows = [()]
    if transport != "channels":
        hows = [("--mode", mode, "--issuer", issuer) for mode, issuer in itertools.product(MODES, ISSUERS)]
    for how, data_type, grid in itertools.product(hows, TYPES, (("pq", 9), ("diagonal", 2))):
        words = (*boards(transport, data_type, *how), *on(*grid))
        check_found(ptrans.run(*words, "--inject-fault", f"{kind}@1"), kind)


def test_faults_on_loops_and_of_one_repetition_are_found(ptrans, boards):
    check_found(ptrans.run(*boards("channels"), "--inject-fault", "half#1"), "half")
    words = (*boards("channels"), *on("pq", 4))
    check_found(ptrans.run(*words, "--inject-fault", "flipped@3#0"), "flipped")


@pytest.mark.parametrize("kind", ["flipped", pytest.param("lost", marks=FULL)])
def test_faults_among_processes_are_found(ptrans, boards, kind):
    done = ptrans.run(*boards("channels"), "--inject-fault", f"{kind}@1", launcher=mpirun(4))
    assert done.code == 1
    assert kind == "flipped" or "deadlock" in one_error(done, codes=(1,))


@pytest.mark.parametrize("kind", ["element:c", "scale", "zeros", "stale", "swapped:c"])
def test_every_fault_of_values_is_found(ptrans, boards, kind):
    done = ptrans.run(*boards("channels"), *on("pq", 4), "--inject-fault", f"{kind}@1")
    check_found(done, kind)


# Bad input ------------------------------------------------------------------------------------------------

REFUSED = {
    "a grid that is not square": ("channels", ("--ranks", 6), "2 x 3", "1, 4, 9, 16"),
    "a grid with one row": ("channels", ("--ranks", 4, "--grid-rows", 1), "1 x 4", "--distribution diagonal"),
    "diagonals over an odd number": ("channels", on("diagonal", 3), "over 3 ranks", "even number"),
    "a stream from several boards": ("accl-tcp", ("--ranks", 2, "--mode", "streaming"), "1 x 2", "pq on 1"),
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


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_work_is_refused_with_what_does(ptrans, boards, what):
    transport, words, *says = REFUSED[what]
    line = only_error(ptrans.run(*boards(transport), *words), codes=(2,))
    assert all(one in line for one in says), line


def test_words_that_the_engine_does_not_have_are_refused(ptrans, boards):
    words = boards("accl-tcp", "float", "--mode", "streaming", "--ranks", 4)
    narrow = [
        "8" if word == 16 and at > words.index("--channel-width") else word for at, word in enumerate(words)
    ]
    assert "--channel-width 16" in only_error(ptrans.run(*narrow), codes=(2,))


def test_kernels_over_memories_have_no_modelled_time(ptrans, system):
    words = (*SHORT, "--variant", "dataflow", "--transport", "cpu")
    kinds = {one["kind"] for one in ptrans.valid(*words).document["measurements"]}
    assert kinds == {"emulated"}
    assert "leave it out" in only_error(ptrans.run(*words, "--system", system), codes=(2,))

"""The real fm_b_eff between kernels of emulated boards: right on any number of ranks; every fault shows."""

import re

import pytest
from b_eff_kernels import SHORT, Boards, failed
from boards import ENGINES, ISSUERS, MODES
from charged_runs import exported, samples
from stream_program import mpirun, only_error
from thinned import some_of

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]
FULL = pytest.mark.full
# Every way: its transport and the options that choose it.
CALLED = {
    f"{engine}, {issuer}, {mode}": (engine, "--issuer", issuer, "--mode", mode)
    for engine in ENGINES
    for issuer in ISSUERS
    for mode in MODES
}
WAYS = {"channels": ("channels",), **CALLED}
QUICK = ["channels", "accl-udp, logic, buffered", "accl-tcp, host, streaming", "accl-rdma, logic, streaming",
         "accl-rdma, host, buffered"]  # fmt: skip
EACH = [pytest.param(way, marks=[] if way in QUICK else FULL) for way in WAYS]
RANKS = [2, 3, *(pytest.param(count, marks=FULL) for count in (4, 9, 16))]


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    return Boards(tmp_path_factory.mktemp("b_eff"))


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("way", EACH)
def test_every_message_is_right(boards, way, ranks):
    document = boards.valid(*WAYS[way], *SHORT, "--ranks", ranks)
    assert document["run"]["variant"] == "dataflow"
    assert {one["kind"] for one in document["measurements"]} == {"emulated", "modelled"}
    assert all(verdict["checked"] > 0 for verdict in document["verdicts"])


@pytest.mark.parametrize(
    "way",
    ["channels", "accl-udp", pytest.param("accl-tcp", marks=FULL), pytest.param("accl-rdma", marks=FULL)],
)
def test_one_rank_alone_needs_a_loop(boards, way):
    loop = () if way == "channels" else ("--topology", "ring")
    boards.valid(way, *SHORT, *loop)
    if way != "channels":
        line = only_error(boards.run(way, *SHORT), codes=(2,))
        assert "one rank has no cable to itself in switch:1; start two or more" in line


def test_messages_of_all_sizes_are_right(boards):
    """Longer than the engine's packets and receive buffers: over RDMA those are requested first."""
    boards.valid("channels", "--ranks", 2, "--repetitions", 1, "--messages", 3)
    for way in ENGINES:
        words = ("--rx-bytes", 65536, "--rx-buffers", 64, "--messages", 2)
        boards.valid(way, "--ranks", 2, "--repetitions", 1, *words)


@pytest.mark.parametrize("messages", [1, 2, 5])
@pytest.mark.parametrize("width", [4, 16])
def test_channels_of_another_width_and_any_number_of_messages(boards, width, messages):
    words = ("--channel-width", width, "--messages", messages, "--ranks", 3)
    boards.valid("channels", *SHORT, *words)
    done = boards.run("channels", *SHORT, *words, "--inject-fault", "half@2")
    assert done.code == 1 and set(failed(done)) == {"messages to the right"}


@pytest.mark.parametrize("way", EACH)
def test_processes_take_the_same_modelled_time_as_threads(boards, way):
    words = (*WAYS[way], *SHORT)
    threads = boards.valid(*words, "--ranks", 2)
    processes = boards.valid(*words, launcher=mpirun(2))
    assert samples(threads) == samples(processes) and samples(threads)


# Faults strike rank 1's first word or message in each part; its first one goes to the right, to rank 2.

ERRORS = {
    "lost": r"deadlock at .* waits for|has waited 1 s of modelled time in vain",
    "dead": r"deadlock at .* waits for|has waited 1 s of modelled time in vain|it does not answer",
}


@pytest.mark.parametrize("kind", ["late", "swapped", "half", "blank", "flipped"])
@pytest.mark.parametrize("way", EACH)
def test_a_spoiled_message_is_found_where_it_arrives(boards, way, kind):
    done = boards.run(*WAYS[way], *SHORT, "--ranks", 3, "--inject-fault", f"{kind}@1#1")
    assert done.code == 1 and done.errors == ""
    found = failed(done)
    assert set(found) - {"steps of the engine"} == {"messages to the right"}
    for rank, repetition, place in found.values():
        assert (rank, repetition) == (2, 1)
        assert re.search(r"message \d of \d+ bytes from rank 1", place)


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("way", EACH)
def test_a_message_that_does_not_come_ends_the_run(boards, way, kind):
    done = boards.run(*WAYS[way], *SHORT, "--ranks", 3, "--inject-fault", f"{kind}@1")
    assert re.search(ERRORS[kind], only_error(done, codes=(1,)))
    assert done.document is None


@pytest.mark.parametrize(
    "way, kind",
    some_of(["channels", "accl-tcp, host, streaming", "accl-rdma, logic, streaming"], ["lost", "flipped"]),
)
def test_faults_between_processes_are_found(boards, way, kind):
    done = boards.run(*WAYS[way], *SHORT, "--inject-fault", f"{kind}@1", launcher=mpirun(2))
    assert done.code == 1
    assert (kind == "lost") == (done.document is None)


def test_a_message_that_is_lost_among_others_of_a_long_one_is_found(boards):
    """The words behind it come, so that only its number is missing until the end."""
    words = ("--ranks", 2, "--largest", 16, "--repetitions", 1)
    assert "deadlock" in only_error(boards.run("channels", *words, "--inject-fault", "lost"), codes=(1,))


REFUSED = {
    "no system": ("channels", None, (), "the transport channels without a system; give one with --system"),
    "no engine": ("accl-udp", "noctua1", (), "has no network 'accl-udp'; use one of"),
    "one lane": (
        "channels", "noctua1", ("--topology", "ring:3"),
        "the cable from device 0, port 0 has to lead to device 1, port 2, but leads to device 1, port 1",
    ),
    "no cable": (
        "channels", "noctua1", ("--topology", "full-mesh:3"),
        "the cable from device 0, port 0 has to lead to device 1, port 2, but leads to device 1, port 0",
    ),
    "another fault": (
        "channels", "noctua1", ("--inject-fault", "element"), "no such fault is made over channels; use lost",
    ),
    "another fault of an engine": (
        "accl-tcp", "noctua2", ("--inject-fault", "zeros"), "no such fault is made over accl-tcp; use lost",
    ),
    "a step over the host": (
        "channels", "noctua1", ("--inject-fault", "lost:kernel"),
        "no such fault is made over channels; use lost",
    ),
    "another width": ("channels", "noctua1", ("--channel-width", "5"), "--channel-width"),
    "one pair": ("channels", "noctua1", ("--replications", "1"), "--replications"),
    "another variant": ("channels", "noctua1", ("--variant", "base"), "base"),
    "too few receive buffers": (
        "accl-udp", "noctua2", ("--largest", "16", "--rx-buffers", "1", "--rx-bytes", "4096"),
        "receive buffers",
    ),
}  # fmt: skip


@pytest.mark.parametrize("transport, system, words, line", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_one_line(boards, transport, system, words, line):
    chosen = ("--system", boards.files[system]) if system else ()
    done = boards.b_eff.run("--transport", transport, *chosen, "--ranks", 3, *words)
    assert line in only_error(done, codes=(1, 2))
    assert done.code == (1 if "buffers" in line else 2)


def test_a_board_has_as_many_ports_as_its_system_says(boards, tmp_path):
    def fewer(document):
        values = next(one["values"] for one in document["networks"] if one["kind"] == "direct")
        values["links"]["value"] = 3

    file = exported(tmp_path, change=fewer)
    line = only_error(boards.run("channels", "--ranks", 2, system=file), codes=(2,))
    assert "ring:2*2: device 0 needs 4 ports and its board has 3; use a topology with fewer" in line


@pytest.mark.parametrize("transport, most", [("channels", 32), ("accl-udp", 48)])
def test_a_system_has_as_many_boards_as_it_says(boards, transport, most):
    words = (transport, "--timing-only", "--largest", 2, "--repetitions", 1)
    line = only_error(boards.run(*words, "--ranks", most + 1), codes=(2,))
    assert f"has {most} devices of the kind " in line and f"not one for each of {most + 1} ranks" in line
    assert f"give at most {most} ranks, or a system with more boards" in line
    done = boards.run(*words, "--ranks", most)
    assert done.code == 0, done.errors


def test_run_and_report_take_no_device_for_it(with_programs):
    words = ("--transport", "channels", "--largest", "4", "--repetitions", "2")
    done = with_programs.run("run", "b_eff", "--system", "noctua1", "--ranks", "4", "--", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("b_eff, dataflow kernel") == 1
    assert "modelled" in done.stdout
    engine = ("--transport", "accl-tcp", *words[2:])
    assert (
        with_programs.run("run", "b_eff", "--system", "noctua2", "--ranks", "2", "--", *engine).returncode
        == 0
    )
    page = with_programs.folder / "page.html"
    reported = with_programs.run("report", "results", "--html", page)
    assert (reported.returncode, reported.stderr) == (0, "") and page.exists()
    assert reported.stdout.count("b_eff, dataflow kernel") == 2

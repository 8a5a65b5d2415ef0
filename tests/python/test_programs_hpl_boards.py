"""HPL's dataflow kernels on emulated boards: what is about HPL alone.

Runs over all transports and their faults are in test_programs_boards.py.
"""

import itertools

import pytest
from boards import ISSUERS, Systems
from stream_program import PROGRAM, Stream, on_a_device, one_error

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]

FULL = pytest.mark.full
MOST_SECONDS = 600  # for a model of all boards of Noctua 2, on a busy machine
# Blocks that do not divide the matrix, and several for each rank.
SHORT = ("--size", 200, "--block-size", 16, "--repetitions", 2, "--timeout", 10)


@pytest.fixture(scope="module")
def hpl(tmp_path_factory):
    return Stream(tmp_path_factory.mktemp("hpl"), PROGRAM.with_name("fm_hpl"))


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    """Words for a transport: the system that has it."""
    systems = Systems(tmp_path_factory.mktemp("systems"))

    def words(transport, *more):
        return (*SHORT, *systems.words(transport), *more)

    return words


def modelled(done):
    assert done.code == 0, done.errors
    return [m["best"] for m in done.document["measurements"] if m["kind"] == "modelled" and "samples" in m]


@pytest.mark.parametrize("data_type", ["float", pytest.param("double", marks=FULL)])
def test_a_transport_between_memories_gives_the_same_factors(hpl, boards, tmp_path_factory, data_type):
    """The same kernels, with panels that go over the hosts."""
    words = ("--variant", "dataflow", "--transport", "host", "--data-type", data_type)
    memories = on_a_device(tmp_path_factory, "hpl").valid(*SHORT, *words, "--ranks", 4)
    assert {m["kind"] for m in memories.document["measurements"]} == {"emulated"}
    assert memories.digest == hpl.valid(*boards("channels", "--data-type", data_type), "--ranks", 4).digest


def test_calls_of_kernels_take_less_time_than_those_of_hosts(hpl, boards):
    """Where nothing is computed, too; the host starts each call later than a kernel does."""

    def rate(*words):
        return modelled(hpl.run(*boards("accl-tcp"), "--ranks", 4, *words))

    logic, host = (rate("--issuer", issuer) for issuer in ISSUERS)
    # Without data a block passes as one word.
    for issuer, rates in zip(ISSUERS, (logic, host), strict=True):
        assert rate("--issuer", issuer, "--timing-only") == pytest.approx(rates, rel=0.02)
    assert all(one > 2 * other for one, other in zip(logic, host, strict=True))


def test_all_calls_in_flight_share_the_receive_buffers(hpl, boards):
    """Broadcasts along rows and columns that fill them together, though each alone leaves room."""
    words = (*boards("accl-tcp")[len(SHORT) :], "--ranks", 4, "--size", 6144, "--timing-only")
    few, enough = (modelled(hpl.run(*words, "--rx-buffers", buffers)) for buffers in (16, 4096))
    assert few and few == pytest.approx(enough, rel=0.01)


@FULL
@pytest.mark.parametrize(
    "transport, ranks, size",
    [("accl-udp", 36, 147456), ("accl-tcp", 9, 24576), ("accl-rdma", 16, 24576)],
)
def test_the_default_size_and_that_of_all_boards(hpl, boards, transport, ranks, size):
    words = (*boards(transport)[len(SHORT) :], "--ranks", ranks, "--size", size)
    assert modelled(hpl.run(*words, "--timing-only", timeout=MOST_SECONDS))


def test_another_matrix_has_another_digest(hpl, boards):
    """Each repetition has a matrix of its own; the digest is that of the last."""
    words = [1 if word == 2 else word for word in boards("channels")]
    assert hpl.valid(*boards("channels")).digest != hpl.valid(*words).digest


@pytest.mark.parametrize(
    "words",
    [
        "--register-block 4 --ranks 4 --replications 3",
        pytest.param("--register-block 16 --ranks 2 --grid-rows 1 --lookahead false", marks=FULL),
        "--register-block 8 --ranks 2 --grid-rows 2 --flow credit:4",
    ],
)
def test_other_ways_of_a_run(hpl, boards, words):
    hpl.valid(*boards("channels"), *words.split())


def refused(hpl, *words, launcher=()):
    return one_error(hpl.run(*words, launcher=launcher), codes=(2,))


def test_cables_that_lead_elsewhere_are_named_with_both_ends(hpl, boards, tmp_path):
    line = refused(hpl, *boards("channels"), "--ranks", 4, "--topology", "ring:4*2")
    assert "device 0, port 0" in line and "leads to" in line and "torus" in line
    line = refused(hpl, *boards("channels"), "--ranks", 4, "--topology", "torus:4x1")
    assert "device" in line and "port" in line


def test_bad_use_gets_one_line(hpl, boards, system):
    assert "--system" in refused(hpl, *SHORT, "--transport", "channels")
    small = ("--size", 200, "--system", system, "--transport", "channels")
    assert "block_size" in refused(hpl, *small, "--block-size", 1024)
    assert "--register-block" in refused(hpl, *boards("channels"), "--register-block", 2)
    assert "--mode buffered" in refused(hpl, *boards("accl-tcp"), "--mode", "streaming", "--ranks", 4)
    assert "accl" in refused(hpl, *SHORT, "--system", system, "--transport", "accl-tcp")
    for block, ranks in itertools.product((2, 6), (1, 4)):
        refused(hpl, *small, "--block-size", block, "--ranks", ranks)

"""One vector of fm_fft over all ranks, exchanged over emulated boards: the same result over all ways,
and every fault of it is found."""

import itertools

import pytest
from charged_runs import exported, samples
from fft_checks import DIRECTIONS, TYPES, check_points, verdicts
from stream_program import devices, mpirun, on_a_device, one_error, only_error

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]

FULL = pytest.mark.full
ENGINES = ("accl-udp", "accl-tcp", "accl-rdma")
TRANSPORTS = ("channels", *ENGINES)
ISSUERS = ("logic", "host")
FAULTS = ("lost", "late", "swapped", "half", "blank", "flipped", "dead")
LOST = ("lost", "dead")  # which end the run
LOG_SIZE = 10
SHORT = ("--vector-bytes", 16, "--repetitions", 2, "--timeout", 10)


@pytest.fixture(scope="module")
def fft(tmp_path_factory):
    made = on_a_device(tmp_path_factory, "fft")
    if devices(made)[0]["class"] != "cpu":
        pytest.skip("for CPUs only")
    return made


@pytest.fixture(scope="module")
def boards(tmp_path_factory, system):
    """Words for a transport: of the system that has it."""
    other = exported(tmp_path_factory.mktemp("noctua2"), "noctua2")

    def words(transport, *more, log_size=LOG_SIZE):
        file = system if transport == "channels" else other
        return (*SHORT, "--log-size", log_size, "--system", file, "--transport", transport, *more)

    return words


def digest(document):
    (found,) = [note for note in document["notes"] if note.startswith("digest of both results: ")]
    return found


def check_valid(done, points=1 << LOG_SIZE):
    check_points(done, points)
    parameters = done.document["parameters"]
    assert (done.document["run"]["variant"], parameters["scope"]) == ("throughput", "distributed")
    walls = {one["kind"] for one in done.document["measurements"] if one["kind"] != "modelled"}
    assert walls == {"emulated"}
    modelled = {
        one["axes"]["operation"] for one in done.document["measurements"] if one["kind"] == "modelled"
    }
    assert modelled == {"exchange", "host_to_device", "device_to_host"}, "nothing says what kernels take"


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_one_vector_is_valid_over_boards(fft, boards, transport, ranks):
    check_valid(fft.valid(*boards(transport), "--ranks", ranks))


WIDE = list(itertools.product(TRANSPORTS, ISSUERS, TYPES))
FEW = [("channels", "logic", "double"), ("accl-tcp", "host", "float")]


@pytest.mark.parametrize(
    "transport, issuer, data_type",
    [pytest.param(*one, marks=() if one in FEW else FULL) for one in WIDE],
)
def test_one_vector_is_valid_over_sixteen_boards(fft, boards, transport, issuer, data_type):
    words = boards(transport, "--issuer", issuer, "--data-type", data_type, log_size=12)
    check_valid(fft.valid(*words, "--ranks", 16), 1 << 12)


@pytest.mark.parametrize("data_type", ["float", pytest.param("double", marks=FULL)])
def test_results_are_the_same_to_the_last_bit_over_all_ways(fft, boards, data_type):
    host = ("--variant", "throughput", "--scope", "distributed", "--log-size", LOG_SIZE)
    runs = [(*SHORT, *host), *(boards(transport) for transport in TRANSPORTS)]
    runs += [boards(transport, "--issuer", "host") for transport in ENGINES]
    runs += [boards("channels", "--topology", topology) for topology in ("full-mesh", "ring*2")]
    typed = ("--data-type", data_type, "--ranks", 4)
    assert len({digest(fft.valid(*words, *typed).document) for words in runs}) == 1


def test_options_of_the_engine_change_the_modelled_time_alone(fft, boards):
    def run(*words):
        document = fft.valid(*boards("accl-tcp", "--ranks", 4, *words, log_size=14)).document
        return digest(document), samples(document)[("bandwidth", ("operation", "exchange"))]

    (usual, time), *others = [
        run(),
        run("--issuer", "host"),
        run("--mtu-bytes", 1500),
        run("--window-bytes", 1500),
        run("--topology", "ring:4"),
    ]
    assert {found for found, _ in others} == {usual}
    assert all(other != time for _, other in others)
    assert run() == (usual, time), "and it is the same in every run"


@pytest.mark.parametrize(
    "transport", ["channels", "accl-rdma", *(pytest.param(t, marks=FULL) for t in ENGINES[:2])]
)
def test_processes_do_what_threads_do(fft, boards, transport):
    threads = fft.valid(*boards(transport), "--ranks", 4)
    processes = fft.valid(*boards(transport), launcher=mpirun(4))
    check_valid(processes)
    assert digest(processes.document) == digest(threads.document)
    assert samples(processes.document) == samples(threads.document)


def test_the_variant_and_the_scope_of_others_stay(fft):
    document = fft.valid("--log-size", 6, "--batch", 4, "--repetitions", 1).document
    assert (document["run"]["variant"], document["parameters"]["scope"]) == ("base", "batched")


# Faults ---------------------------------------------------------------------------------------------------


def check_found(done, kind):
    """INVALID, or the line of what did not come."""
    assert done.code == 1, (done.output, done.errors)
    if kind in LOST:
        line = only_error(done, codes=(1,))
        # What a link loses leaves its receiver waiting; of an engine the next message comes in its place.
        assert any(words in line for words in ("deadlock", "in vain", "does not answer", " came for ")), line
        return
    assert done.errors == ""
    found = verdicts(done)
    assert {found[f"{way} transforms"]["status"] for way in DIRECTIONS} == {"failed"}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_is_found(fft, boards, transport, kind):
    check_found(fft.run(*boards(transport), "--ranks", 4, "--inject-fault", f"{kind}@1"), kind)


@FULL
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_is_found_in_all_ways(fft, boards, transport, kind):
    issuers = ISSUERS if transport in ENGINES else ISSUERS[:1]
    for issuer, data_type, ranks, where in itertools.product(issuers, TYPES, (2, 8), ("", "@1")):
        words = boards(transport, "--issuer", issuer, "--data-type", data_type, "--ranks", ranks)
        check_found(fft.run(*words, "--inject-fault", f"{kind}{where}"), kind)


@pytest.mark.parametrize("transport", ["channels", "accl-udp"])
def test_a_fault_of_one_repetition_is_found_there(fft, boards, transport):
    done = fft.run(*boards(transport), "--ranks", 4, "--inject-fault", "flipped@2#0")
    assert done.code == 1 and done.errors == ""
    failed = {name: one for name, one in verdicts(done).items() if one["status"] == "failed"}
    assert set(failed) == {f"{way} repetitions" for way in DIRECTIONS}, "the last one is right"
    assert {one["repetition"] for one in failed.values()} == {0}


@pytest.mark.parametrize("kind", ["flipped", pytest.param("lost", marks=FULL)])
def test_faults_among_processes_are_found(fft, boards, kind):
    done = fft.run(*boards("channels"), "--inject-fault", f"{kind}@1", launcher=mpirun(4))
    assert done.code == 1
    assert kind == "flipped" or "deadlock" in one_error(done, codes=(1,))


# Bad input ------------------------------------------------------------------------------------------------

BASE = ("--ranks", 2, "--variant", "base", "--bitstream-id", "520n_multi/fft")
REFUSED = {
    "three ranks": ("accl-tcp", ("--ranks", 3), "3 ranks", "power of two"),
    "transforms of one rank each": ("accl-tcp", ("--scope", "batched"), "sends nothing", "leave out"),
    "the base kernel": ("channels", BASE, "base with channels", "throughput"),
    "streams": ("accl-rdma", ("--ranks", 2, "--mode", "streaming"), "--mode streaming", "buffered"),
    "a switch without circuits": ("channels", ("--ranks", 4, "--topology", "switch:4"), "switch:4", "ring"),
    "a torus of circuits": (
        "channels",
        ("--ranks", 4, "--topology", "torus:2x2"),
        "torus of 2x2",
        "use a ring",
    ),
    "more cables than ports": ("channels", ("--ranks", 8, "--topology", "full-mesh:8"), "port", "4"),
    "cables of fewer boards": ("channels", ("--ranks", 4, "--topology", "ring:2"), "ring:2", "4"),
    "a fault of a rank without another": ("accl-udp", ("--inject-fault", "flipped"), "one rank", "--ranks 2"),
    "a fault of one direction": (
        "channels",
        ("--ranks", 2, "--inject-fault", "lost:forward"),
        "'forward'",
        "@1",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_work_is_refused_with_what_does(fft, boards, what):
    transport, words, *says = REFUSED[what]
    line = only_error(fft.run(*boards(transport), *words), codes=(2,))
    assert all(one in line for one in says), line


def test_a_board_is_one_of_a_system_that_has_the_transport(fft, boards, system):
    words = (*SHORT, "--ranks", 2, "--transport", "accl-tcp")
    assert "systems export" in only_error(fft.run(*words), codes=(2,))
    assert "accl-tcp" in only_error(fft.run(*words, "--system", system), codes=(2,))

"""One vector of fm_fft over all ranks, exchanged over emulated boards: what is about the FFT alone.

Runs over all transports and their faults are in test_programs_boards.py.
"""

import pytest
from boards import refusals_missed
from fft_checks import DIRECTIONS, verdicts
from simulated_runs import exported, samples
from stream_program import devices, on_a_device, only_error

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]

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


def test_results_are_the_same_to_the_last_bit_over_all_cables(fft, boards):
    host = ("--variant", "throughput", "--scope", "distributed", "--log-size", LOG_SIZE, "--chunk-bytes", 0)
    cables = [("--topology", "full-mesh"), ("--topology", "ring*2")]
    runs = [
        (*words, "--ranks", 4) for words in ((*SHORT, *host), *(boards("channels", *one) for one in cables))
    ]
    runs += [boards(transport) for transport in ("channels", "accl-udp")]  # one board
    assert len({fft.valid(*words).digest for words in runs}) == 1


def test_options_of_the_engine_change_the_modelled_time_alone(fft, boards):
    def run(*words):
        done = fft.valid(*boards("accl-tcp", "--ranks", 4, *words, log_size=14))
        return done.digest, samples(done.document)[("bandwidth", ("operation", "exchange"))]

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


def test_the_variant_and_the_scope_of_others_stay(fft):
    document = fft.valid("--log-size", 6, "--batch", 4, "--repetitions", 1).document
    assert (document["run"]["variant"], document["parameters"]["scope"]) == ("base", "batched")


@pytest.mark.parametrize("transport", ["channels", "accl-udp"])
def test_a_fault_of_one_repetition_is_found_there(fft, boards, transport):
    done = fft.run(*boards(transport), "--ranks", 4, "--inject-fault", "flipped@2#0")
    assert done.code == 1 and done.errors == ""
    failed = {name: one for name, one in verdicts(done).items() if one["status"] == "failed"}
    assert set(failed) == {f"{way} repetitions" for way in DIRECTIONS}, "the last one is right"
    assert {one["repetition"] for one in failed.values()} == {0}


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


def test_what_does_not_work_is_refused_with_what_does(fft, boards):
    runs = ((what, fft.run(*boards(way), *words), says) for what, (way, words, *says) in REFUSED.items())
    assert refusals_missed(runs) == {}


def test_a_board_is_one_of_a_system_that_has_the_transport(fft, boards, system):
    words = (*SHORT, "--ranks", 2, "--transport", "accl-tcp")
    assert "systems export" in only_error(fft.run(*words), codes=(2,))
    assert "accl-tcp" in only_error(fft.run(*words, "--system", system), codes=(2,))

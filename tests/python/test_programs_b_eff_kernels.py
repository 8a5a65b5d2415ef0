"""The real fm_b_eff between kernels of emulated boards: what is about b_eff alone.

Runs over all transports and their faults are in test_programs_boards.py.
"""

import pytest
from b_eff_kernels import SHORT, Boards, failed
from boards import ENGINES, refusals_missed
from simulated_runs import exported
from stream_program import only_error

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]
FULL = pytest.mark.full


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    return Boards(tmp_path_factory.mktemp("b_eff"))


def test_one_rank_alone_needs_a_loop(boards):
    boards.valid("channels", *SHORT)
    boards.valid("accl-udp", *SHORT, "--topology", "ring")
    line = only_error(boards.run("accl-udp", *SHORT), codes=(2,))
    assert "one rank has no cable to itself in switch:1; start two or more" in line


def test_messages_of_all_sizes_are_right(boards):
    """Longer than the engine's packets and receive buffers: over RDMA those are requested first."""
    boards.valid("channels", "--ranks", 2, "--repetitions", 1, "--messages", 3)
    for way in ENGINES:
        words = ("--rx-bytes", 65536, "--rx-buffers", 64, "--messages", 2)
        boards.valid(way, "--ranks", 2, "--repetitions", 1, *words)


@pytest.mark.parametrize("width, messages", [(4, 5), pytest.param(16, 1, marks=FULL)])
def test_channels_of_another_width_and_any_number_of_messages(boards, width, messages):
    words = ("--channel-width", width, "--messages", messages, "--ranks", 3)
    boards.valid("channels", *SHORT, *words)
    done = boards.run("channels", *SHORT, *words, "--inject-fault", "half@2")
    assert done.code == 1 and set(failed(done)) == {"messages to the right"}


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
    "a step over the host": ("channels", "noctua1", ("--inject-fault", "lost:kernel"), "'kernel'; leave out"),
    "a step of the engine": ("accl-tcp", "noctua2", ("--inject-fault", "zeros:copy"), "'copy'; leave out"),
    "another width": ("channels", "noctua1", ("--channel-width", "5"), "--channel-width"),
    "one pair": ("channels", "noctua1", ("--replications", "1"), "--replications"),
    "another variant": ("channels", "noctua1", ("--variant", "base"), "base"),
    "too few receive buffers": (
        "accl-udp", "noctua2", ("--largest", "16", "--rx-buffers", "1", "--rx-bytes", "4096"),
        "receive buffers",
    ),
}  # fmt: skip


def test_what_cannot_be_is_one_line(boards):
    """Too few receive buffers show when messages are in flight: then the run fails."""
    runs = []
    for what, (transport, system, words, line) in REFUSED.items():
        chosen = ("--system", boards.files[system]) if system else ()
        done = boards.b_eff.run("--transport", transport, *chosen, "--ranks", 3, *words)
        assert done.code == (1 if "buffers" in line else 2), what
        runs.append((what, done, [line]))
    assert refusals_missed(runs, codes=(1, 2)) == {}


def test_a_board_has_as_many_ports_as_its_system_says(boards, tmp_path):
    def fewer(document):
        values = next(one["values"] for one in document["networks"] if one["kind"] == "direct")
        values["links"]["value"] = 3

    file = exported(tmp_path, change=fewer)
    line = only_error(boards.run("channels", "--ranks", 2, system=file), codes=(2,))
    assert "ring:2*2: device 0 needs 4 ports and its board has 3; use a topology with fewer" in line


def test_a_system_has_as_many_boards_as_it_says(boards):
    for transport, most in (("channels", 32), ("accl-udp", 48)):
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
    reported = with_programs.run("report", "results", "--full", "--html", page)
    assert (reported.returncode, reported.stderr) == (0, "") and page.exists()
    assert reported.stdout.count("b_eff, dataflow kernel") == 2

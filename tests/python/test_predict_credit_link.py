"""`fabricmark predict credit_link`: the laws of a credit link at the points where others know them."""

import csv
import io
from dataclasses import replace

import pytest
from conftest import REPOSITORY
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import _credit_link
from fabricmark.models._credit_link import FramedLink, ring_seconds
from fabricmark.predict.credit_link import USUAL, link_of
from hypothesis import given
from hypothesis import strategies as st

MIB, KIB = 1 << 20, 1 << 10
# Whole words of the large grid of the tsunami: 2581 x 2879 cells of 32 bytes.
GRID = 7_430_699 * 32
NAMES = ("packet", "receive_depth", "credit_interval", "timeout", "keep_alive", "overhead", "width")


@pytest.fixture
def run(place):
    return lambda *words: place.run("predict", "credit_link", *words)


@pytest.fixture
def figures(run):
    """Value by name."""

    def found(*words):
        done = run(*words, "--csv", "-")
        assert done.returncode == 0, done.stderr
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        assert {row["kind"] for row in rows} == {"modelled"}
        return {row["figure"]: float(row["value"]) if row["value"] else None for row in rows}

    return found


def test_the_link_of_the_source_by_its_own_equations_and_as_it_runs(figures):
    printed, own = figures("--profile", "published"), figures()
    assert (printed["first word"], printed["receive depth for the full rate"]) == (118, 268)
    assert (own["first word"], own["receive depth for the full rate"]) == (117, 224)
    assert printed["frame"] == own["frame"] == 1056
    assert own["share of the peak"] == pytest.approx(32 / 33)
    assert own["recovery"] is None, "a sender without credit says nothing"


def test_a_latency_in_time_is_one_in_cycles_of_the_clock(figures):
    assert figures("--set", "link_latency=365ns") == figures("--set", "link_latency=82")
    assert figures("--set", "link_latency=365ns", "--set", "clock=450MHz")["link latency"] == 164


# As the cycle model and the RTL give them, D_CU = D and L = 82 where nothing else is said.
SHARES = [
    (32, 82, 63, 0.1594), (32, 82, 96, 0.4780), (32, 82, 128, 0.6372), (32, 82, 160, 0.7972),
    (32, 82, 192, 0.9553), (32, 82, 224, 0.9697), (32, 204, 512, 0.9697), (32, 456, 1024, 0.9697),
    (32, 200, 320, 0.7337), (4, 82, 512, 0.8), (8, 82, 512, 0.8889), (16, 82, 512, 0.9412),
    (64, 82, 512, 0.9846), (128, 82, 512, 0.9923),
]  # fmt: skip


@pytest.mark.parametrize("packet, latency, depth, share", SHARES)
def test_the_rate_follows_from_packet_latency_and_depth(packet, latency, depth, share):
    link = replace(USUAL, latency=latency, packet=packet, receive_depth=depth, credit_interval=packet)
    assert link.share == pytest.approx(share, rel=3e-3)


@pytest.mark.parametrize("packet, cycles", [(4, 89), (8, 93), (16, 101), (32, 117), (64, 149), (128, 213)])
def test_a_first_word_waits_for_its_packet(packet, cycles):
    assert replace(USUAL, packet=packet, credit_interval=packet).first_word == cycles


@pytest.mark.parametrize("latency, depth", [(54, 160), (77, 192), (204, 448), (456, 928)])
def test_the_depth_for_the_full_rate_and_not_one_packet_less(latency, depth):
    link = replace(USUAL, latency=latency, receive_depth=depth)
    assert link.depth_for_full_rate == depth
    assert link.share == link.efficiency
    assert replace(USUAL, latency=latency, receive_depth=depth - 32).share < link.efficiency


@pytest.mark.parametrize("clock, peak, rate", [("150.813962MHz", 4.83, 4.29), ("154.99442MHz", 4.96, 4.41)])
def test_the_measured_links_lose_four_cycles_a_packet(figures, clock, peak, rate):
    found = figures("--set", f"clock={clock}", "--set", "overhead=4")
    assert found["peak"] == pytest.approx(peak, rel=2e-3)
    assert found["rate"] == pytest.approx(rate, rel=2e-3)


CABLE, LEAF, SPINE = 0.599e-6, 1.646e-6, 3.274e-6
RINGS = [
    (MIB, (245.6, 254.0, 282.8, 321.1), (241.1, 264.1, 343.1, 455.0)),
    (4 * KIB, (2.15, 10.54, 39.29, 77.63), (4.22, 27.27, 106.27, 218.1)),
    (GRID, (55428, 55437, 55465, 55504), (53922, 53945, 54024, 54136)),
]


@pytest.mark.parametrize("size, direct, switched", RINGS)
def test_rings_of_cables_and_of_switches(size, direct, switched):
    for boards, one, other in zip((2, 16, 64, 128), direct, switched, strict=True):
        assert ring_seconds(size, 4.29e9, CABLE, boards) * 1e6 == pytest.approx(one, rel=2e-3)
        assert ring_seconds(size, 4.41e9, LEAF, boards, SPINE, 64) * 1e6 == pytest.approx(other, rel=2e-3)


def test_a_ring_from_the_command_line(figures):
    words = ("overhead=4", "clock=150.813962MHz", "hop_latency=599ns", "boards=16", "size=1MiB")
    found = figures(*(part for word in words for part in ("--set", word)))
    assert found["around the ring"] == pytest.approx(254.0, rel=2e-3)


def test_what_is_lost_is_not_sent_again(figures):
    whole, lossy = figures(), figures("--set", "loss=0.05", "--set", "keep_alive=400")
    assert lossy["rate"] == pytest.approx(0.95 * whole["rate"])
    assert lossy["recovery"] == 400 + 2 * 82 + 2 * 32 + 16


def test_a_sweep_has_a_line_for_each_value(run):
    done = run("--sweep", "receive_depth=64:256:32", "--csv", "-")
    rows = [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["figure"] == "share of the peak"]
    assert [row["receive_depth"] for row in rows] == ["64", "96", "128", "160", "192", "224", "256"]
    shares = [float(row["value"]) for row in rows]
    assert shares == sorted(shares) and shares[-1] == shares[-2] > shares[-3]


REFUSED = {
    "receive_depth=62": "both ends can wait for each other with a receive depth of 62 flits; choose at least",
    "credit_interval=64": "credits come back each 64 flits, later than a packet or the latency; choose",
    "loss=1": "loss=1: no share of frames; write 0 to below 1",
    "packet=0": "packet=0: no such number; write 1 to 32767",
    "clock=5": "write for example 300 MHz",
    "link_latency=fast": "link_latency=fast",
    "link_latency=1h": "cycles; give at most",
    "depth=5": "credit_link has no parameter depth; use one of link_latency, clock",
    "size=0": "size=0: no number of bytes",
    f"timeout={'9' * 5000}": "no such number; write 1 to",  # more digits than Python reads
    f"link_latency={'9' * 5000}": "no such number; write 0 to",
}


@pytest.mark.parametrize("word, line", REFUSED.items())
def test_what_no_link_can_have_is_one_line(run, word, line):
    done = run("--set", word)
    assert done.returncode == 2
    (said,) = done.stderr.splitlines()
    assert line in said


@pytest.mark.parametrize(
    "words", [("--system", "noctua1"), ("--beyond",), ("--plot", "a.png"), ("--transport", "channels")]
)
def test_options_of_systems_are_not_passed_over(run, words):
    done = run(*words)
    assert (
        done.returncode == 2 and f"{words[0]} with credit_link; its values are given by --set" in done.stderr
    )


@pytest.mark.parametrize("words, line", [
    (("--sweep", "loss=0:1"), "--sweep loss: no whole number of credit_link; sweep over one of packet"),
    (("--sweep", "packet=1:2", "--sweep", "timeout=1:2"), "swept over one parameter"),
    (("--sweep", "packet=8:32", "--set", "packet=8"), "packet is set and swept"),
])  # fmt: skip
def test_sweeps_that_cannot_be_are_one_line(run, words, line):
    done = run(*words)
    assert done.returncode == 2 and line in done.stderr


@given(st.sampled_from((*NAMES, "link_latency", "clock", "loss", "size")), st.text(max_size=12))
def test_any_text_is_a_link_or_refused(name, text):
    try:
        link, size = link_of({name: text}, "fitted")
    except FabricmarkError as error:
        assert error.exit_code == 2 and len(str(error).splitlines()) == 1
    else:
        assert 0 < link.share <= link.efficiency < 1 and link.seconds(size) > 0


def test_frames_of_data_and_credits_share_the_cable_of_a_board():
    """Of 32 flits: a frame of 33 x 32 + 38 B, and one of 46 + 38 B that brings their credits."""
    link = replace(USUAL, overhead=4, width=32, clock=155e6)
    framed = FramedLink(link, overhead=38, line=5e9)
    assert framed.frame_seconds(32) == pytest.approx(1094 / 5e9)
    assert framed.frame_seconds(0) == pytest.approx(84 / 5e9)  # no shorter
    assert framed.rate == pytest.approx(1024 * 5e9 / (1094 + 84))
    assert framed.rate < link.peak * link.efficiency
    fast = replace(framed, line=1e12)
    assert fast.rate == pytest.approx(32 * 155e6 * 32 / 36)
    often = replace(framed, link=replace(link, credit_interval=8))
    assert often.rate == pytest.approx(1024 * 5e9 / (1094 + 4 * 84))


def test_over_frames_a_stream_waits_for_its_first_packet_or_for_the_end_of_its_last_one():
    framed = FramedLink(replace(USUAL, overhead=4, width=32, clock=155e6), overhead=38, line=5e9)
    first = framed.first_seconds(1e9)
    assert first == pytest.approx(1024 / 1e9 + 36 / 155e6 + 1094 / 5e9)
    assert framed.first_seconds(1e12) == pytest.approx(1024 / framed.rate + 36 / 155e6 + 1094 / 5e9)
    assert framed.last_seconds(3200, 1e9) == 0  # it is full
    rest = framed.last_seconds(3202, 1e9)
    assert rest == pytest.approx((64 + 4 + 3) / 155e6 + 134 / 5e9 + 64 / 1e9)
    assert framed.last_seconds(3202, 1e12) == pytest.approx(rest - 64 / 1e9 + 2 / 155e6)


def test_both_languages_have_the_shortest_frame():
    text = (REPOSITORY / "src" / "board" / "dataflow" / "credit_cable.cpp").read_text()
    assert f"kLeastPayload = {_credit_link.LEAST_PAYLOAD};" in text

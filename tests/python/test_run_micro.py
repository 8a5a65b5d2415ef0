"""`fabricmark run` and `list` of micro-benchmarks: of a stand-in that no code names, and of the real ones."""

import json

import pytest
import samples
from omb_programs import ALL, IN_SHORT_SET
from stream_program import PROGRAM, mpirun

EMULATOR = {**samples.DEVICE, "name": "sample-emulator", "emulated": True, "device_index": 1}
# Takes devices, unless a word says hosts; refuses what no program takes.
PING = """
import fake_program, json, os
words = sys.argv[1:]
if "--plan" not in words:
    if "--ranks" not in words:
        os.environ["FAKE_RANKS"] = "2"  # the usual number here
    sys.exit(fake_program.main())
if "--bad" in words:
    print(json.dumps({"error": {"cause": "--bad is bad", "remedy": "leave it out", "code": 2}}))
    sys.exit(2)
print("nonsense" if "--mute" in words else json.dumps({"takes_device": "hosts" not in words}))
"""


@pytest.fixture
def ping(calibrated):
    """A place with micro-benchmarks fm_ping and fm_pong, the first of which is in the short set."""
    described = {
        "usual_ranks": 2,
        "programs": [
            {"name": "pong", "summary": "there", "short_words": []},
            {"name": "ping", "summary": "and back", "short_words": ["--quick"]},
        ],
        "options": [{"names": "-m,--message-size", "meaning": "bytes"}],
    }
    folder = calibrated.programs.parent / "micro"
    folder.mkdir()
    (folder / "fm_any.json").write_text(json.dumps(described))
    for name in ("fm_ping", "fm_pong"):
        calibrated.add_program(calibrated.programs / name, PING)
    return calibrated


def words_of(place, name="fm_ping"):
    """What the program was started with but for its device and its file, one list a start."""
    starts = [one["words"] for one in place.started(name)]
    return [[*words[: words.index("--json")], *words[words.index("--json") + 2 :]] for words in starts]


ON_A_DEVICE = ["--platform", "0", "--device", "0"]


@pytest.mark.parametrize("name", ["fm_pong", "pong"])
def test_one_runs_on_every_device_as_a_benchmark_does(ping, name):
    done = ping.run("run", name, "--", "-m", "4")
    assert done.returncode == 0, done.stderr
    assert words_of(ping, "fm_pong") == [[*ON_A_DEVICE, "-m", "4"]]
    (file,) = ping.results.iterdir()
    assert file.name.startswith("pong-") and "-sample-cpu-2r.json" in file.name
    assert "valid" in done.stdout  # the closing table


def test_the_short_set_is_those_that_are_in_it_with_their_words_first(ping):
    assert ping.run("run", "micro", "--ranks", "3", "--", "-m", "4").returncode == 0
    assert words_of(ping) == [[*ON_A_DEVICE, "--ranks", "3", "--quick", "-m", "4"]]
    assert words_of(ping, "fm_pong") == []


def test_one_rank_is_said_to_a_program_that_has_two_by_itself(ping):
    assert ping.run("run", "fm_ping", "--ranks", "1").returncode == 0
    assert words_of(ping) == [[*ON_A_DEVICE, "--ranks", "1"]]


def test_between_hosts_no_device_is_taken(ping):
    done = ping.run("run", "fm_ping", "--", "hosts", FAKE_DEVICES="[]")
    assert done.returncode == 0, done.stderr
    assert words_of(ping) == [["hosts"]]
    (file,) = ping.results.iterdir()
    assert file.name.endswith("-system-no-device-2r.json")


def test_a_device_that_the_options_choose_is_left_to_the_program(ping):
    assert ping.run("run", "fm_ping", "--device", "sample").returncode == 0
    assert words_of(ping) == [["--device", "sample"]]
    (file,) = ping.results.iterdir()
    assert file.name.endswith("-system-chosen-device-2r.json")


def test_the_short_set_leaves_emulated_devices_out_unless_they_are_named(ping, one_error_line):
    both = {"FAKE_DEVICES": json.dumps([samples.DEVICE, EMULATOR])}
    assert ping.run("run", "micro", **both).returncode == 0
    assert len(words_of(ping)) == 1
    assert ping.run("run", "micro", "--runtime", "system", **both).returncode == 0
    assert ping.run("run", "fm_ping", **both).returncode == 0
    assert len(words_of(ping)) == 5
    line = one_error_line(ping.run("run", "micro", FAKE_DEVICES=json.dumps([EMULATOR])), 3)
    assert "only emulated devices" in line


def test_an_invalid_result_ends_with_1(ping):
    assert ping.run("run", "fm_ping", FAKE_EXIT="1").returncode == 1


BAD = {
    "mistyped": (["fm_pimg"], 2, "there is no benchmark 'fm_pimg'; did you mean fm_ping?"),
    "unknown": (["nothing"], 2, "use one of stream, all, micro, or a micro-benchmark of `fabricmark list`"),
    "what the program refuses": (["fm_ping", "--", "--bad"], 2, "--bad is bad; leave it out"),
    "option before --": (["fm_ping", "-m", "4"], 2, "No such option: -m"),
    "own result file": (["micro", "--", "--json", "x"], 2, "--json is set by"),
    "no answer": (["fm_ping", "--", "--mute"], 3, "fm_ping --plan"),
}


@pytest.mark.parametrize("words, code, cause", BAD.values(), ids=BAD)
def test_bad_use_is_one_line(ping, one_error_line, words, code, cause):
    assert cause in one_error_line(ping.run("run", *words), code)
    assert ping.started("fm_ping") == []


def test_without_a_device_or_a_whole_build_there_is_one_line(ping, one_error_line):
    assert "no OpenCL device found" in one_error_line(ping.run("run", "fm_ping", FAKE_DEVICES="[]"), 3)
    (ping.programs / "fm_pong").unlink()
    assert "fm_pong is not built" in one_error_line(ping.run("run", "fm_pong"), 3)
    file = ping.programs.parent / "micro" / "fm_any.json"
    file.write_text("{}")
    assert "fm_any.json is damaged" in one_error_line(ping.run("list"), 3)
    file.unlink()
    assert "no micro-benchmark is built; run `make build`" in one_error_line(ping.run("run", "micro"), 3)


def test_they_are_listed(ping):
    text = ping.run("list").stdout
    rows = [line.split() for line in text.splitlines() if line.startswith("fm_")]
    assert rows == [["fm_ping", "and", "back", "yes"], ["fm_pong", "there"]]
    assert "-m,--message-size" in ping.run("list", "fm_pong").stdout
    assert "there is no benchmark 'nothing'" in ping.run("list", "nothing").stderr


@pytest.mark.programs
class TestReal:
    """Those of the build."""

    def test_the_build_says_which_there_are(self):
        text = (PROGRAM.parents[1] / "micro" / "fm_omb.json").read_text()
        programs = json.loads(text)["programs"]
        assert {one["name"] for one in programs} == set(ALL)
        assert {one["name"] for one in programs if one["short_words"]} == set(IN_SHORT_SET)
        assert all(one["summary"] for one in programs)

    def test_the_short_set_fills_the_table_and_the_report(self, with_programs):
        done = with_programs.run("run", "micro", "--full", "--", "-m", "64:256", "-i", "2", "-x", "1")
        assert done.returncode == 0, done.stderr
        files = list(with_programs.results.glob("*.json"))
        devices = {file.name.rsplit("-system-", 1)[1] for file in files}
        assert len(files) == len(IN_SHORT_SET) * len(devices)
        for name in IN_SHORT_SET:
            assert f"{name}, device to device, on " in done.stdout
        assert "model not calibrated" not in done.stdout and "valid" in done.stdout
        page = with_programs.folder / "page.html"
        assert with_programs.run("report", "results", "--html", page).returncode == 0
        text = page.read_text()
        assert "bw: bandwidth over message bytes" in text and "latency: latency over message bytes" in text

    def test_a_wrong_element_ends_with_1_and_what_cannot_be_with_2(self, with_programs, one_error_line):
        done = with_programs.run("run", "fm_bw", "--", "-m", "64", "-i", "2", "--inject-fault", "H", "H")
        assert done.returncode == 1
        assert "bw, host to host, on " in done.stdout and "INVALID" in done.stdout
        for words, cause in (
            (["fm_latency", "--ranks", "4"], "4 ranks for messages between ranks 0 and 1"),
            (["fm_bcast", "--", "--root", "2"], "root 2 is not one of ranks 0 to 1"),
            (["fm_bw", "--", "--bogus"], "'--bogus' is not expected; see fm_bw --help"),
            (["fm_collective"], "operation is required"),
        ):
            assert cause in one_error_line(with_programs.run("run", *words), 2)

    def test_ranks_may_stand_among_the_options_of_the_program(self, with_programs):
        words = ("-m", "64", "-i", "2", "H", "H", "--ranks", "3")
        assert with_programs.run("run", "fm_bcast", "--", *words).returncode == 0

    def test_operations_run_over_transports_of_hosts(self, with_programs):
        words = ("all_reduce", "--transport", "cpu", "--sizes", "64:128", "--repetitions", "2")
        mpirun(3)  # skips where there is none
        for ranks, said in (("--ranks", "3 ranks (in-process)"), ("--mpi", "3 ranks (mpi)")):
            done = with_programs.run("run", "fm_collective", ranks, "3", "--", *words)
            assert done.returncode == 0, done.stderr
            assert said in done.stdout and "valid" in done.stdout

"""`fabricmark systems describe`: what is given, taken over, refused and warned of."""

import os
import pty
import re
import subprocess
import sys
import tomllib

import pytest
from conftest import REPOSITORY
from fabricmark import systems
from fabricmark.base import keys
from fabricmark.base.errors import SeveralErrors
from fabricmark.systems import catalogue, changes, described, files, original, shipped

LIKE = ("--like", "u280_hbm", "my_board")

pytestmark = pytest.mark.usefixtures("of_the_repository")


@pytest.fixture
def own(tmp_path):
    return tmp_path / "own"


@pytest.fixture
def variables(own):
    return {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": str(own)}


@pytest.fixture
def command(place, variables, monkeypatch):
    """`fabricmark words...` with the repository's systems and a folder of one's own, also for the test."""
    for name, value in variables.items():
        monkeypatch.setenv(name, str(value))
    return lambda *words: place.run(*words, **variables)


@pytest.fixture
def describe(command):
    def run(*words):
        return command("systems", "describe", *words)

    return run


def sets(*words):
    return [part for word in words for part in ("--set", word)]


def errors(text):
    return re.findall(r"^fabricmark: error: (.*)$", text, re.MULTILINE)


def warned(text):
    return re.findall(r"^fabricmark: warning: (.*)$", text, re.MULTILINE)


def value_of(shown):
    """The predicted value of the first row."""
    return float(re.search(r"^ +1 +\d+ +([\d.]+) ", shown, re.MULTILINE)[1])


def test_a_board_with_half_the_banks_has_half_the_bandwidth_and_is_unvalidated(describe, command, own):
    made = describe(*LIKE, *sets("memory.banks=16", "memory.bank_capacity=1 GiB"))
    assert made.returncode == 0, made.stderr
    assert not warned(made.stderr)
    wrote = re.findall(r"^wrote (.*)$", made.stdout, re.MULTILINE)
    assert sorted(wrote) == sorted(str(path) for path in own.rglob("*.toml"))
    typed = re.search(r"fabricmark (predict stream --system my_board)$", made.stdout, re.MULTILINE)[1]
    predicted = command(*typed.split())
    assert predicted.returncode == 0, predicted.stderr
    assert "error bar: unvalidated: no published value of stream is of the board my_board; within" in (
        predicted.stdout
    )
    whole = command("predict", "stream", "--system", "u280_hbm")
    assert value_of(predicted.stdout) == pytest.approx(value_of(whole.stdout) / 2, rel=1e-3)


@pytest.mark.parametrize("name", ["u280_hbm", "h200", "noctua1", "noctua2", "arria10_ring", "leaf_spine"])
def test_what_nothing_was_said_of_has_the_numbers_of_its_original(name, tmp_path):
    base = original.of(name)
    for place, content in described.Description("mine", base, (), "here").files().items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(content)
    made, before = systems.load(tmp_path / "mine.toml"), systems.load(name)
    assert made.board.values.known == before.board.values.known
    assert made.board.updates_per_second == before.board.updates_per_second
    assert (made.board.memory_kind, made.board.memory_placement) == (
        before.board.memory_kind,
        before.board.memory_placement,
    )
    assert (made.devices_per_node, made.most_devices) == (before.devices_per_node, before.most_devices)
    assert made.networks == before.networks
    for one, other in zip(made.bitstreams, before.bitstreams, strict=True):
        assert (one.benchmark, one.variant, one.transport) == (
            other.benchmark,
            other.variant,
            other.transport,
        )
        assert (one.parameters, one.curves, one.values) == (other.parameters, other.curves, other.values)
    entry = catalogue.entry("system", tmp_path / "mine.toml")
    taken = [one for one in entry.sourced if one.name]
    assert all(one.value is None and one.inferred.startswith("assumed") for one in taken)


def test_each_value_is_given_with_its_source_or_assumed_with_that_of_the_original(describe, command, own):
    assert describe(*LIKE, *sets("memory.banks=16"), "--source", "order of 2026").returncode == 0
    board = tomllib.loads((own / "boards" / "my_board.toml").read_text())
    assert board["memory"]["banks"] == {"value": 16, "source": "order of 2026"}
    assumed = board["memory"]["bank_bandwidth"]
    assert assumed["fitted"] == "14.375 GB/s"
    assert "taken over from u280_hbm: Meyer 2024, section 3.2.2" in assumed["inferred"]
    shown = command("systems", "show", "my_board").stdout
    assert re.search(r"my_board.toml: memory.banks +16 +- +order of 2026", shown)
    assert command("systems", "check", own / "my_board.toml").returncode == 0


def test_a_board_s_value_also_counts_where_a_bitstream_has_its_own(describe, own):
    assert describe(*LIKE, *sets("memory.update_latency=72 ns")).returncode == 0
    assert (
        original.of("u280_hbm").designs["random_access"].values["memory.update_latency"].of("fitted") == 36e-9
    )
    made = systems.load(own / "my_board.toml")
    board = made.board_with(made.bitstream("random_access"), 1)
    assert board["memory.update_latency"] == 72e-9


def test_networks_and_numbers_of_devices_of_a_system(describe, command, own):
    made = describe(
        "--like", "noctua2", "--board", "u280_hbm", "lab",
        *sets("network.channels.latency=1us", "most=6", "name=Our lab", "bitstream.stream.clock=300 MHz"),
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    lab = systems.load(own / "lab.toml")
    assert lab.most_devices == 6
    assert lab.networks["channels"]["latency"] == 1e-6
    assert lab.networks["host"].curves == systems.load("noctua2", board="u280_hbm").networks["host"].curves
    assert lab.bitstream("stream")["clock"] == 300e6
    assert lab.board["host.write_bandwidth"] == 9.7e9  # of its hosts, not that of the board by itself
    assert tomllib.loads((own / "lab.toml").read_text())["name"] == "Our lab"


def test_all_faults_are_told_at_once_and_nothing_is_written(describe, own):
    wrong = {
        "memory.banks=1.5": "'1.5' is no plain number",
        "memory.bnks=3": "did you mean memory.banks?",
        "memory.bank_bandwidth=20": 'no unit; write for example "19.2 GB/s"',
        "memory.bank_bandwidth=1e30 GB/s": "out of range",
        "memory.bank_capacity=1 GB/s": '"GB/s" is not a unit of bytes',
        "memory.bank_efficiency=1.5": "1.5 is out of range",
        "memory.bank_efficiency=0": "without it nothing moves",
        "memory.kind=wood": "use one of ddr, hbm, host",
        "host.write_latency=-1 us": "is negative",
        "most=0": "write at least 1",
        "network.latency=1 us": "no such value",
        "bitstream.stream.replications=many": "give a whole number",
        "measured.efficiency=1": "no such value",
        "foo": "not KEY=VALUE",
        "=3": "not KEY=VALUE",
    }
    made = describe("--like", "u280_hbm", "a/b", *sets(*wrong))
    assert made.returncode == 2
    assert not made.stdout
    told = errors(made.stderr)
    assert len(told) == len(made.stderr.splitlines()) == len(wrong) + 1
    assert "'a/b' is no name of a system" in told[0]
    for line, (word, cause) in zip(told[1:], wrong.items(), strict=True):
        assert word.partition("=")[0] in line
        assert cause in line
        assert "; " in line
    assert not own.exists()


@pytest.mark.parametrize(
    "words, cause",
    {
        "name of the repository": (["--like", "u280_hbm", "u55c"], "u55c is a name of the repository's own"),
        "nothing like it": (["--like", "u280_hmb", "mine"], "did you mean u280_hbm?"),
        "path": (["--like", "systems/noctua1.toml", "mine"], "there is no system or board"),
        "no such board": (["--like", "noctua2", "--board", "u250", "mine"], "u250 is no board"),
        "twice": ([*LIKE, *sets("bitstream.clock=1 MHz", "bitstream.fft.clock=2 MHz")], "set before by"),
        "more in a node": (["--like", "noctua1", "mine", *sets("per_node=99")], "per_node 99 is more"),
        "one of several": (["--like", "noctua1", "mine", *sets("network.latency=1 us")], "several networks"),
        "no source": ([*LIKE, "--source", " "], "--source is empty"),
    }.values(),
    ids=lambda one: one[-1] if isinstance(one, list) else "",
)  # fmt: skip
def test_refusals(describe, own, words, cause):
    made = describe(*words)
    assert made.returncode == 2
    assert [line for line in errors(made.stderr) if cause in line]
    assert len(errors(made.stderr)) == len(made.stderr.splitlines()) == 1
    assert not own.exists()


def test_files_that_are_there_are_kept_without_force(describe, own):
    assert describe(*LIKE).returncode == 0
    before = {path: path.read_bytes() for path in own.rglob("*.toml")}
    again = describe(*LIKE, *sets("memory.banks=8"))
    assert again.returncode == 2
    assert [line.partition(" is there already")[0] for line in errors(again.stderr)] == [
        str(own / place) for place in ("boards/my_board.toml", "bitstreams/my_board.toml", "my_board.toml")
    ]
    assert {path: path.read_bytes() for path in own.rglob("*.toml")} == before
    assert describe(*LIKE, *sets("memory.banks=8"), "--force").returncode == 0
    assert systems.load(own / "my_board.toml").board["memory.banks"] == 8


@pytest.mark.parametrize("is_there", [True, False])
def test_a_file_that_cannot_be_written_leaves_the_others_as_they_were(describe, own, is_there):
    if is_there:
        assert describe(*LIKE).returncode == 0
        (own / "my_board.toml").unlink()
    before = {path: path.read_bytes() for path in own.rglob("*.toml")}
    (own / "my_board.toml").mkdir(parents=True)  # the last one
    refused = describe(*LIKE, *sets("memory.banks=8"), "--force")
    assert refused.returncode == 2
    assert "cannot write" in errors(refused.stderr)[0]
    assert {path: path.read_bytes() for path in own.rglob("*.toml") if path.is_file()} == before


def test_another_folder(describe, command, tmp_path, own):
    made = describe(*LIKE, "--output", tmp_path / "there")
    assert made.returncode == 0
    typed = re.search(r"fabricmark (predict .*\.toml)$", made.stdout, re.MULTILINE)[1]
    assert command(*typed.split()).returncode == 0
    assert not own.exists()
    blocked = tmp_path / "file"
    blocked.write_text("")
    refused = describe(*LIKE, "--output", blocked)
    assert refused.returncode == 2
    assert len(errors(refused.stderr)) == len(refused.stderr.splitlines()) == 1


def test_a_description_of_a_description(describe, own, one_error_line):
    assert describe(*LIKE, *sets("memory.banks=8")).returncode == 0
    itself = describe("--like", "my_board", "my_board", "--force")
    assert "my_board would be like itself" in one_error_line(itself, 2)
    assert describe("--like", "my_board", "second", *sets("memory.bank_capacity=1 GiB")).returncode == 0
    board = systems.load(own / "second.toml").board
    assert (board["memory.banks"], board.get("memory.bank_capacity")) == (8, 2**30)


BEYOND = {
    "memory.bank_bandwidth=1e8 GB/s": "memory.bank_bandwidth: 100 PB/s is beyond anything that ships",
    "bitstream.clock=10 GHz": "bitstream.clock: 10 GHz is beyond anything that ships",
    "host.write_latency=1 s": "host.write_latency: 1 s is beyond anything that ships",
    "host.read_latency=1 ns": "host.read_latency: 1 ns is below anything that ships",
    "memory.banks=4096": "memory bandwidth: 58.88 TB/s is beyond anything that ships",
    "memory.bank_efficiency=1": "memory.bank_efficiency: it is 1, which is perfect: what ships has 0.8",
    "host.write_latency=0 s": "host.write_latency: it is 0 s, which is perfect: what ships has",
    "host.write_bandwidth=15 GB/s": "more than the link to the host carries",
    "bitstream.stream.replications=16": "bitstream.stream: clock and resources are those without",
}


@pytest.mark.parametrize("word", BEYOND)
def test_what_is_perfect_or_beyond_all_that_ships_is_said(describe, word):
    made = describe(*LIKE, *sets(word))
    assert made.returncode == 0
    assert [line for line in warned(made.stderr) if BEYOND[word] in line]


def test_the_thresholds_are_what_ships(monkeypatch, tmp_path):
    """With a board of more in the repository's folder nothing is said; what the user has does not count."""
    caches = (shipped._entries, shipped._extremes, shipped._total, shipped._class_of)

    def told():
        for one in caches:
            one.cache_clear()
        return shipped.beyond("board", "fpga", "memory.bank_bandwidth", 1e12)

    assert "the most is 19.2 GB/s" in told()
    folder = tmp_path / "systems"
    (folder / "boards").mkdir(parents=True)
    text = (files.shipped_folder() / "boards" / "520n.toml").read_text()
    (folder / "boards" / "520n.toml").write_text(text.replace("19.2 GB/s", "400 GB/s"))
    monkeypatch.setenv("FABRICMARK_SYSTEMS", str(folder))
    assert "the most is 19.2 GB/s" in told()
    monkeypatch.setattr(files, "shipped_folder", lambda: folder)
    assert told() == ""
    for one in caches:
        one.cache_clear()


def test_no_shipped_board_is_beyond_what_ships():
    for name in files.listed("board"):
        board = original.of(name)
        for key, one in board.board.items():
            assert shipped.beyond("board", board.device_class, key, one.of("fitted")) == ""


def test_every_key_can_be_set():
    base = original.of("noctua1")
    for key in changes.known_keys(base):
        name = key.split(".", 2)[2] if key.startswith(("network.", "bitstream.")) else key
        kind = next((kind for kind in keys.VALUES if name in keys.VALUES[kind]), None)
        if kind is None:
            continue  # a text, or a parameter of a kernel
        dimension = keys.VALUES[kind][name].dimension
        text = {"count": "1", "number": "1", "share": "0.5"}.get(dimension) or {
            "bytes": "1 KiB", "bytes_per_second": "1 GB/s", "seconds": "1 us", "hertz": "1 MHz",
            "flops_per_second": "1 TFLOP/s",
        }[dimension]  # fmt: skip
        found, faults = changes.parse([f"{key}={text}"], base)
        assert not faults
        assert [one.name for one in found] == [name]


def test_several_errors_have_the_worst_exit_code_and_a_line_each():
    from fabricmark.base.errors import ENVIRONMENT, FabricmarkError

    several = SeveralErrors([FabricmarkError("one", "a"), FabricmarkError("two\nlines", "b", ENVIRONMENT)])
    assert several.exit_code == ENVIRONMENT
    assert str(several).splitlines() == ["one; a", "two lines; b"]


def test_questions_on_a_terminal(variables, own):
    """Wrong answers are asked again; Enter keeps a value."""
    main, its = pty.openpty()
    words = ["systems", "describe", *LIKE]
    code = "from fabricmark.cli import app; app(prog_name='fabricmark')"
    with subprocess.Popen(
        [sys.executable, "-c", code, *words], stdin=its, stdout=its, stderr=its,
        env={**os.environ, **variables, "PYTHONPATH": str(REPOSITORY / "python"), "TERM": "dumb"},
    ) as process:  # fmt: skip
        os.close(its)
        os.write(main, b"many\n16\n30 GB/s\n" + b"\n" * 40)
        told = b""
        try:
            while part := os.read(main, 4096):
                told += part
        except OSError:  # the other end is closed
            pass
        assert process.wait() == 0, told.decode()
    os.close(main)
    assert b"What differs from u280_hbm?" in told
    assert b"'many' is no plain number" in told
    board = systems.load(own / "my_board.toml").board
    assert (board["memory.banks"], board["memory.bank_bandwidth"]) == (16, 30e9)
    assert board["memory.bank_capacity"] == 256 * 2**20

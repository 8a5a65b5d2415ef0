"""`fabricmark run --system`: the system beside the results, what the program is given, what is refused."""

import shutil

import pytest
import samples
from conftest import REPOSITORY
from fabricmark.systems import export

ID = "520n_multi/stream"


@pytest.fixture(name="described")
def described_place(place):
    """The stand-in repository with the systems of this one."""
    for name in ("systems", "data"):
        (place.root / name).symlink_to(REPOSITORY / name)
    return place


def test_the_program_gets_the_system_as_a_file_beside_the_results(described):
    done = described.run("run", "stream", "--system", "noctua1", "--bitstream-id", ID, "--", "--size", "9")
    assert done.returncode == 0, done.stderr
    (start,) = described.started()
    file = described.results / "noctua1.system.json"
    assert start["words"][-6:] == ["--size", "9", "--system", str(file), "--bitstream-id", ID]
    assert file.read_text() == export.text("noctua1")
    reported = described.run("report", "results")
    assert (reported.returncode, reported.stderr) == (0, ""), "the system is not taken for a result"


def test_a_file_of_ones_own_for_several_ranks(described):
    mine = described.folder / "mine.toml"
    shutil.copy(REPOSITORY / "systems" / "noctua1.toml", mine)
    done = described.run("run", "stream", "--system", mine, "--ranks", "2", "--output", "there")
    assert done.returncode == 0, done.stderr
    file = described.folder / "there" / "mine.system.json"
    assert described.started()[0]["words"][-2:] == ["--system", str(file)]
    assert export.load(file)["name"] == "mine"


def test_a_run_that_only_tells_times_needs_no_device_and_measures_none(described):
    done = described.run("run", "stream", "--system", "noctua1", "--", "--timing-only", "--size", "9")
    assert done.returncode == 0, done.stderr
    (start,) = described.started()
    assert "--platform" not in start["words"]
    assert start["words"][-5:-2] == ["--timing-only", "--size", "9"]
    assert described.started("fm_calibrate") == []
    assert described.run("run", "stream", "--", "--size", "9").returncode == 0
    assert len(described.started("fm_calibrate")) == 1, "others are measured for"


def test_without_a_system_nothing_is_written(described):
    assert described.run("run", "stream").returncode == 0
    assert "--system" not in described.started()[0]["words"]
    assert list(described.results.glob("*.system.json")) == []


BAD = {
    "unknown system": (["--system", "nothing"], "there is no system nothing; use one of arria10_ring"),
    "no such file": (["--system", "none/x.toml"], "none/x.toml"),
    "unknown bitstream": (
        ["--system", "noctua1", "--bitstream-id", "x/y"],
        f"noctua1 has no bitstream x/y of stream; use one of {ID}, 520n_single/stream",
    ),
    "another's bitstream": (
        ["--system", "noctua1", "--bitstream-id", "520n_multi/gemm"], "520n_multi/gemm of stream; use one of",
    ),
    "none of this benchmark": (
        ["--system", "leaf_spine", "--bitstream-id", ID],
        f"leaf_spine has no bitstream {ID} of stream; leave out --bitstream-id",
    ),
    "no system": (["--bitstream-id", ID], "--bitstream-id without --system; name the system"),
    "two systems": (["--system", "noctua1", "--", "--system=x"], "--system after ` -- `; leave it out there"),
    "two bitstreams": (
        ["--system", "noctua1", "--", "--bitstream-id", ID],
        "--bitstream-id after ` -- `; leave it out there",
    ),
    "nowhere to write": (["--system", "noctua1", "--output", "file/inside"], "cannot write "),
}  # fmt: skip


@pytest.mark.parametrize("words, cause", BAD.values(), ids=BAD)
def test_bad_use_is_one_line_before_anything_runs(described, one_error_line, words, cause):
    (described.folder / "file").touch()
    assert cause in one_error_line(described.run("run", "stream", *words), 2)
    assert described.started() == [] and not described.results.exists()


def test_a_bitstream_is_of_one_benchmark(described, one_error_line):
    (described.root / "kernels" / "another").mkdir()
    (described.root / "kernels" / "another" / "kernel.toml").write_text(samples.KERNEL_TOML)
    words = ["run", "all", "--system", "noctua1"]
    line = one_error_line(described.run(*words, "--bitstream-id", ID), 2)
    assert "a bitstream is of one benchmark; leave out --bitstream-id" in line
    described.run(*words)  # each program chooses its own
    assert described.started()[0]["words"][-2] == "--system"


def test_a_campaign_has_its_options_in_its_file(described, one_error_line):
    campaign = described.folder / "c.toml"
    campaign.write_text("schema = 'fabricmark-campaign/1'\n[[runs]]\nbenchmark = 'stream'\n")
    line = one_error_line(described.run("run", campaign, "--system", "noctua1"), 2)
    assert "a campaign has its options in its file" in line


def test_the_help_says_so(place):
    shown = place.run("run", "--help").stdout
    assert "--system" in shown and "--bitstream-id" in shown and "fabricmark systems list" in shown


@pytest.mark.programs
def test_the_real_program_takes_the_parameters_of_the_bitstream(with_programs):
    words = ["--system", "noctua1", "--bitstream-id", ID, "--", "--size", "65536", "--repetitions", "2"]
    done = with_programs.run("run", "stream", "--full", *words)
    assert done.returncode == 0, done.stderr
    assert "note: system noctua1: 520n, bitstream 520n_multi/stream" in done.stdout
    assert "buffer_size=2^15" in done.stdout


@pytest.mark.programs
def test_the_real_program_says_which_bitstreams_there_are(with_programs):
    done = with_programs.run("run", "stream", "--system", "noctua1")
    assert done.returncode == 2
    assert f"has several bitstreams of stream; choose with --bitstream-id one of {ID}" in done.stderr

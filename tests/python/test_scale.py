"""`fabricmark scale`: what is run, speed-up and efficiency, and the metrics normalised as the source does."""

import json

import pytest
import samples
from campaign_support import is_alive, start, wait_for
from conftest import REPOSITORY
from fabricmark.base.schema import first_fault
from fabricmark.measure import scale
from fabricmark.systems import export
from test_campaign_mpi import FORKING_LAUNCHER, launched, with_launcher

SIZE = """
[parameters.size]
type = "int"
range = [1, 65536]
default = { cpu = 4096, fpga = 8192 }
stage = "run"
meaning = "elements of each array, on every rank"

[parameters.label]
type = "string"
default = "a"
stage = "run"
meaning = "a text"
"""


@pytest.fixture(name="sized")
def sized_place(place):
    """The stand-in repository, whose benchmark has a size."""
    place.kernel_toml.write_text(place.kernel_toml.read_text() + SIZE)
    return place


def summary(place):
    (folder,) = place.results.glob("scale-*")
    document = json.loads((folder / "scaling.json").read_text())
    assert first_fault("scaling-1", document) is None
    return folder, document


def sizes(place):
    """(ranks, size) of each run."""
    found = []
    for entry in place.started():
        words = entry["words"]
        given = [word.partition("=")[2] for word in words if word.startswith("--size=")]
        ranks = int(words[words.index("--ranks") + 1]) if "--ranks" in words else 1
        found.append((ranks, int(given[0]) if given else None))
    return found


def test_weak(sized):
    done = sized.run("scale", "stream", "--devices", "4,1,2", "--in-process", FAKE_DEVICE_EACH="1")
    assert done.returncode == 0, done.stderr
    assert sizes(sized) == [(1, None), (2, None), (4, None)]
    folder, document = summary(sized)
    assert sorted(path.name for path in folder.iterdir()) == [
        "scaling.json", "weak-1.json", "weak-2.json", "weak-4.json",
    ]  # fmt: skip
    triad = next(entry for entry in document["series"] if entry["operation"] == "triad")
    assert (triad["mode"], triad["ranks"], triad["verdicts"]) == ("weak", [1, 2, 4], ["valid"] * 3)
    # The stand-in's ranks need 10.0, 10.1, 10.2 and 10.3 ms for the same work each.
    amount = samples.SIZE * 4 * 3
    assert triad["best"] == pytest.approx(
        [amount / 0.01 / 1e9, 2 * amount / 0.0101 / 1e9, 4 * amount / 0.0103 / 1e9]
    )
    assert triad["speed_up"] == pytest.approx([1, 2 * 0.01 / 0.0101, 4 * 0.01 / 0.0103])
    assert triad["efficiency"] == pytest.approx([1, 0.01 / 0.0101, 0.01 / 0.0103])
    assert "weak scaling" in done.stdout and "97 %" in done.stdout
    assert done.stderr.splitlines()[0].startswith("[1/3] stream, weak scaling, 1 rank: ")
    assert sized.run("report", str(folder)).returncode == 0  # the summary is not taken for a result


def test_strong_divides_the_total(sized):
    done = sized.run("scale", "stream", "--devices", "1,2,4", "--mode", "strong", "--in-process")
    assert done.returncode == 0, done.stderr
    assert sizes(sized) == [(1, 4096), (2, 2048), (4, 1024)]  # the default of a CPU
    words = ["--", "--size", "2^10", "--buffer-size=64"]
    sized.run("scale", "stream", "--devices", "2,8", "--mode", "strong", "--in-process", *words)
    assert sizes(sized)[3:] == [(2, 512), (8, 128)]
    assert "--buffer-size=64" in sized.started()[-1]["words"]


def test_both_share_what_is_the_same(sized):
    done = sized.run("scale", "stream", "--devices", "1,2", "--mode", "both", "--in-process")
    assert sizes(sized) == [(1, 4096), (2, 4096), (2, 2048)]
    assert "[3/4] stream, strong scaling, 1 rank: as before" in done.stderr
    _, document = summary(sized)
    assert {(entry["mode"], tuple(entry["values"])) for entry in document["series"]} == {
        ("weak", (4096, 4096)),
        ("strong", (4096, 2048)),
    }


def test_a_parameter_that_is_the_total(sized):
    words = ["--devices", "1,2", "--mode", "both", "--parameter-is", "total", "--in-process"]
    sized.run("scale", "stream", *words, "--parameter", "size", "--", "--size=1Ki")
    assert sizes(sized) == [(1, 1024), (2, 2048), (2, 1024)]


def test_mpi_is_the_default_where_it_is_found(sized):
    done = sized.run("scale", "stream", "--devices", "1,2", **with_launcher(sized, "mpirun"))
    assert done.returncode == 0, done.stderr
    assert [command[command.index("-n") + 1] for command in launched(sized)] == ["1", "2"]
    assert summary(sized)[1]["ranks_kind"] == "mpi"


def test_srun_and_no_launcher(sized):
    variables = with_launcher(sized, "srun")
    done = sized.run("scale", "stream", "--devices", "1", "--mpi", SLURM_JOB_ID="7", **variables)
    assert done.returncode == 0, done.stderr
    assert launched(sized)[0][1] == "--ntasks=1"
    done = sized.run("scale", "stream", "--devices", "1,2", "--mpi", PATH=str(sized.folder))
    assert done.returncode == 3 and "no MPI launcher" in done.stderr
    done = sized.run("scale", "stream", "--devices", "2", PATH=str(sized.folder))
    assert done.returncode == 0 and "in-process ranks" in done.stdout


def test_ranks_that_do_not_find_each_other(sized):
    """A program without this MPI runs as so many single ranks."""
    body = FORKING_LAUNCHER.replace('os.environ["FAKE_RANKS"]', "_")
    variables = with_launcher(sized, "mpirun", body)
    done = sized.run("scale", "stream", "--devices", "2", "--mpi", **variables)
    assert done.returncode == 3
    assert "asked for 2 ranks, but weak-2.json is of 1" in done.stderr


def export_systems(sized, *names):
    """NAME.json of systems of the repository, in the folder where the commands run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
        for name in names:
            (sized.folder / f"{name}.json").write_text(export.text(name))


def test_banks_are_those_of_the_device_that_is_certain(sized, monkeypatch):
    export_systems(sized, "520n", "noctua2")
    monkeypatch.chdir(sized.folder)
    for words, banks in (
        ([], None),
        (["--system=520n.json"], 4),
        (["--system", "noctua2.json"], None),  # two kinds of devices
        (["--system", "noctua2.json", "--bitstream-id", "u280_ddr_multi/stream"], 2),
        (["--system", "noctua2.json", "--bitstream-id=520n_multi/stream"], 4),
    ):
        assert scale.system_banks(words) == banks


def test_metrics_are_normalised(sized):
    export_systems(sized, "520n")
    words = ["--kernel-mhz", "200", "--in-process", "--", "--system", "520n.json"]
    sized.run("scale", "stream", "--devices", "1,2", *words)
    _, document = summary(sized)
    assert (document["banks"], document["kernel_mhz"]) == (4, 200)
    triad, transfer = (
        next(entry for entry in document["series"] if entry["operation"] == operation)
        for operation in ("triad", "host_to_device")
    )
    best = triad["best"][0]  # on 2 replications
    assert triad["per_replication"][0] == pytest.approx(best / 2)
    assert triad["per_bank"][0] == pytest.approx(best / 4)
    assert triad["per_100_mhz"][0] == pytest.approx(best / 2)
    assert triad["per_replication_100_mhz"][0] == pytest.approx(best / 4)
    assert triad["per_bank_100_mhz"][0] == pytest.approx(best / 8)
    assert transfer["per_bank"] == transfer["per_replication"] == [None, None]  # a link has neither


def test_ranks_that_share_a_device_are_not_judged_against_ideal(sized):
    done = sized.run("scale", "stream", "--devices", "1,2,4", "--in-process")
    triad = next(entry for entry in summary(sized)[1]["series"] if entry["operation"] == "triad")
    assert (triad["devices"], triad["efficiency"]) == ([1, 1, 1], [1, None, None])
    assert None not in triad["speed_up"]
    assert "devices: fewer than ranks, which then share them" in done.stdout and "97 %" not in done.stdout


def test_nothing_is_guessed(sized):
    done = sized.run("scale", "stream", "--devices", "1", "--in-process")
    (triad,) = (entry for entry in summary(sized)[1]["series"] if entry["operation"] == "triad")
    assert triad["per_bank"] == triad["per_100_mhz"] == triad["per_bank_100_mhz"] == [None]
    headings, *lines = (line for line in done.stdout.splitlines() if line.startswith(("operation", "triad")))
    assert lines[0].split()[-1] == "20.13"  # per replication, which the result file says
    assert headings.endswith("per replication") and "100 MHz" not in headings


def test_an_emulator_has_no_speed_up(sized):
    done = sized.run("scale", "stream", "--devices", "1,2", "--in-process", FAKE_KIND="emulated")
    assert done.returncode == 0
    triad = summary(sized)[1]["series"][3]
    assert triad["speed_up"] == triad["efficiency"] == triad["per_replication"] == [None, None]
    assert "emulated" in done.stdout


def test_exit_codes(sized):
    codes = {"--size=4096": 1, "--size=2048": 3}
    words = ["--devices", "1,2,4", "--mode", "strong", "--in-process"]
    done = sized.run("scale", "stream", *words, FAKE_EXIT_FOR=json.dumps(codes))
    assert done.returncode == 3
    assert "INVALID" in done.stdout
    triad = summary(sized)[1]["series"][3]
    assert (triad["ranks"], triad["verdicts"]) == ([1, 4], ["INVALID", "valid"])
    done = sized.run("scale", "stream", "--devices", "1", "--in-process", FAKE_SILENT="1")
    assert done.returncode == 3 and done.stdout == ""


BAD = {
    "no list": (["--devices", "1,two"], "--devices '1,two' is not a list of numbers; write it like 1,2,4"),
    "no devices": (["--devices", ""], "is not a list of numbers"),
    "no ranks": (["--devices", "0,1"], "out of range"),
    "unknown mode": (["--devices", "1", "--mode", "odd"], "--mode 'odd' is unknown; use one of weak"),
    "unknown scope": (["--devices", "1", "--parameter-is", "odd"], "--parameter-is 'odd' is unknown"),
    "unknown parameter": (
        ["--devices", "1", "--parameter", "n"],
        "stream has no parameter n; use --parameter",
    ),
    "a text": (["--devices", "1", "--parameter", "label"], "label is no whole number"),
    "no number": (
        ["--devices", "1", "--", "--size", "much"],
        "size = 'much' (--size) cannot be used; give a whole number from 1 to 65536",
    ),
    "no value": (["--devices", "1", "--", "--size"], "--size is given without a value"),
    "not divisible": (
        ["--devices", "1,2,3", "--mode", "strong", "--", "--size", "100"],
        "size 100 cannot be divided by 3 ranks; give a multiple of 6, such as 96",
    ),
    "out of range": (
        ["--devices", "1,2", "--parameter-is", "total", "--", "--size", "65536"],
        "weak scaling on 2 ranks: size = 131072 (--size) cannot be used; give a whole number from 1 to",
    ),
    "a default that varies": (
        ["--devices", "1,2", "--mode", "strong", "--parameter", "replications"],
        "strong scaling needs to know replications, whose default varies; give it: `-- --replications N`",
    ),
    "own result file": (["--devices", "1", "--", "--json=x"], "--json is set by"),
    "own ranks": (["--devices", "1", "--", "--ranks", "2"], "--ranks is set by"),
    "two runtimes": (["--devices", "1", "--runtime", "all"], "scaling is measured on one runtime"),
    "no clock": (["--devices", "1", "--kernel-mhz", "nan"], "invalid frequency: --kernel-mhz nan"),
    "no banks": (["--devices", "1", "--banks", "0"], "--banks"),
    "absent system": (["--devices", "1", "--", "--system=s.json"], "s.json: cannot be read"),
    "odd system": (["--devices", "1", "--", "--system", "odd.json"], "odd.json: the document: "),
}


@pytest.mark.parametrize("words, cause", BAD.values(), ids=BAD)
def test_bad_use_is_one_line_before_the_first_run(sized, one_error_line, words, cause):
    (sized.folder / "odd.json").write_text("{}")
    assert cause in one_error_line(sized.run("scale", "stream", *words), 2)
    assert sized.started() == []


def test_what_cannot_start(sized, one_error_line):
    assert "no benchmark 'steam'" in one_error_line(sized.run("scale", "steam", "--devices", "1"), 2)
    line = one_error_line(sized.run("scale", "stream", "--devices", "1", FAKE_DEVICES="[]"), 3)
    assert "no OpenCL device found" in line


def test_without_a_size_there_is_weak_scaling_only(place, one_error_line):
    line = one_error_line(place.run("scale", "stream", "--devices", "1", "--mode", "strong"), 2)
    assert "stream has no parameter size" in line
    assert place.run("scale", "stream", "--devices", "1", "--in-process").returncode == 0


def test_signals(sized):
    words = ["scale", "stream", "--devices", "1,2", "--in-process"]
    process = start(sized, *words, FAKE_SLEEP="60")
    wait_for(lambda: len(sized.started()) >= 2)
    process.terminate()
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 143
    assert "interrupted; finished results are in results/scale-stream-" in errors.splitlines()[-1]
    assert not is_alive(sized.started()[-1]["process"])


@pytest.mark.programs
def test_the_real_program(with_programs):
    words = ["--devices", "1,2", "--mode", "both", "--in-process", "--", "--size", "65536"]
    done = with_programs.run("scale", "stream", *words, "--repetitions", "3")
    assert done.returncode == 0, done.stderr
    _, document = summary(with_programs)
    values = {entry["mode"]: entry["values"] for entry in document["series"]}
    assert values == {"weak": [65536, 65536], "strong": [65536, 32768]}

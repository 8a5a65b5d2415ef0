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
    "no clock": (["--devices", "1", "--kernel-mhz", "nan"], "--kernel-mhz nan is no clock"),
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


LOGARITHM = """
[parameters.log_size]
type = "int"
range = [3, 40]
default = 20
stage = "run"
meaning = "logarithm of the elements, on every rank"
"""
BATCH = LOGARITHM.replace("log_size", "batch").replace("3, 40", "1, 4096").replace("20", "64")


def settings(place, option):
    return [word for entry in place.started() for word in entry["words"] if word.startswith(f"--{option}=")]


def test_of_a_logarithm_the_power_is_divided(place, one_error_line):
    place.kernel_toml.write_text(place.kernel_toml.read_text() + LOGARITHM)
    words = ["scale", "stream", "--in-process"]
    assert place.run(*words, "--devices", "1,2,8", "--mode", "strong").returncode == 0
    assert settings(place, "log-size") == ["--log-size=20", "--log-size=19", "--log-size=17"]
    assert place.run(*words, "--devices", "1,4", "--parameter-is", "total").returncode == 0
    assert settings(place, "log-size")[3:] == ["--log-size=20", "--log-size=22"]
    line = one_error_line(place.run(*words, "--devices", "1,3", "--mode", "strong"), 2)
    assert "log_size is a logarithm, and 3 ranks are no power of two; use --devices like 1,2,4,8" in line
    wide = ["--devices", "1,4", "--mode", "strong", "--", "--log-size", "4"]
    assert "log_size = 2 (--log-size) cannot be used" in one_error_line(place.run(*words, *wide), 2)


def test_a_batch_is_divided_before_the_size_of_what_is_in_it(place):
    place.kernel_toml.write_text(place.kernel_toml.read_text() + LOGARITHM + BATCH)
    done = place.run("scale", "stream", "--in-process", "--devices", "1,4", "--mode", "strong")
    assert done.returncode == 0, done.stderr
    assert settings(place, "batch") == ["--batch=64", "--batch=16"]
    assert settings(place, "log-size") == []


def test_a_default_follows_from_what_is_given(place):
    follows = BATCH.replace("default = 64", 'default = "max(1, 2^(20 - log_size))"')
    place.kernel_toml.write_text(place.kernel_toml.read_text() + LOGARITHM + follows)
    words = ["scale", "stream", "--in-process", "--devices", "1,4", "--mode", "strong"]
    done = place.run(*words, "--", "--log-size", "10")
    assert done.returncode == 0, done.stderr
    assert settings(place, "batch") == ["--batch=1024", "--batch=256"]


MATRIX = """
[parameters.size]
type = "int"
range = [1, 1048576]
default = { cpu = 4096, fpga = 8192 }
stage = "run"
scope = "total"
dimensions = 2
rounded_to = "buffer_size"
meaning = "width of the matrix of all ranks"
"""


@pytest.fixture(name="matrix")
def matrix_place(place):
    """The stand-in repository, whose benchmark has one matrix over all ranks, in blocks of buffer_size."""
    place.kernel_toml.write_text(place.kernel_toml.read_text() + MATRIX)
    return place


def test_a_matrix_grows_with_the_root_of_the_ranks(matrix):
    done = matrix.run("scale", "stream", "--devices", "1,2,4,9", "--in-process", "--", "--buffer-size", "256")
    assert done.returncode == 0, done.stderr
    # 4096 sqrt(2) = 5792.6 lies between 22 and 23 blocks.
    assert sizes(matrix) == [(1, 4096), (2, 23 * 256), (4, 8192), (9, 12288)]
    triad = next(entry for entry in summary(matrix)[1]["series"] if entry["operation"] == "triad")
    assert triad["values"] == [4096, 5888, 8192, 12288]


def test_a_matrix_stays_the_same_in_strong_scaling(matrix):
    done = matrix.run("scale", "stream", "--devices", "1,2,4", "--mode", "strong", "--in-process")
    assert done.returncode == 0, done.stderr
    assert sizes(matrix) == [(1, None), (2, None), (4, None)]
    words = ["--devices", "1,4", "--mode", "both", "--in-process", "--", "--size", "1000"]
    matrix.run("scale", "stream", *words)
    assert sizes(matrix)[3:] == [(1, 1000), (4, 2000), (4, 1000)]


def test_a_matrix_of_each_rank(matrix):
    words = ["--devices", "1,2,4", "--mode", "strong", "--parameter-is", "per-rank", "--in-process"]
    done = matrix.run("scale", "stream", *words, "--", "--size", "4096", "--buffer-size=64")
    assert done.returncode == 0, done.stderr
    assert sizes(matrix) == [(1, 4096), (2, 45 * 64), (4, 2048)]
    matrix.run("scale", "stream", *words[:-1], "--in-process", "--", "--size", "3", "--buffer-size=4")
    assert sizes(matrix)[3:] == [(1, 3), (2, 4), (4, 4)]  # a block at least


def test_whole_blocks_of_the_default(matrix, one_error_line):
    done = matrix.run("scale", "stream", "--devices", "1,2", "--in-process", "--", "--size", "8192")
    assert done.returncode == 0, done.stderr
    assert sizes(matrix) == [(1, 8192), (2, 12288)]  # 11585 is nearest to three blocks of 4096
    words = ["--devices", "1,2", "--in-process", "--", "--buffer-size", "many"]
    line = one_error_line(matrix.run("scale", "stream", *words), 2)
    assert "buffer_size = 'many' (--buffer-size) cannot be used" in line
    words = ["--devices", "1,65536", "--in-process", "--", "--size", "2^20"]
    line = one_error_line(matrix.run("scale", "stream", *words), 2)
    assert "weak scaling on 65536 ranks: size = 268435456 (--size) cannot be used" in line


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


@pytest.mark.programs
@pytest.mark.parametrize("benchmark", ["hpl", "ptrans"])
def test_matrices_of_the_real_programs(with_programs, benchmark):
    words = ["--devices", "1,2,4", "--mode", "both", "--in-process", "--", "--size", "256"]
    words += ["--block-size", "64", "--variant", "throughput", "--repetitions", "2"]
    done = with_programs.run("scale", benchmark, *words)
    assert done.returncode == 0, done.stderr
    _, document = summary(with_programs)
    values = {entry["mode"]: entry["values"] for entry in document["series"] if entry["ranks"] == [1, 2, 4]}
    assert values == {"weak": [256, 384, 512], "strong": [256, 256, 256]}
    # The exchange is there from two ranks on only.
    rates = [entry for entry in document["series"] if entry["better"] == "higher" and entry["ranks"][0] == 1]
    assert all(entry["speed_up"][0] == 1 for entry in rates) and rates

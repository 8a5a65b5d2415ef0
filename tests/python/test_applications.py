"""Applications of users: phases of a file, by closed forms and over shared cables."""

import csv
import io
import math
import re
import resource
from random import Random

import pytest
from conftest import REPOSITORY
from fabricmark import models, systems
from fabricmark.base import quantities
from fabricmark.base.errors import FabricmarkError
from fabricmark.predict import application, cables
from fabricmark.predict.cables import Setting
from fabricmark.simulate import calls
from hypothesis import given
from hypothesis import strategies as st

EXAMPLES = sorted((REPOSITORY / "docs" / "examples" / "applications").glob("*.toml"))
SKELETONS = sorted(models.skeletons())
BOARD = systems.load(REPOSITORY / "systems" / "leaf_spine.toml", "fitted").board
WORK = 'name = "a"\n[device]\nflops = "1 GFLOP/s"\n[parameters]\nn = 8\n[[phases]]\nname = "b"\n'


@pytest.fixture
def phases(run, tmp_path):
    """Rows of `predict` of a file's text, by phase."""

    def found(text, *words):
        (tmp_path / "app.toml").write_text(text)
        done = run("predict", str(tmp_path / "app.toml"), "--system", "leaf_spine", "--csv", "-", *words)
        assert done.returncode == 0, done.stderr
        return {row["phase"]: row for row in csv.DictReader(io.StringIO(done.stdout))}

    return found


def test_formulas():
    known = {"n": 8.0, "ranks": 4.0, "lambda": 3.0}
    for text, expected in {
        "2 * n^2 / ranks": 32, "-n + 1e3": 992, "log2(n)": 3, "max(n, ranks, 1)": 8, "ceil(n / 3)": 3,
        "lambda * 2": 6, "(n + ranks) * 2": 24, "sqrt(ranks)": 2, "2^-1": 0.5, "7": 7,
    }.items():  # fmt: skip
        assert quantities.value(text, known) == expected, text
    for text in (
        "m", "n +", "n.real", "n[0]", "'n'", "n if n else 1", "__import__('os')", "exit()", "n // 3", "1 / 0",
        "10^10^10", "(-8)^0.5", "log2(0)", "f(n)", "max()", "n; n", "lambda: 1", "", "(" * 500,
        "n" * 2000, "True", "1e999", "max(n, key=1)",
    ):  # fmt: skip
        with pytest.raises(ValueError):
            quantities.value(text, known)


@given(st.text(max_size=60))
def test_any_text_is_a_number_or_a_sentence(text):
    try:
        assert math.isfinite(quantities.value(text, {"n": 2.0}))
    except ValueError as error:
        assert str(error)


def test_work_is_the_longest_of_what_goes_on_side_by_side(phases):
    text = WORK + 'flops = "1e6 * n"\nmemory_bytes = "1 MB"\nrepeat = "n / 2"\n'
    row = phases(text, "--devices", "2")["b"]
    assert (row["times"], float(row["seconds_each"]), row["limit"]) == (
        "4",
        pytest.approx(8e-3),
        "arithmetic",
    )
    row = phases(WORK + 'memory_bytes = "1 GB"\n', "--devices", "2")["b"]
    assert float(row["seconds_each"]) == pytest.approx(1e9 / BOARD.memory_bytes_per_second)
    assert float(phases(WORK + 'seconds = "3 ms"\n', "--devices", "2")["b"]["seconds_each"]) == 3e-3


def test_parameters_and_ranks_are_known(phases):
    text = WORK + 'seconds = "n * ranks"\n'
    assert float(phases(text, "--devices", "4", "--set", "n=3")["b"]["seconds_each"]) == 12


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_uncontended_are_alike_in_both(run, file):
    """On one leaf nobody waits for a cable. Ranks of a call do not wait for each other's first bits."""
    words = ("--system", "leaf_spine", "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(run("predict", str(file), *words, "--devices", "32").stdout)))
    predicted = sum(float(row["times"]) * float(row["seconds_each"]) for row in rows)
    done = run("simulate", str(file), *words, "--ranks", "32")
    played = {row["model"]: float(row["time"]) * 1e-6 for row in csv.DictReader(io.StringIO(done.stdout))}
    assert played["closed form"] == pytest.approx(predicted, rel=1e-9)
    assert played["own network"] == pytest.approx(predicted, rel=1e-3)


def test_a_contended_application_takes_longer(run):
    file = next(one for one in EXAMPLES if one.stem == "fft")
    words = ("--system", "leaf_spine", "--csv", "-", "--ranks", "64", "--oversubscription", "1,32")
    rows = list(csv.DictReader(io.StringIO(run("simulate", str(file), *words).stdout)))
    times = [float(row["time"]) for row in rows if row["model"] == "own network"]
    assert times[1] > 3 * times[0]


BROKEN = {
    "no phase": ("", "phases[0] (b) is no phase"),
    "two kinds": ('seconds = 1\ncollective = "barrier"\n', "(b) is work and a collective"),
    "bytes of work": ("seconds = 1\nbytes = 8\n", "is work, which has no bytes"),
    "another unit": ('memory_bytes = "3 ms"\n', "phases[0].memory_bytes"),
    "no unit of seconds": ('seconds = "3 KiB"\n', "phases[0].seconds"),
    "unknown name": ('flops = "5 * m"\n', "phases[0].flops: there is no m; known are columns, n, ranks"),
    "negative": ('seconds = "-n"\n', "phases[0].seconds is -8"),
    "half a turn": ('seconds = 1\nrepeat = "n / 16"\n', "phases[0].repeat is 0.5"),
    "no collective": ('collective = "all"\n', "there is no collective 'all'"),
    "no bytes": ('collective = "all_reduce"\n', "all_reduce has no bytes"),
    "bytes of a barrier": ('collective = "barrier"\nbytes = 1\n', "barrier moves no bytes"),
    "no algorithm": ('collective = "all_reduce"\nbytes = 8\nalgorithm = "x"\n', "x does no all_reduce"),
    "no exchange": ('exchange = "star"\nbytes = 8\n', "phases[0].exchange"),
    "no number": ("seconds = nan\n", "phases[0].seconds is nan"),
    "no end": ('exchange = "ring"\nbytes = inf\n', "phases[0].bytes is inf"),
    "unknown key": ("second = 1\n", "'second'"),
    "no TOML": ("seconds = = 1\n", "not valid TOML"),
}


@pytest.mark.parametrize("command", ["predict", "simulate"])
@pytest.mark.parametrize("name", BROKEN)
def test_damaged_files_are_one_line(run, one_error_line, tmp_path, name, command):
    text, cause = BROKEN[name]
    (tmp_path / "app.toml").write_text(WORK + text)
    count = "--devices" if command == "predict" else "--ranks"
    done = run(command, str(tmp_path / "app.toml"), "--system", "leaf_spine", count, "4")
    assert cause in one_error_line(done, 2)


def test_what_no_board_says_and_what_no_board_holds(run, one_error_line, tmp_path):
    words = (str(tmp_path / "app.toml"), "--system", "leaf_spine", "--devices", "4")
    (tmp_path / "app.toml").write_text('name = "a"\n[[phases]]\nname = "b"\nflops = 1\n')
    assert "nothing says device.flops" in one_error_line(run("predict", *words), 2)
    (tmp_path / "app.toml").write_text('name = "a"\nmemory = "1 PB"\n[[phases]]\nname = "b"\nseconds = 1\n')
    large = (words[0], "--system", "noctua1", "--devices", "4")
    assert "a rank needs 1 PB of memory" in one_error_line(run("predict", *large), 2)
    assert "--plot with" in one_error_line(run("predict", *words, "--plot", "a.png"), 2)
    assert "cannot be read" in one_error_line(run("predict", "no.toml", *words[1:]), 2)
    assert "nothing says on which system" in one_error_line(run("predict", words[0], "--devices", "2"), 2)


@given(st.binary(max_size=200))
def test_any_bytes_are_an_application_or_one_line(tmp_path_factory, content):
    file = tmp_path_factory.mktemp("fuzz") / "app.toml"
    good = EXAMPLES[1].read_bytes()
    file.write_bytes(good[: len(content) * 4] + content + good[len(content) * 5 :])
    try:
        application.read(file, application.load(file), {}, BOARD, 4)
    except FabricmarkError as error:
        assert error.exit_code == 2 and len(str(error).splitlines()) == 1


ODD = [
    *("-1", "0", "1", "3.5", "1e12", "1e-300", "inf", "nan", "true", "[]", "{}", "2024-01-01", "[1, 2]"),
    *('""', '"x"', '"n"', '"1 PB"', '"ranks - ranks"', '"1 / (n - n)"', '"-n"', '"ring"', '"transpose"'),
    *('"rows"', '"all_to_all"', '"binomial"', '"\\n"', "9" * 400, '"' + "(" * 400 + '"'),
]
VALUE = re.compile(r"^(\w+ = ).*$")


def damaged(text, random):
    """The text of a file with other values, and without some lines."""
    lines = text.splitlines()
    for _ in range(random.randrange(1, 4)):
        place = random.randrange(len(lines))
        key = VALUE.match(lines[place])
        lines[place] = key[1] + random.choice(ODD) if key and random.random() < 0.8 else ""
    return "\n".join(lines)


@pytest.mark.parametrize("benchmark", SKELETONS[:1] + [file.stem for file in EXAMPLES])
def test_damaged_values_are_played_or_one_line(of_the_repository, tmp_path, benchmark):
    """By closed forms and packet by packet, as `predict` and `simulate` do."""
    random = Random(benchmark)
    files = {**models.skeletons(), **{one.stem: one for one in EXAMPLES}}
    place = cables.place("app.toml", "leaf_spine", None, None, 4, [])
    file, ends = tmp_path / "app.toml", []
    for _ in range(40):
        file.write_text(damaged(files[benchmark].read_text(), random))
        try:
            read = application.read(file, application.load(file), {}, BOARD, 4)
            setting = Setting(4, cables.wiring(place.network, application.patterns(application.load(file))))
            (found,) = calls.simulate_application(read, [setting], place)
            assert 0 <= found.shared < math.inf
            ends.append("played")
        except FabricmarkError as error:
            assert error.exit_code == 2 and len(str(error).splitlines()) == 1, error
            ends.append("refused")
    assert set(ends) == {"played", "refused"}


def test_what_would_take_for_ever_is_refused(run, one_error_line, tmp_path):
    for more in ('seconds = "1 us"', 'exchange = "ring"\nbytes = 8'):
        (tmp_path / "app.toml").write_text(WORK + more + "\nrepeat = 1e9\n")
        done = run("simulate", str(tmp_path / "app.toml"), "--system", "leaf_spine", "--ranks", "4")
        assert "a simulation of" in one_error_line(done, 2)


# A matrix of fewer packets than that of the file, which test_skeletons_of_1024_devices takes.
SMALLER = {"ptrans": ("--set", "n=16384")}


@pytest.mark.parametrize("benchmark", SKELETONS)
def test_skeletons_are_played(run, benchmark):
    smaller = SMALLER.get(benchmark, ())
    words = ("simulate", benchmark, *smaller, "--system", "leaf_spine", "--csv", "-", "--no-simgrid")
    done = run(*words, "--ranks", "16")
    assert done.returncode == 0, done.stderr
    rows = {row["model"]: float(row["time"]) for row in csv.DictReader(io.StringIO(done.stdout))}
    assert rows["own network"] == pytest.approx(rows["closed form"], rel=0.5)
    contended = run(*words, "--ranks", "64", "--oversubscription", "32")
    rows = {row["model"]: float(row["time"]) for row in csv.DictReader(io.StringIO(contended.stdout))}
    assert rows["own network"] >= rows["own ports alone"] * 0.999


@pytest.mark.full
@pytest.mark.parametrize("benchmark", SKELETONS)
def test_skeletons_of_1024_devices_take_less_than_a_minute(run, benchmark):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run("simulate", benchmark, "--system", "leaf_spine", "--ranks", "1024", "--no-simgrid")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime <= 60

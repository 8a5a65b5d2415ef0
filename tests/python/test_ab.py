"""`fabricmark ab` with stand-in programs: order of the runs, files, verdicts, adaptivity, errors."""

import json
import re
import signal
import subprocess
import time

import pytest
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.schema import first_fault
from fabricmark.compare import ab

# Takes --factor F (times longer), --spread S, --exit N, --size N, --quirk (another size, unasked), --variant
# and --kernel-file F (a file that says "slow" takes 10 % longer); the machine's mood drifts slowly.
PROGRAM = """
import hashlib, json, math, os, pathlib, random, time
import samples
words = sys.argv[1:]
def option(name, default):
    return type(default)(words[words.index(name) + 1]) if name in words else default
log = pathlib.Path(os.environ["FAKE_LOG"])
with log.open("a") as file:
    file.write(json.dumps({"program": "fm_stream", "words": words}) + chr(10))
count = len(log.read_text().splitlines())
if count > int(os.environ.get("FAKE_QUICK", "0")):
    time.sleep(float(os.environ.get("FAKE_SLEEP", "0")))
if option("--exit", 0):
    print("fm_stream: error: something broke; mend it", file=sys.stderr)
    sys.exit(option("--exit", 0))
random.seed(count)
made = samples.result(operations=(), variant=option("--variant", "base"))
own = pathlib.Path(option("--kernel-file", ""))
slower = 1.0
if own.name:
    content = own.read_text()
    slower = 1.1 if "slow" in content else 1.0
    digest = hashlib.md5(content.encode()).hexdigest()
    kernel = {"file": own.name, "digest": digest, "origin": "file"}
    made["run"].update({"class": "optimized", "kernel": kernel})
if option("--variant", "base") != "base":
    made["parameters"]["vector_width"] = 4
for operation in ("copy", "triad"):
    centre = 0.01 * slower * option("--factor", 1.0) * (1 + 0.5 * math.sin(count / 40))
    centre *= math.exp(random.gauss(0, option("--spread", 0.005)))
    times = [centre * math.exp(random.gauss(0, 0.02)) for _ in range(10)]
    made["measurements"].append(samples.measurement(operation, (times,)))
made["repetitions"]["count"] = 10
made["parameters"]["size"] = 9 if "--quirk" in words else option("--size", 1000)
pathlib.Path(words[words.index("--json") + 1]).write_text(json.dumps(made))
"""


@pytest.fixture
def stand_in(place):
    place.add_program(place.programs / "fm_stream", PROGRAM)
    return place


def files(place):
    (folder,) = (place.folder / "results").iterdir()
    return [sorted(path.name for path in (folder / side).iterdir()) for side in ("a", "b")]


def is_progress_alone(errors):
    """Whether nothing went wrong: on standard error there is only how many pairs have run."""
    return all(re.fullmatch(r"\[\d+/\d+\] pairs of .*", line) for line in errors.splitlines())


@pytest.mark.parametrize(
    "factor, verdict, code", [("1.05", "worse", 1), ("1.0", "same", 0), ("0.9", "better", 0)]
)
def test_a_shift_is_found_though_the_machine_drifts(stand_in, factor, verdict, code):
    done = stand_in.run("ab", "fm_stream", f"fm_stream --factor '{factor}'", "--json", "found.json")
    assert done.returncode == code, done.stderr
    assert is_progress_alone(done.stderr)
    found = json.loads((stand_in.folder / "found.json").read_text())
    assert first_fault("compare-1", found) is None
    assert {entry["verdict"] for entry in found["metrics"]} == {verdict}
    assert all(entry["paired"] for entry in found["metrics"])
    names = [f"{i:05}.json" for i in range(1, 11)]
    assert files(stand_in) == [names, names]
    # ABBA: the order within a pair turns.
    sides = ["b" if "--factor" in entry["words"] else "a" for entry in stand_in.started()]
    assert sides == ["a", "b", "b", "a"] * 5
    (folder,) = (stand_in.folder / "results").iterdir()
    assert stand_in.run("compare", folder / "a", folder / "b").returncode in (0, 1)  # the files are results


@pytest.mark.parametrize("content, verdict, code", [("slow", "worse", 1), ("the same", "same", 0)])
def test_an_own_kernel_against_base_in_three_steps(stand_in, content, verdict, code):
    (stand_in.folder / "mine.cl").write_text(content)
    done = stand_in.run("ab", "fm_stream", "fm_stream --kernel-file mine.cl", "--json", "found.json")
    assert done.returncode == code, done.stderr
    assert is_progress_alone(done.stderr)
    assert "differs and may: class (base / optimized), kernel (the suite's / mine.cl (" in done.stdout
    found = json.loads((stand_in.folder / "found.json").read_text())
    assert {entry["verdict"] for entry in found["metrics"]} == {verdict}
    assert found["settings"]["ignore"] == ["class", "kernel"]


def test_what_the_commands_change_may_differ_with_the_defaults_that_follow(stand_in):
    toml = stand_in.kernel_toml
    done = stand_in.run("ab", "fm_stream --size 5", "fm_stream --size 6 --variant throughput", "--pairs", "2")
    assert "differs and may: size (5 / 6), variant (base / throughput), vector_width (16 / 4)" in done.stdout
    assert is_progress_alone(done.stderr), toml.read_text()


def test_what_the_commands_do_not_change_ends_it_after_one_pair(stand_in, one_error_line):
    line = one_error_line(stand_in.run("ab", "fm_stream", "fm_stream --quirk"), 2)
    assert "size differs (1000 / 9); make them equal, or allow it: --ignore size" in line
    assert len(stand_in.started()) == 2
    done = stand_in.run("ab", "fm_stream", "fm_stream --quirk", "--ignore", "size", "--pairs", "2")
    assert done.returncode in (0, 1) and "size (1000 / 9)" in done.stdout


def test_unclear_says_how_wide_and_how_many_pairs_would_tell(stand_in):
    done = stand_in.run("ab", "fm_stream --spread 0.2", "fm_stream --spread 0.2", "--pairs", "12")
    assert done.returncode == 0
    told = re.search(
        r"unclear: stream bandwidth .*: new/base lies between 0\.\d+ and 1\.\d+, "
        r"too wide for a difference of 2 %; about (\d+) pairs would tell "
        r"\(--pairs (\d+), or --until-clear --max-pairs (\d+)\)",
        done.stdout,
    )
    assert told and told[1] == told[2] == told[3] and 12 < int(told[1]) <= 10_000, done.stdout


def test_only_the_wanted_metric(stand_in):
    words = ("--metric", "bandwidth,operation=copy", "--pairs", "3")
    done = stand_in.run("ab", "fm_stream", "fm_stream --factor 1.3", *words)
    assert done.returncode == 1 and "copy" in done.stdout and "triad" not in done.stdout
    assert "3 pairs" in done.stdout


def test_until_clear_adds_pairs_only_while_needed(stand_in):
    words = ("--pairs", "4", "--until-clear", "--max-pairs", "16", "--json", "found.json")
    stand_in.run("ab", "fm_stream --spread 0.001", "fm_stream --spread 0.001 --factor 1.5", *words)
    assert len(stand_in.started()) == 8
    stand_in.run("ab", "fm_stream --spread 0.4", "fm_stream --spread 0.4", *words)
    assert len(stand_in.started()) == 8 + 32
    found = json.loads((stand_in.folder / "found.json").read_text())
    assert found["settings"]["looks"] == 3  # the confidence is split over 4, 8 and 16 pairs


def test_looks():
    assert ab.looks(10, False, None) == [10]
    assert ab.looks(10, True, None) == [10, 20, 40, 80]
    assert ab.looks(10, True, 50) == [10, 20, 40, 50]
    assert ab.looks(10, True, 10) == [10]
    for arguments in ((10, False, 20), (10, True, 9)):
        with pytest.raises(FabricmarkError):
            ab.looks(*arguments)


def test_a_program_of_another_build(stand_in):
    other = stand_in.folder / "other build" / "fm_stream"
    stand_in.add_program(other, PROGRAM)
    done = stand_in.run("ab", "fm_stream", f"'{other}' --factor 1.2", "--pairs", "4")
    assert done.returncode == 1, done.stderr


@pytest.mark.parametrize("code", [1, 2, 3])
def test_a_program_that_fails_ends_it_with_its_code_and_words(stand_in, one_error_line, code):
    done = stand_in.run("ab", "fm_stream", f"fm_stream --exit {code}")
    assert "something broke" in one_error_line(done, code)
    assert files(stand_in) == [["00001.json"], []]


@pytest.mark.parametrize("words, code", [
    (["fm_stream"], 2), (["ls", "fm_stream"], 2), (["fm_stream 'a", "fm_stream"], 2), (["", "fm_stream"], 2),
    (["fm_stream --json x", "fm_stream"], 2), (["fm_other", "fm_stream"], 3),
    (["no/where/fm_stream", "fm_stream"], 3), (["fm_stream", "fm_stream", "--pairs", "1"], 2),
    (["fm_stream", "fm_stream", "--metric", "a,b"], 2), (["fm_stream", "fm_stream", "--metric", "wrong"], 2),
    (["fm_stream", "fm_stream", "--min-effect", "-1%"], 2),
    (["fm_stream", "fm_stream", "--max-pairs", "9"], 2),
    (["fm_stream", "fm_stream", "--runtime", "wrong"], 2), (["fm_stream", "fm_stream --quirk"], 2),
    (["fm_stream", "fm_stream", "--ignore", "sise"], 2),
])  # fmt: skip
def test_bad_use_is_one_line(stand_in, one_error_line, words, code):
    one_error_line(stand_in.run("ab", *words), code)


def interrupted(stand_in, programs):
    """`ab` that gets Ctrl-C while program number `programs` runs."""
    process = subprocess.Popen(
        stand_in.command("ab", "fm_stream", "fm_stream --factor 1.5"), cwd=stand_in.folder, text=True,
        env={**stand_in.environment, "FAKE_SLEEP": "60", "FAKE_QUICK": str(programs - 1)},
        stderr=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while len(stand_in.started()) < programs and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    shown, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    return shown, errors.splitlines()


def test_an_interrupt_compares_the_whole_pairs(stand_in):
    shown, errors = interrupted(stand_in, 6)  # the third pair's second half
    assert errors[-1].startswith("fabricmark: error: interrupted; ")
    assert "2 pairs" in shown and "worse" in shown
    assert [len(side) for side in files(stand_in)] == [3, 2]


def test_an_interrupt_before_a_whole_pair_says_where_the_files_are(stand_in):
    shown, errors = interrupted(stand_in, 2)
    assert errors == [f"fabricmark: error: interrupted; finished results are in {folder_of(stand_in)}"]
    assert "pairs" not in shown and files(stand_in) == [["00001.json"], []]


def folder_of(place):
    (folder,) = (place.folder / "results").iterdir()
    return folder.relative_to(place.folder)


def test_progress_where_there_is_no_terminal(stand_in):
    """The first pair says how long it may take; without a terminal nobody sees a bar."""
    done = stand_in.run("ab", "fm_stream", "fm_stream", "--pairs", "3")
    assert done.stderr.splitlines()[0].startswith("[1/3] pairs of stream, about ")

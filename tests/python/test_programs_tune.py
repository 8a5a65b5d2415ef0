"""`fabricmark tune` and fm_tune: what they keep, and that later runs take it."""

import itertools
import json
import re

import pytest
from fabricmark.base.schema import first_fault
from stream_program import PROGRAM, REPOSITORY, Stream, mpirun, only_error

pytestmark = pytest.mark.programs
QUICK = ("--rounds", "1", "--seconds", "0", "--largest", "64KiB")
PATTERNS = ("exchange", "in-a-row", "one-way")
OF_B_EFF = ("--transport", "cpu", "--pattern", "in-a-row")


@pytest.fixture
def cache(tmp_path):
    """Where things are kept: a folder that is not there yet."""
    return tmp_path / "cache"


@pytest.fixture
def tune(tmp_path, found):
    """How to start fm_tune, on a machine with a device."""
    assert found
    return Stream(tmp_path, PROGRAM.with_name("fm_tune"))


def kept(cache):
    found = [json.loads(path.read_text()) for path in sorted((cache / "tuning").glob("*.json"))]
    return {(one["transport"], one["ranks"]["kind"], one["pattern"]): one for one in found}


def notes(tune, *words):
    """Those of a run over the same transport and as many ranks."""
    words = ("--ranks", 2, "--repetitions", 1, "--warmup", 0, "--largest", 10, *words)
    return " ".join(Stream(tune.folder, PROGRAM.with_name("fm_b_eff")).valid(*words).document["notes"])


def test_ways_are_measured_and_kept_for_threads_and_processes(tune, cache):
    assert tune.start(*QUICK).code == 0
    assert tune.start(*QUICK, launcher=mpirun(2)).code == 0
    found = kept(cache)
    assert found.keys() >= set(itertools.product(("host", "cpu"), ("threads", "mpi"), PATTERNS))
    for document in found.values():
        assert not first_fault("tuning-2", document)
        assert all(size["protocol"] in size["seconds"] for size in document["sizes"])


def test_a_run_takes_what_was_kept(tune, cache):
    others = [word for pattern in ("exchange", "one-way") for word in ("--pattern", pattern)]
    assert tune.start(*QUICK, "--transport", "cpu", *others).code == 0
    assert "(measured at the start" in notes(tune, "--transport", "cpu")  # its messages follow each other
    for path in (cache / "tuning").glob("*.json"):
        path.unlink()
    assert tune.start(*QUICK, *OF_B_EFF).code == 0
    (path,) = (cache / "tuning").glob("*.json")
    document = json.loads(path.read_text())
    for size in document["sizes"]:  # what no measurement would say
        size["protocol"] = "one after the other" if size["bytes"] == 16 else "side by side"
    path.write_text(json.dumps(document))
    said_of_it = notes(tune, "--transport", "cpu")
    assert "side by side, from 16 bytes on one after the other, from 64 bytes on side by side" in said_of_it
    assert f"(cached by `fabricmark tune` at {document['created']})" in said_of_it


@pytest.mark.parametrize(
    ("corrupt", "said"),
    [
        (lambda text: text[: len(text) // 2], "is no file of `fabricmark tune`"),
        (lambda text: text.replace("tuning/2", "tuning/9"), "it has another format"),
        (lambda text: text.replace('"count": 2', '"count": 3'), "its 'ranks' is another one"),
        (lambda text: text.replace('"bytes": 4,', '"bytes": 5000,'), "its sizes are not in order"),
        (lambda text: text.replace('"in-a-row"', '"one-way"'), "its 'pattern' is another one"),
    ],
)
def test_a_corrupted_file_is_named_and_ways_are_measured(tune, cache, corrupt, said):
    assert tune.start(*QUICK, *OF_B_EFF).code == 0
    (path,) = (cache / "tuning").glob("*.json")
    path.write_text(corrupt(path.read_text()))
    said_of_it = notes(tune, "--transport", "cpu")
    assert re.search(r"\(measured at the start in \d+\.\d\d s; ", said_of_it)
    assert said in said_of_it
    assert str(path) in said_of_it


def test_a_way_that_this_version_does_not_know_is_measured_again(tune, cache):
    assert tune.start(*QUICK, *OF_B_EFF).code == 0
    (path,) = (cache / "tuning").glob("*.json")
    # Whichever is the fastest on this machine today.
    path.write_text(re.sub(r'"protocol": "[^"]*"', '"protocol": "by balloon"', path.read_text()))
    assert re.search(r"\(measured at the start in \d+\.\d\d s\)", notes(tune, "--transport", "cpu"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--transport", "balloon"),
            "'balloon' is no transport between ranks of this machine; use one of cpu",
        ),
        (("--ranks", "1"), "--ranks"),
        (("--largest", "many"), "'many' is no size"),
        (("--balloon",), "'--balloon' is not expected"),
        (("--pattern", "zigzag"), "there is no pattern 'zigzag' of messages; use exchange or in-a-row"),
    ],
)
def test_bad_use_is_one_line(tune, cache, words, said):
    assert said in only_error(tune.start(*words), codes=(2,))
    assert not (cache / "tuning").exists()


@pytest.mark.parametrize("option", ["--no-keep", "--check"])
def test_what_is_not_to_be_kept_is_not(tune, cache, option):
    done = tune.start(*QUICK, "--transport", "cpu", option, "--json", "-")
    assert done.code == 0
    found = json.loads(done.output)
    assert [(one["transport"], one["pattern"]) for one in found] == [("cpu", name) for name in PATTERNS]
    assert not (cache / "tuning").exists()


def test_a_check_measures_what_a_run_would_take_beside_each_way(tune, cache):
    assert tune.start(*QUICK, *OF_B_EFF).code == 0
    (path,) = (cache / "tuning").glob("*.json")
    document = json.loads(path.read_text())
    for size in document["sizes"]:
        size["protocol"] = "one after the other" if size["bytes"] == 16 else "side by side"
    path.write_text(json.dumps(document))
    words = ("--rounds", "1", "--seconds", "1", "--largest", "256KiB", *OF_B_EFF, "--check", "--json", "-")
    (found,) = json.loads(tune.start(*words).output)
    assert "cached by `fabricmark tune`" in found["said"]
    for size in found["sizes"]:  # longer ones go as the longest that was measured
        assert size["chosen"] == ("one after the other" if size["bytes"] == 16 else "side by side")
        assert size["naive"] == "side by side"
        counts = {name: len(seconds) for name, seconds in size["seconds"].items()}
        rounds = len(size["chosen_seconds"])
        assert rounds > 1
        assert counts.keys() == {"side by side", "one after the other"}
        assert all(0 < count <= rounds for count in counts.values())  # those far behind leave


def test_the_command_shows_what_was_chosen_and_what_is_kept(place, found):
    assert found
    done = place.run("tune", "--runtime", "system", "--mpi", 0, "--", *QUICK, FABRICMARK_ROOT=str(REPOSITORY))
    assert done.returncode == 0, done.stderr
    assert "fastest protocol" in done.stdout
    shown = place.run("tune", "--show")
    assert shown.returncode == 0


def test_the_command_refuses_one_rank_and_says_where_nothing_is(place):
    one = place.run("tune", "--ranks", 1)
    assert one.returncode == 2
    assert one.stderr == (
        "fabricmark: error: one rank has nobody to send to; give 2 or more, or 0 for none of that kind\n"
    )
    assert "nothing is kept in " in place.run("tune", "--show").stdout


def test_a_file_from_before_there_were_patterns_is_of_exchanges(tune, cache):
    words = (*QUICK, "--transport", "cpu", "--pattern", "exchange")
    assert tune.start(*words).code == 0
    (path,) = (cache / "tuning").glob("*.json")
    document = json.loads(path.read_text())
    del document["pattern"]
    assert not first_fault("tuning-2", document)
    path.write_text(json.dumps(document))
    (found,) = json.loads(tune.start(*words, "--check", "--json", "-").output)
    assert "cached by `fabricmark tune`" in found["said"]

"""`fabricmark tune` and fm_tune: what they keep, and that later runs take it."""

import json

import pytest
from fabricmark.base.schema import first_fault
from stream_program import PROGRAM, REPOSITORY, Stream, mpirun, only_error

pytestmark = pytest.mark.programs
QUICK = ("--rounds", "1", "--largest", "64KiB")


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
    return {(one["transport"], one["ranks"]["kind"]): one for one in found}


def notes(tune, *words):
    """Those of a run over the same transport and as many ranks."""
    words = ("--ranks", 2, "--repetitions", 1, "--warmup", 0, "--largest", 10, *words)
    return " ".join(Stream(tune.folder, PROGRAM.with_name("fm_b_eff")).valid(*words).document["notes"])


def test_ways_are_measured_and_kept_for_threads_and_processes(tune, cache):
    assert tune.start(*QUICK).code == 0
    assert tune.start(*QUICK, launcher=mpirun(2)).code == 0
    found = kept(cache)
    assert {("host", "threads"), ("host", "mpi"), ("cpu", "threads"), ("cpu", "mpi")} <= found.keys()
    for document in found.values():
        assert not first_fault("tuning-1", document)
        for size in document["sizes"]:
            fastest = min(size["seconds"].values())
            assert size["seconds"][size["way"]] <= 1.03 * fastest  # the first way counts where two are alike


def test_a_run_takes_what_was_kept(tune, cache):
    assert "(measured at the start" in notes(tune, "--transport", "cpu")
    assert tune.start(*QUICK, "--transport", "cpu").code == 0
    (path,) = (cache / "tuning").glob("*.json")
    document = json.loads(path.read_text())
    for size in document["sizes"]:  # what no measurement would say
        size["way"] = "one after the other" if size["bytes"] == 16 else "side by side"
    path.write_text(json.dumps(document))
    said_of_it = notes(tune, "--transport", "cpu")
    assert "side by side, from 16 bytes on one after the other, from 64 bytes on side by side" in said_of_it
    assert f"(kept by `fabricmark tune` at {document['created']})" in said_of_it


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text[: len(text) // 2], "is no file of `fabricmark tune`"),
        (lambda text: text.replace("tuning/1", "tuning/9"), "it has another format"),
        (lambda text: text.replace('"count": 2', '"count": 3'), "its 'ranks' is another one"),
        (lambda text: text.replace('"bytes": 4,', '"bytes": 5000,'), "its sizes are not in order"),
    ],
)
def test_a_spoilt_file_is_named_and_ways_are_measured(tune, cache, spoil, said):
    assert tune.start(*QUICK, "--transport", "cpu").code == 0
    (path,) = (cache / "tuning").glob("*.json")
    path.write_text(spoil(path.read_text()))
    said_of_it = notes(tune, "--transport", "cpu")
    assert "(measured at the start; " in said_of_it
    assert said in said_of_it
    assert str(path) in said_of_it


def test_a_way_that_this_version_does_not_know_is_measured_again(tune, cache):
    assert tune.start(*QUICK, "--transport", "cpu").code == 0
    (path,) = (cache / "tuning").glob("*.json")
    path.write_text(path.read_text().replace('"way": "side by side"', '"way": "by balloon"'))
    assert "(measured at the start)" in notes(tune, "--transport", "cpu")


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
    ],
)
def test_bad_use_is_one_line(tune, cache, words, said):
    assert said in only_error(tune.start(*words), codes=(2,))
    assert not (cache / "tuning").exists()


@pytest.mark.parametrize("option", ["--no-keep", "--one-way"])
def test_what_is_not_to_be_kept_is_not(tune, cache, option):
    done = tune.start(*QUICK, "--transport", "cpu", option, "--json", "-")
    assert done.code == 0
    assert [one["transport"] for one in json.loads(done.output)] == ["cpu"]
    assert not (cache / "tuning").exists()


def test_the_command_shows_what_was_chosen_and_what_is_kept(place, found):
    assert found
    done = place.run("tune", "--runtime", "system", "--mpi", 0, "--", *QUICK, FABRICMARK_ROOT=str(REPOSITORY))
    assert done.returncode == 0, done.stderr
    assert "fastest way" in done.stdout
    shown = place.run("tune", "--show")
    assert shown.returncode == 0


def test_the_command_refuses_one_rank_and_says_where_nothing_is(place):
    one = place.run("tune", "--ranks", 1)
    assert one.returncode == 2
    assert one.stderr == (
        "fabricmark: error: one rank has nobody to send to; give 2 or more, or 0 for none of that kind\n"
    )
    assert "nothing is kept in " in place.run("tune", "--show").stdout

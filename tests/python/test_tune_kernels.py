"""`fabricmark tune --kernels`: which value it takes, what it keeps, and that later runs take that."""

import json

import pytest
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.schema import first_fault
from fabricmark.measure import tune_kernels
from fabricmark.measure.tune_kernels import Search
from stream_program import PROGRAM, Stream

QUICK = ("--columns", "64", "--rows", "32", "--steps", "4", "--steps-in-cache", "4", "--tile-columns", "64")
LBM = ("--warmup", "0", "--repetitions", "1", *QUICK[:6])


class Timed(Search):
    """A search whose runs take what a table says of a value, in each round."""

    def __init__(self, table):
        self.table = table
        self.count = {}

    def measure(self, values):
        value = values["width"]
        self.count[value] = self.count.get(value, 0) + 1
        speeds = self.table[value]
        return speeds[(self.count[value] - 1) % len(speeds)]


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        ({1: [10], 2: [11], 4: [9.5]}, 2),
        ({1: [10], 2: [10.1], 4: [9.9]}, 1),  # not clearly faster: what is there stays
        ({1: [10], 2: [20, 9.9, 9.9, 9.9]}, 1),  # once by chance
        ({1: [5], 2: [10], 4: [10.2]}, 4),
    ],
)
def test_the_clearly_fastest_value_is_taken(table, wanted):
    assert Timed(table).best_of({"width": 1}, "width", list(table)) == wanted


def test_what_is_far_behind_gets_no_further_run():
    search = Timed({1: [10], 2: [5], 4: [10]})
    search.best_of({"width": 1}, "width", [1, 2, 4])
    assert search.count == {1: tune_kernels.ROUNDS, 2: 2, 4: tune_kernels.ROUNDS}


def test_what_is_there_stays_in_after_a_slow_first_run():
    search = Timed({1: [4, 10, 10, 10], 2: [9], 4: [4]})
    assert search.best_of({"width": 1}, "width", [1, 2, 4]) == 1
    assert search.count == {1: tune_kernels.ROUNDS, 2: tune_kernels.ROUNDS, 4: 1}


@pytest.fixture
def lbm(tmp_path, found):
    """How to start fm_lbm, on a machine with a device."""
    assert found
    return Stream(tmp_path, PROGRAM.with_name("fm_lbm"))


@pytest.fixture
def kept(lbm, monkeypatch):
    """The file of values that a tune of the vectors' length has kept, and says another than the default."""
    monkeypatch.setenv("FABRICMARK_CACHE", lbm.environment["FABRICMARK_CACHE"])
    monkeypatch.setattr(tune_kernels, "ROUNDS", 1)
    found = tune_kernels.run(tune_kernels.Wanted(("lbm",), "system", QUICK))
    assert found
    path = tune_kernels.folder() / "lbm.json"
    document = json.loads(path.read_text())
    assert not first_fault("kernel-tuning-1", document)
    assert [len(entry["tried"]) for entry in document["kernels"]] == [3] * len(found)
    for entry in document["kernels"]:
        entry["parameters"] = {"vector_bytes": 32}
    path.write_text(json.dumps(document))
    return path


@pytest.mark.programs
def test_runs_take_what_is_kept_where_nothing_says_the_value(lbm, kept):
    document = lbm.valid(*LBM).document
    assert document["parameters"]["vector_bytes"] == 32
    assert any(
        "vector_bytes = 32 (cached by `fabricmark tune --kernels` at" in one for one in document["notes"]
    )
    assert lbm.valid(*LBM, "--ranks", 2).document["parameters"]["vector_bytes"] == 32
    given = lbm.valid(*LBM, "--vector-bytes", 16).document
    assert given["parameters"]["vector_bytes"] == 16
    assert not any("tune --kernels" in one for one in given["notes"])
    other = lbm.valid(*LBM, "--data-type", "double").document  # only float was tuned
    assert other["parameters"]["vector_bytes"] == 64
    assert tune_kernels.known()


@pytest.mark.programs
@pytest.mark.parametrize(
    ("corrupt", "said"),
    [
        (lambda text: text[: len(text) // 2], "is no file of `fabricmark tune --kernels`"),
        (lambda text: text.replace("kernel-tuning/1", "kernel-tuning/9"), "it has another format"),
        (lambda text: text.replace('{"vector_bytes": 32}', '{"vector_bytes": 33}'), "vector_bytes = 33"),
        (lambda text: text.replace('{"vector_bytes": 32}', '{"columns": 32}'), "columns of the variant"),
        (lambda text: text.replace('"throughput"', '"balloon"'), "no variant 'balloon'"),
    ],
)
def test_a_corrupted_file_is_named_and_defaults_are_taken(lbm, kept, corrupt, said):
    kept.write_text(corrupt(kept.read_text()))
    document = lbm.valid(*LBM).document
    assert document["parameters"]["vector_bytes"] == 64
    (note,) = [one for one in document["notes"] if "kernels as kernel.toml has them" in one]
    assert said in note


@pytest.mark.programs
def test_values_with_a_wrong_result_are_not_kept(lbm, monkeypatch):
    monkeypatch.setenv("FABRICMARK_CACHE", lbm.environment["FABRICMARK_CACHE"])
    monkeypatch.setattr(tune_kernels, "ROUNDS", 1)
    monkeypatch.setattr(tune_kernels, "UNCHECKED", "--inner-samples")  # a fault shows in checked runs only
    wrong = (*QUICK, "--inject-fault", "element")
    with pytest.raises(FabricmarkError, match="ended with exit code 1"):
        tune_kernels.run(tune_kernels.Wanted(("lbm",), "system", wrong))
    assert not tune_kernels.known()


@pytest.mark.programs
def test_bad_use_is_one_line(cli_lines):
    lines = cli_lines
    assert "there is no benchmark 'balloon'" in lines("tune", "--kernels", "balloon")
    assert "has no parameters to tune; use one of" in lines("tune", "--kernels", "host_transfer")
    assert "leave --platform and --device out" in lines("tune", "--kernels", "lbm", "--", "--device", "0")


@pytest.fixture
def cli_lines(tmp_path):
    from conftest import run_in_process

    def line(*words):
        done = run_in_process(
            words, {"FABRICMARK_CACHE": str(tmp_path), "COLUMNS": "200"}, tmp_path, tmp_path
        )
        assert done.returncode == 2
        return done.stderr

    return line

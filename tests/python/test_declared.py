"""What files declare runs, is predicted, inspected and built, or is refused with a reason of the table."""

import re
from collections import Counter

import pytest
from conftest import REPOSITORY
from declared import Row, designs, refusals, rows

SOME = 16  # of so many rows make test takes one
MESSAGE = re.compile(r"(?:fabricmark|fm_\w+): error: (.*)", re.DOTALL)
pytestmark = pytest.mark.programs


@pytest.fixture(name="command")
def command_of_the_repository(place, tmp_path):
    own = {
        "FABRICMARK_ROOT": str(REPOSITORY),
        "FABRICMARK_SYSTEMS": str(tmp_path / "none"),
        "COLUMNS": "2000",
    }
    return lambda *words: place.run(*words, **own)


def words_of(command, row, *more):
    if command == "predict":
        return ["predict", row.benchmark, *row.words(), *more]
    if command == "run":
        ranks = ["--ranks", "4"] if row.exchanges else []
        return ["run", row.benchmark, *row.words(), *ranks, "--", "--timing-only"]
    return [
        command,
        row.benchmark,
        *row.words(transport=False),
        *(["--dry-run"] if command == "build" else []),
    ]


def outcome(done, command):
    """The number of the entry that allows a refusal; None for what ran. Fails for any other end."""
    if done.returncode == 0:
        return None
    assert done.returncode == 2, (done.args, done.stderr)
    found = MESSAGE.fullmatch(done.stderr.strip().splitlines()[-1])
    assert found and "Traceback" not in done.stderr, (done.args, done.stderr)
    for number, entry in enumerate(refusals()):
        if command in entry["commands"] and re.match(entry["pattern"], found[1]):
            return number
    pytest.fail(f"{' '.join(map(str, done.args))}: {found[1]}: no entry of declared_refusals.toml")


def outcomes(run, command, chosen, *more):
    """How many ended each way. Fails with all that no entry has, not the first alone."""
    found, unknown = Counter(), []
    for row in chosen:
        try:
            found[outcome(run(*words_of(command, row, *more)), command)] += 1
        except pytest.fail.Exception as failed:
            unknown.append(str(failed))
    assert not unknown, "\n".join(unknown)
    return found


def test_the_table_has_all_that_the_files_have():
    every = rows()
    assert len(every) > 300 and len(designs()) > 100
    assert Row("shallow_water", "noctua2", "u280_hbm", "accl-tcp", "u280_hbm_shallow_water/accl_tcp") in every
    assert Row("hpl", "noctua2", "u280_ddr", "accl-udp") in every
    assert Row("b_eff", "leaf_spine", "de5a_net", "channels") in every
    assert {row.bitstream for row in every} >= {"520n_single/gemm_half", "520n_multi/hpl_host_256"}


@pytest.mark.parametrize("name", ["predict", "build", "inspect", "run"])
def test_some_of_what_is_declared_runs(name, command):
    chosen = rows() if name in ("predict", "run") else designs()
    step = {"run": 4 * SOME, "inspect": 2 * SOME}.get(name, SOME)
    assert outcomes(command, name, chosen[SOME::step])[None] > 0


def test_default_sizes_grow_to_a_plan_of_2025_devices(command):
    """A square, and about what a switch of two levels connects: once for each benchmark and transport."""
    firsts = {
        (row.benchmark, row.transport): row for row in reversed(rows()) if row.exchanges and row.bitstream
    }
    assert {"b_eff", "ptrans", "hpl", "shallow_water", "lbm", "tsunami"} == {
        benchmark for benchmark, _ in firsts
    }
    found = outcomes(command, "predict", firsts.values(), "--devices", "2025", "--beyond")
    assert found[None] == found.total()


@pytest.mark.full
@pytest.mark.parametrize("name", ["predict", "build", "inspect", "run"])
def test_all_that_is_declared_runs_and_no_refusal_is_stale(name, command):
    chosen = rows() if name in ("predict", "run") else designs()
    found = outcomes(command, name, chosen)
    needed = {number for number, entry in enumerate(refusals()) if name in entry["commands"]}
    assert not needed - set(found), [refusals()[number]["pattern"] for number in needed - set(found)]
    assert found[None] > len(chosen) / 2


def test_an_unknown_refusal_fails(command):
    done = command("predict", "gemm", "--system", "noctua1", "--devices", "1000000")
    with pytest.raises(pytest.fail.Exception, match="no entry"):
        outcome(done, "predict")

"""The store of all nights: what goes in comes out, whatever ends a writer; changes with what changed beside
them."""

import csv
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import time

import history_writer
import log_samples
import numpy as np
import pytest
import samples
import site_samples
from conftest import HERE, REPOSITORY
from fabricmark.base.errors import FabricmarkError
from fabricmark.sites import changes, store
from fabricmark.sites.nights import Series
from history_writer import OPERATIONS, record

PER_RESULT = len(OPERATIONS)


def start(path, first, count, *kill):
    """A writer of its own process."""
    folders = [str(REPOSITORY / "python"), str(HERE)]
    return subprocess.Popen(
        [sys.executable, HERE / "history_writer.py", path, *map(str, (first, count, *kill))],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def counts(path):
    """(results, values, whether all is whole)."""
    with store.opened(path) as opened:
        results, values = (
            opened.rows(f"SELECT count(*) FROM {name}")[0][0] for name in ("results", "points")
        )
        whole = opened.rows("PRAGMA integrity_check") == [("ok",)] and not opened.rows(
            "PRAGMA foreign_key_check"
        )
    return results, values, whole


def add(path, records):
    with store.opened(path, make=True) as opened:
        return list(opened.add(records))


# What ends a writer --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kill_at", [0, 450])
def test_a_kill_loses_nothing_that_was_written(tmp_path, kill_at):
    """In the middle of a transaction: the batches before it are whole, and the same call adds the rest."""
    path = tmp_path / "h.db"
    with start(path, 0, 600, kill_at) as process:
        told = process.communicate(timeout=60)[0].split()
    assert process.returncode == -9
    written = int(told[-2]) if told else 0
    assert written == kill_at // store.BATCH * store.BATCH
    assert counts(path) == (written, written * PER_RESULT, True)
    assert add(path, map(record, range(600)))[-1] == (600 - written, written)
    assert counts(path) == (600, 600 * PER_RESULT, True)


def test_a_kill_from_outside_at_any_moment_loses_nothing_that_was_told(tmp_path):
    """Each writer goes on where the one before it was killed, beside one that is left alone."""
    path = tmp_path / "h.db"
    moments = random.Random(44)
    with start(path, 10_000, 400) as other:
        told = 0
        for _ in range(4):
            with start(path, 0, 100_000) as process:
                time.sleep(0.3 + moments.random())
                process.kill()
                lines = [line for line in process.communicate(timeout=60)[0].split("\n")[:-1] if line]
            told = max([told, *(sum(map(int, line.split())) for line in lines)])
        other.communicate(timeout=60)
    with store.opened(path) as opened:
        digests = {digest for (digest,) in opened.rows("SELECT digest FROM results")}
    assert other.returncode == 0 and told > 0
    assert {f"digest {number}" for number in range(told)} <= digests
    assert {f"digest {number}" for number in range(10_000, 10_400)} <= digests
    results, values, whole = counts(path)
    assert whole and values == results * PER_RESULT


def test_two_writers_at_the_same_time_lose_nothing(tmp_path):
    path = tmp_path / "h.db"
    writers = [start(path, first, 600) for first in (0, 300)]  # half of it twice
    told = [writer.communicate(timeout=120)[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert sum(int(one[-2]) for one in told) == 900 and sum(int(one[-1]) for one in told) == 300
    assert counts(path) == (900, 900 * PER_RESULT, True)


def test_a_writer_that_waits_in_vain_says_so(tmp_path, monkeypatch):
    path = tmp_path / "h.db"
    add(path, [record(0)])
    monkeypatch.setattr(store, "PATIENCE", 0.05)
    waits = pytest.raises(FabricmarkError, match="locked; another process writes to it")
    with store.opened(path) as holding, holding._transaction(), waits as found:
        add(path, [record(1)])
    assert found.value.exit_code == 3 and counts(path)[0] == 1


def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "h.db"
    real = store.connect

    def nearly_full(path):
        connection = real(path)
        connection.execute("PRAGMA max_page_count = 60")
        return connection

    monkeypatch.setattr(store, "connect", nearly_full)
    told = []
    refused = pytest.raises(FabricmarkError, match="disk is full; free some space")
    with refused as found, store.opened(path, make=True) as opened:
        told.extend(opened.add(map(record, range(20_000))))
    monkeypatch.undo()
    written = told[-1][0]
    assert found.value.exit_code == 3 and written > 0
    assert counts(path) == (written, written * PER_RESULT, True)
    assert add(path, map(record, range(2000)))[-1] == (2000 - written, written)


@pytest.mark.full
def test_a_file_system_that_is_full_is_one_line_and_loses_nothing(tmp_path):
    """A real one of 600 KB, with the write-ahead log on it; what was told is there when there is room."""
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", small]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        path, told = small / "h.db", []
        refused = pytest.raises(FabricmarkError, match="disk is full; free some space")
        with refused as found, store.opened(path, make=True) as opened:
            told.extend(opened.add(map(record, range(20_000))))
        assert found.value.exit_code == 3 and told[-1][0] > 0
        subprocess.run(["mount", "-o", "remount,size=20m", small], check=True)
        assert counts(path) == (told[-1][0], told[-1][0] * PER_RESULT, True)
        assert add(path, map(record, range(5000)))[-1] == (5000 - told[-1][0], told[-1][0])
    finally:
        subprocess.run(["umount", small], check=True)


# Which files are stores ----------------------------------------------------------------------------------


def test_a_store_of_older_tables_is_taken_over(tmp_path):
    """What version 1 wrote is there after each step since."""
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as old:
        for statement in store.STEPS[0]:
            old.execute(statement)
        old.execute("INSERT INTO nights VALUES (1, 'n', '2026-01-01T00:00:00Z')")
        old.execute('INSERT INTO environments VALUES (1, \'{"driver": "1.0"}\')')
        old.execute(
            "INSERT INTO series VALUES (1, 'm', 'n1', 'stream', 'stream bandwidth', 'GB/s', 'higher')"
        )
        old.execute(
            "INSERT INTO results VALUES (1, 'd', 1, 1, 'stream', 'n1', 'fabricmark', '0.1.0', '', '', 'f')"
        )
        old.execute("INSERT INTO points VALUES (1, 1, 12.5)")
        old.execute(f"PRAGMA application_id = {store.APPLICATION}")
        old.execute("PRAGMA user_version = 1")
    old.close()
    with store.opened(path) as opened:
        assert opened.rows("PRAGMA user_version") == [(store.VERSION,)]
        assert [point.value for point in opened.points()] == [12.5]
        indices = {name for (name,) in opened.rows("SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert "points_of_result" in indices
    assert add(path, [record(0)]) == [(1, 0)] and counts(path) == (2, 1 + PER_RESULT, True)


def test_a_new_store_has_the_same_tables_as_one_that_was_taken_over(tmp_path):
    assert len(store.STEPS) == store.VERSION == 2
    add(tmp_path / "new.db", [])
    add(tmp_path / "new.db", [record(0)])
    assert counts(tmp_path / "new.db") == (1, PER_RESULT, True)


@pytest.mark.parametrize("kind", ["newer", "another program's", "no database", "damaged", "absent"])
def test_what_is_no_store_is_refused(place, one_error_line, kind):
    path = place.folder / "h.db"
    if kind == "newer":
        add(path, [record(0)])
        with sqlite3.connect(path) as newer:
            newer.execute(f"PRAGMA user_version = {store.VERSION + 1}")
    elif kind == "another program's":
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE mine (a)")
    elif kind == "no database":
        path.write_text("a text")
    elif kind == "damaged":
        path.write_bytes(store.FIRST_BYTES + b"\xff" * 5000)
    before = path.read_bytes() if path.exists() else None
    one_error_line(place.run("history", "list", "--store", "h.db"), 2)
    assert before == (path.read_bytes() if path.exists() else None)


# The command ---------------------------------------------------------------------------------------------


@pytest.fixture
def nights(place):
    """Twenty nights of two nodes; from the twelfth on there is another driver, and n2 is slower by 10 %."""
    for at in range(20):
        folder = place.folder / f"nights/{at:02}"
        site_samples.write_night(folder, at, nodes=("n1", "n2"), slow={"n2": 1.1 if at >= 12 else 1.0})
        for file in folder.iterdir():
            made = json.loads(file.read_text())
            made["environment"]["device"]["driver"] = "1.1" if at >= 12 else "1.0"
            file.write_text(json.dumps(made))
    return place


def test_results_go_in_once_and_come_out(nights):
    done = nights.run("history", "import", "nights")
    assert done.returncode == 0 and "history.db: 40 new, 0 known before, 0 damaged" in done.stdout
    assert "0 new, 40 known before" in nights.run("history", "import", "nights").stdout
    assert "40 results of 20 nights" in nights.run("history", "list").stdout
    assert nights.run("history", "show", "triad", "--node", "n1", "--csv", "out.csv").returncode == 0
    with (nights.folder / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    files = [json.loads((nights.folder / f"nights/{at:02}/n1.json").read_text()) for at in range(20)]
    assert [float(row["value"]) for row in rows] == [one["measurements"][0]["median"] for one in files]
    assert [row["started"] for row in rows] == [one["run"]["started"] for one in files]
    assert [row["driver"] for row in rows] == 12 * ["1.0"] + 8 * ["1.1"]


def test_a_change_is_flagged_with_what_changed_beside_it(nights):
    nights.run("history", "import", "nights")
    done = nights.run("history", "show", "triad")
    lines = [line for line in done.stdout.splitlines() if "triad" in line]
    assert "driver 1.0 -> 1.1" in done.stdout and "from 2026-01-13 on" in done.stdout
    assert "driver" not in next(line for line in lines if " n1 " in line)
    assert done.stdout.splitlines()[-1] == "2 series, 1 with a change of level"


def test_the_page_has_the_changes_and_a_line_for_each_node(nights):
    nights.run("history", "import", "nights")
    assert nights.run("history", "show", "--html", "trends.html").returncode == 0
    page = (nights.folder / "trends.html").read_text()
    (row,) = re.findall(r"<td>2026-01-13</td>.*?</tr>", page)
    assert "<td>n2</td>" in row and "driver 1.0 -&gt; 1.1" in row
    assert page.count("<svg viewBox") == 1 and "n1</li>" in page and "n2</li>" in page
    assert len(re.findall(r"<circle [^>]*><title>n1: ", page)) == 20


def test_names_on_the_page_are_no_markup(place):
    series = Series("m", "<b>n1", "stream", "<script>x", "GB/s", "higher")
    add(place.folder / "history.db", [record(at, [(series, 1.0 + at)]) for at in range(3)])
    assert place.run("history", "show", "--html", "-").returncode == 0
    page = place.run("history", "show", "--html", "-").stdout
    assert "&lt;script&gt;x" in page and "<script>x" not in page and "<b>n1" not in page


def test_a_check_reads_the_store_as_it_reads_the_folders(nights):
    nights.run("history", "import", "nights")
    site_samples.write_night(nights.folder / "tonight", 20, nodes=("n1", "n2"), slow={"n2": 1.8})
    of_both = [
        nights.run("check", "tonight", "--history", where, "--against", "median:12").stdout
        for where in ("nights", "history.db")
    ]
    assert of_both[0] == of_both[1] and "slower 1" in of_both[0]
    assert nights.run("baseline", "set", "good", "--history", "history.db").returncode == 0
    words = ("check", "tonight", "--history", "history.db", "--against", "baseline:good")
    assert "against baseline:good (20 nights" in nights.run(*words).stdout


def test_old_results_and_text_of_others_are_imported(place):
    folder = place.folder / "old/deep"
    folder.mkdir(parents=True)
    (folder / "one.json").write_text(json.dumps(samples.of_version_1(samples.result())))
    (place.folder / "old/osu.log").write_text(log_samples.LATENCY)
    (place.folder / "old/hpccoutf.txt").write_text(log_samples.HPCC)
    (place.folder / "old/gemm.txt").write_text(log_samples.HPCC_FPGA_GEMM)
    wrong = samples.result(status="failed")
    (folder / "wrong.json").write_text(json.dumps(wrong))
    done = place.run("history", "import", "old")
    assert done.returncode == 0 and "5 new" in done.stdout
    listed = place.run("history", "list").stdout
    assert all(
        tool in listed for tool in ("OSU MPI", "fabricmark", "HPC Challenge 1.5.0f", "HPCC FPGA GEMM 1.3")
    )
    assert place.run("history", "show", "latency").returncode == 0


def test_a_damaged_file_is_named_and_the_others_are_stored(place):
    place.write("a.json", samples.result())
    place.write("b.json", "{")
    done = place.run("history", "add", "results", "--night", "first")
    assert done.returncode == 2 and "b.json: not valid JSON" in done.stderr
    assert "1 new, 0 known before, 1 damaged" in done.stdout
    assert "1 result of 1 night" in place.run("history", "list").stdout


@pytest.mark.parametrize(
    "words",
    [("add", "nowhere"), ("import", "empty"), ("show",), ("list", "--store", "none.db"), ("show", "absent")],
)
def test_bad_use_has_one_line(place, one_error_line, words):
    (place.folder / "empty").mkdir()
    if words[-1] == "absent":
        add(place.folder / "history.db", [record(0)])
    one_error_line(place.run("history", *words), 2)


# Changes -------------------------------------------------------------------------------------------------


def test_changes_are_found_where_they_are_and_nowhere_else():
    random = np.random.default_rng(2)
    values = random.normal(size=300) * 0.01
    values[100:] -= 0.06
    values[220:] += 0.1
    values[50] -= 0.4  # one night alone is no change
    found = changes.found(values, 40)
    assert len(found) == 2 and abs(found[0].place - 100) <= 2 and abs(found[1].place - 220) <= 2
    assert found[0].ratio == pytest.approx(np.exp(-0.06), abs=0.01) and found[1].ratio > 1.08


def test_without_a_change_there_are_no_changes():
    """A false one among all series of a look has a probability of LEVEL: of 20 looks none or one."""
    random = np.random.default_rng(4)
    looks = [any(changes.found(random.normal(size=100) * 0.01, 40) for _ in range(40)) for _ in range(20)]
    assert sum(looks) <= 1


def test_a_change_that_nothing_was_beside_says_so():
    assert changes.beside([{"driver": "1", "kernel": "6.1"}], [{"driver": "1", "kernel": "6.2"}]) == [
        "kernel 6.1 -> 6.2"
    ]
    assert changes.beside([{"driver": "1"}, {"driver": "2"}], [{"driver": "2"}]) == []


@pytest.mark.full
def test_a_hundred_thousand_results(tmp_path):
    """All are there, and each question has its whole answer; bench/cases/history.py says how fast."""
    path, count = tmp_path / "h.db", 100_000
    assert add(path, map(record, range(count)))[-1] == (count, 0)
    assert counts(path) == (count, count * PER_RESULT, True)
    with store.opened(path) as opened:
        found = opened.points(["triad"], "n1")
        assert [point.value for point in found] == [10.0 + number for number in range(1, count, 4)]
        newest = opened.nights("", 30)
        assert len(newest) == 30 and newest[-1].label == f"night {(count - 1) // history_writer.PER_NIGHT}"
        assert all(len(night.values) == history_writer.NODES * PER_RESULT for night in newest)

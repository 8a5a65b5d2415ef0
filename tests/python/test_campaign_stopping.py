"""Campaigns that are killed, stopped or started twice: every point once in the end, none lost."""

import json
import re
import signal

import pytest
from campaign_support import ALL_TWELVE, files, is_alive, start, started, wait_for, write
from fabricmark.measure import lock


def test_killed_half_way_and_resumed(place):
    file = write(place)
    process = start(place, "run", file, FAKE_DELAY="0.3")
    wait_for(lambda: len(files(place)) >= 5)
    wait_for(lambda: len(place.started()) >= 7)  # in the middle of a point
    process.kill()
    process.communicate(timeout=30)
    wait_for(lambda: not is_alive(place.started()[-1]["process"]))  # the program ends with its command
    before = {path.name: path.stat().st_mtime_ns for path in files(place)}
    begun = len(place.started())
    assert 5 <= len(before) < 12

    done = place.run("run", str(file))
    assert done.returncode == 0, done.stderr
    left = 12 - len(before)
    assert done.stdout.splitlines()[-1] == f"12 points: {left} run, {len(before)} already there, 0 failed"
    assert len(files(place)) == 12
    assert {path.name: path.stat().st_mtime_ns for path in files(place)}.items() >= before.items()
    assert set(started(place)) == ALL_TWELVE
    assert len(started(place)) - begun == left  # what was there was not run again
    assert not list((place.results / "twelve").glob(".stream*"))
    assert place.run("report", "results/twelve").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_the_program_and_keep_what_is_finished(place, number):
    process = start(place, "run", write(place), FAKE_SLEEP="60")
    wait_for(lambda: len(place.started()) >= 2)
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    last = errors.splitlines()[-1]
    assert last.startswith(
        "fabricmark: error: interrupted, 12 points: 1 run, 0 already there, 0 failed, 11 left; "
    )
    assert "Traceback" not in errors
    assert not is_alive(place.started()[-1]["process"])
    assert place.run("run", "c.toml").returncode == 0
    assert len(files(place)) == 12


def test_one_process_at_a_time(place, monkeypatch, one_error_line):
    file = write(place)
    process = start(place, "run", file, FAKE_SLEEP="60")
    wait_for(lambda: len(place.started()) >= 1)
    monkeypatch.setattr(lock, "PATIENCE_SECONDS", 0.2)
    line = one_error_line(place.run("run", str(file)), 3)
    assert f"the campaign twelve is already being run by process {process.pid} on " in line
    other = place.run("run", str(file), "--output", "elsewhere")  # another folder is another campaign
    assert other.returncode == 0
    process.terminate()
    process.communicate(timeout=30)
    assert place.run("run", str(file)).returncode == 0


REAL = """
name = "real"
repetitions = 2
min_time = 0.2
[[runs]]
benchmark = "stream"
[runs.matrix]
vector_width = [4, 16]
replications = [1, 2]
size = [1024, 4096, 16384]
"""
AXES = ("vector_width", "replications", "size")


@pytest.mark.programs
def test_twelve_real_points_killed_half_way_and_resumed(with_programs):
    place = with_programs
    file = write(place, REAL)
    process = start(place, "run", file)
    wait_for(lambda: len(files(place, "real")) >= 5)
    process.kill()
    process.communicate(timeout=60)
    there = len(files(place, "real"))
    assert 5 <= there < 12
    done = place.run("run", str(file))
    assert done.returncode == 0, done.stderr
    ran = [line for line in done.stderr.splitlines() if re.search(r": \d+\.\d s(, about .* left)?$", line)]
    assert len(ran) == 12 - int(re.search(r"(\d+) already there", done.stdout)[1])
    found = {
        tuple(
            json.loads(path.read_text())["parameters"][name]
            for name in ("vector_width", "replications", "size")
        )
        for path in files(place, "real")
    }
    assert found == {(w, r, s) for w in (4, 16) for r in (1, 2) for s in (1024, 4096, 16384)}
    assert len(files(place, "real")) == 12
    assert place.run("report", "results/real").returncode == 0

"""Progress: n of m and time left, as plain lines without a terminal and as a bar on one."""

import json

import samples
from fabricmark.base import progress
from test_terminal import on_a_terminal

GPU = {**samples.DEVICE, "name": "Sample GPU", "class": "gpu", "platform_index": 1}


def test_lines_without_a_terminal(capsys, monkeypatch):
    times = iter([0.0, 0.0, 30.0, 30.0, 90.0])  # of the beginning, and each step's begin and end
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    with progress.Steps(4, to_do=3) as steps:
        steps.begin("one", announced=True)
        steps.end("one: done")
        steps.begin("two", announced=True)
        steps.end("two: done")
        assert steps.left() == ", about 45 s left"
    assert capsys.readouterr().err.splitlines() == [
        "[1/4] one", "[1/4] one: done, about 60 s left", "[2/4] two, about 60 s left",
        "[2/4] two: done, about 45 s left",
    ]  # fmt: skip


def test_what_is_there_does_not_count(capsys):
    with progress.Steps(2, to_do=1) as steps:
        steps.begin("there")
        steps.end("there: as before", counts=False)
        assert steps.left() == ""
    assert "left" not in capsys.readouterr().err


def test_several_runs_are_announced(place):
    done = place.run("run", "all", FAKE_DEVICES=json.dumps([samples.DEVICE, GPU]))
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("[")]
    assert lines[0] == "[1/2] stream on sample-cpu, 1 rank"
    assert lines[1].startswith("[2/2] stream on Sample GPU, 1 rank, about ")


def test_a_bar_on_a_terminal(place):
    text = on_a_terminal(place, 100, "scale", "stream", "--devices", "1,2", "--in-process")
    assert "[1/2] stream, weak scaling, 1 rank: " in text
    assert "0/2" in text and "1/2" in text and "━" in text

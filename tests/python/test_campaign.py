"""Campaigns: every point once, in order; what is there stays; exit codes; bad use."""

import json
import re

import pytest
from campaign_support import TWELVE, files, started, write


def test_order_words_and_summary(place):
    done = place.run("run", str(write(place)), "--full")
    assert done.returncode == 0, done.stderr
    assert started(place) == [(width, size) for width in (1, 2, 4) for size in (16, 32, 64, 128)]
    words = place.started()[0]["words"]
    assert words[0] == "--json" and words[2:] == ["--repetitions=3", "--vector-width=1", "--buffer-size=16"]
    assert len(files(place)) == 12
    assert done.stdout.splitlines()[-1] == "12 points: 12 run, 0 already there, 0 failed"
    assert "triad" in done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == 12
    assert re.fullmatch(
        r"\[2/12\] stream repetitions=3 runtime=system vector_width=1 buffer_size=32: \d+\.\d s, "
        r"about \d+ s left",
        lines[1],
    )


def test_the_table_has_the_swept_values_in_their_order(place):
    done = place.run("run", str(write(place)), "--full")
    lines = [re.split(" {2,}", line.strip()) for line in done.stdout.splitlines()]
    head = next(line for line in lines if "operation" in line)
    names = [name for name in ("vector width", "buffer size") if name in head]
    assert len(names) == 2
    rows = [line for line in lines if len(line) == len(head) and "triad" in line]
    places = [tuple(float(row[head.index(name)]) for name in head[: head.index("operation")]) for row in rows]
    assert len(places) == 12 == len(set(places)) and places == sorted(places)


def test_nothing_is_run_twice_unless_again(place):
    file = str(write(place))
    place.run("run", file)
    done = place.run("run", file, "--full")
    assert done.returncode == 0
    assert len(place.started()) == 12
    assert done.stdout.splitlines()[-1] == "12 points: 0 run, 12 already there, 0 failed"
    assert done.stderr.splitlines()[0].endswith(": already there")
    assert "triad" in done.stdout
    assert place.run("run", file, "--again").returncode == 0
    assert len(place.started()) == 24


def test_an_edited_file_keeps_what_it_still_has(place):
    place.run("run", str(write(place)))
    edited = TWELVE.replace("[1, 2, 4]", "[8, 4]")
    done = place.run("run", str(write(place, edited)))
    assert done.stdout.splitlines()[-1] == "8 points: 4 run, 4 already there, 0 failed"


def test_a_damaged_result_is_measured_again(place):
    file = str(write(place))
    place.run("run", file)
    first, second, third = files(place)[:3]
    first.write_text(first.read_text()[:500])
    second.write_text("")
    third.write_text('{"schema": "fabricmark-result/1"}')
    done = place.run("run", file)
    assert done.stdout.splitlines()[-1] == "12 points: 3 run, 9 already there, 0 failed"
    assert len(files(place)) == 12


def test_exit_codes(place):
    file = str(write(place))
    codes = {"--buffer-size=32": 1, "--vector-width=2": 3}
    done = place.run("run", file, FAKE_EXIT_FOR=json.dumps(codes))
    assert done.returncode == 3
    assert done.stdout.splitlines()[-1] == "12 points: 6 run, 0 already there, 6 failed"
    assert "vector_width=1 buffer_size=32: failed (INVALID result)" in done.stderr
    assert "vector_width=2 buffer_size=16: failed (exit code 3)" in done.stderr
    assert len(files(place)) == 8 and "INVALID" in done.stdout
    # What failed without a result runs again; an invalid result is a result, and still counts.
    again = place.run("run", file)
    assert again.returncode == 1
    assert again.stdout.splitlines()[-1] == "12 points: 4 run, 8 already there (2 of them INVALID), 0 failed"
    assert place.run("run", file, "--again").returncode == 0


@pytest.mark.parametrize("name", ["FAKE_SILENT", "FAKE_SIGNAL"])
def test_programs_that_leave_nothing(place, name):
    done = place.run("run", str(write(place)), **{name: "9"})
    assert done.returncode == 3
    assert done.stdout.splitlines()[-1] == "12 points: 0 run, 0 already there, 12 failed"
    assert files(place) == []


def test_what_cannot_start(place, one_error_line):
    file = str(write(place))
    line = one_error_line(place.run("run", file, FABRICMARK_PRESET="debug"), 3)
    assert "fabricmark-describe is not built; run `make build`" in line
    without = str(write(place, TWELVE.replace('runtime = "system"', "")))
    assert "no OpenCL device found" in one_error_line(place.run("run", without, FAKE_DEVICES="[]"), 3)
    (place.folder / "file").write_text("")
    assert "choose another --output" in one_error_line(place.run("run", file, "--output", "file"), 2)
    (place.programs / "fm_stream").unlink()
    assert "fm_stream is not built; run `make build`" in one_error_line(place.run("run", file), 3)


def test_options_that_a_campaign_does_not_take(place, one_error_line):
    file = str(write(place))
    for words in (["--ranks", "2"], ["--mpi", "2"], ["--runtime", "system"], ["--", "--size", "4"]):
        assert "a campaign has its options in its file" in one_error_line(place.run("run", file, *words), 2)
    assert "--again is for campaigns" in one_error_line(place.run("run", "stream", "--again"), 2)
    assert "absent.toml: cannot be read" in one_error_line(place.run("run", "absent.toml"), 2)
    assert "there is no benchmark" in one_error_line(place.run("run", "x" * 5000), 2)


def test_a_file_of_another_name_is_a_campaign_but_a_benchmark_stays_one(place):
    assert place.run("run", str(write(place, name="campaign"))).returncode == 0
    write(place, name="stream")
    place.run("run", "stream")
    assert len(place.started()) == 13


def test_points_of_several_runs_are_run_once(place):
    second = TWELVE.partition("repetitions = 3\n")[2].replace("[16, 32, 64, 128]", "[128, 256]")
    done = place.run("run", str(write(place, TWELVE + second)))
    assert done.stdout.splitlines()[-1] == "15 points: 15 run, 0 already there, 0 failed"


def test_the_limits_of_the_device_are_measured_once(place, monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "here")  # the sample host
    done = place.run("run", str(write(place)))
    assert len(place.started("fm_calibrate")) == 1
    assert "measuring the limits of sample-cpu once" in done.stderr

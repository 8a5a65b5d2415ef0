"""The real fm_stream beside stand-ins for the counters of a host: what it says of power is what they show."""

import os

import pytest
from stream_program import REPOSITORY, Stream, devices, mpirun, only_error

pytestmark = pytest.mark.programs

WATTS = 50
# The counter starts again at 0 once, a second after sampling began.
WRAP_JOULES = 1000
METER = REPOSITORY / "build" / "release" / "tests" / "unit" / "libsteady_meter.so"
SMALL = ("--size", "4096", "--repetitions", "2")
# Repetitions are long by a delay of each part: more than ten times as long as the counter takes for a value.
# Larger arrays would take three times as long for what is not timed.
LONG = ("--size", "4096", "--inject-delay", "0.02", "--min-time", "1.2")
# Several intervals of a command, which no counter has to keep up with.
TIMED = ("--size", "4096", "--inject-delay", "0.01", "--min-time", "0.7")


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    made = Stream(tmp_path_factory.mktemp("power"))
    for name in ("POWERCAP", "HWMON", "XRT", "NVML"):
        made.environment[f"FABRICMARK_{name}"] = str(made.folder / f"nothing-{name}")
    devices(made)
    return made


@pytest.fixture
def counter(tmp_path):
    """A powercap tree whose package takes WATTS by the clock of who reads it, and variables for a program."""
    zone = tmp_path / "intel-rapl:0"
    zone.mkdir()
    (zone / "name").write_text("package-0\n")
    (zone / "max_energy_range_uj").write_text(f"{WRAP_JOULES * 10**6}\n")
    (zone / "energy_uj").write_text("0\n")
    return {
        "FABRICMARK_POWERCAP": str(tmp_path),
        "LD_PRELOAD": str(METER),
        "FABRICMARK_STEADY_METER": str(zone / "energy_uj"),
        "FABRICMARK_STEADY_WATTS": str(WATTS),
        "FABRICMARK_STEADY_WRAP": str(WRAP_JOULES),
    }


def assert_known_power(entry):
    """The mean power and that between any two samples are WATTS, to the counter's microjoules."""
    assert entry["watts"] == pytest.approx(WATTS, rel=1e-5)
    seconds, joules = entry["samples"]["seconds"], entry["samples"]["values"]
    assert seconds[-1] - seconds[0] > 1, "the counter wrapped"
    for time, energy in zip(seconds, joules, strict=True):
        assert energy == pytest.approx(WATTS * (time - seconds[0]), abs=2e-5)


def power_notes(done):
    return [note for note in done.document["notes"] if note.startswith("power:")]


def test_a_known_power_is_found(stream, counter):
    done = stream.valid(*LONG, variables=counter)
    (entry,) = done.document["energy"]
    assert (entry["domain"], entry["source"]) == ("package-0", "rapl")
    assert_known_power(entry)
    assert entry["joules"] == pytest.approx(entry["watts"] * entry["seconds"], rel=1e-12)
    assert entry["peak_watts"] >= entry["watts"]
    kept = entry["samples"]
    assert kept["unit"] == "J" and kept["values"][0] == 0
    assert kept["values"] == sorted(kept["values"]), "wraps are added"
    assert kept["values"][-1] >= entry["joules"]
    count = done.document["repetitions"]["count"]
    assert entry["joules_per_repetition"] == pytest.approx(entry["joules"] / count, rel=1e-12)
    timed = sum(sum(m["samples"]["per_rank"][0]) for m in done.document["measurements"])
    assert timed <= entry["seconds"] <= done.document["run"]["duration_seconds"]
    assert power_notes(done) == []
    (line,) = (line for line in done.output.splitlines() if line.startswith("energy"))
    assert "package-0 (rapl)" in line
    assert "GB/s per W" in line


def test_one_rank_of_a_host_samples(stream, counter):
    for how in ({"words": ("--ranks", "2")}, {"launcher": mpirun(2)}):
        words = how.pop("words", ())
        done = stream.valid(*LONG, *words, variables=counter, **how)
        (entry,) = done.document["energy"]
        assert entry["domain"] == "package-0"
        assert_known_power(entry)


def test_off(stream, counter):
    done = stream.valid(*SMALL, "--power", "off", variables=counter)
    assert "energy" not in done.document


def test_absent_where_nothing_can_be_read(stream):
    done = stream.valid(*SMALL)
    assert "energy" not in done.document
    assert power_notes(done) == []
    assert "energy" not in done.output


def test_the_source_asked_for_is_not_there(stream):
    done = stream.valid(*SMALL, "--power", "nvml")
    assert "energy" not in done.document
    (note,) = power_notes(done)
    assert "nvml" in note


def test_a_command(stream):
    done = stream.valid(*TIMED, "--power-command", "echo 42.5", "--power-interval", "50")
    (entry,) = done.document["energy"]
    assert (entry["domain"], entry["source"]) == ("command", "command")
    assert entry["watts"] == pytest.approx(42.5, rel=1e-9)
    assert entry["peak_watts"] == pytest.approx(42.5, rel=1e-12)
    kept = entry["samples"]
    assert kept["unit"] == "W" and set(kept["values"]) == {42.5}
    assert kept["seconds"] == sorted(kept["seconds"]) and kept["seconds"][0] <= 0 < kept["seconds"][-1]
    best = max(done.document["measurements"], key=lambda entry: entry["best"])
    line = " ".join(done.output.split())
    per_watt = f"{best['axes']['operation']} {best['best'] / entry['peak_watts']:.4g} GB/s per W"
    assert per_watt in line, "best over peak, as in the tables"


def test_a_command_is_run_at_the_interval(stream, tmp_path):
    log = tmp_path / "log"
    script = tmp_path / "my watts.sh"
    script.write_text(f"#!/bin/sh\necho >>'{log}'\necho 10\n")
    script.chmod(0o755)
    done = stream.valid(*TIMED, "--power-command", f"'{script}'", "--power-interval", "250")
    (entry,) = done.document["energy"]
    runs = len(log.read_text().splitlines())
    # One to see that it works, one at each end, and no more between them than fit: it runs on in the pauses.
    (seconds,) = (step["seconds"] for step in done.document["run"]["steps"] if step["name"] == "repetitions")
    assert entry["seconds"] <= seconds
    assert 3 <= runs <= 3 + seconds / 0.25


@pytest.mark.parametrize("command", ["false", "echo many", "/nowhere/watts", "echo 'x"])
def test_a_bad_command_ends_the_run_before_it_starts(stream, command):
    done = stream.run(*SMALL, "--power-command", command)
    assert done.code == 2
    assert "--power-command" in only_error(done)
    assert done.document is None


def test_a_bad_command_is_named_once_by_several_ranks(stream):
    done = stream.run(*SMALL, "--ranks", "3", "--power-command", "false")
    assert done.code == 2
    assert "--power-command" in only_error(done)


@pytest.mark.parametrize(
    "words",
    [
        ("--power", "sun"),
        ("--power", ""),
        ("--power", "command"),
        ("--power", "off", "--power-command", "echo 1"),
        ("--power-interval", "0"),
        ("--power-interval", "x"),
        ("--power-command", ""),
    ],
)
def test_bad_options(stream, words):
    done = stream.run(*SMALL, *words)
    assert done.code == 2
    assert "--power" in only_error(done)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_counter_for_root_only_is_a_note(stream, counter, tmp_path):
    zone = tmp_path / "intel-rapl:1"
    zone.mkdir()
    (zone / "name").write_text("package-1\n")
    (zone / "energy_uj").write_text("1\n")
    (zone / "energy_uj").chmod(0)
    done = stream.valid(*LONG, variables=counter)
    assert [entry["domain"] for entry in done.document["energy"]] == ["package-0"]
    (note,) = power_notes(done)
    assert "package-1" in note

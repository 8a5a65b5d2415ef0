"""Starts the real programs for the tests: alone, with ranks in one process, or under mpirun."""

import atexit
import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from fabricmark import results
from fabricmark.base import runtimes, unreaped

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = REPOSITORY / "build" / "release" / "bin" / "fm_stream"
PEER_GPU = REPOSITORY / "build" / "release" / "tests" / "unit" / "libpeer_gpu.so"  # what plays a GPU
KERNELS = REPOSITORY / "kernels"
TIME_OUT = 60
EMULATOR = "fpga-emulator"
OPERATIONS = ("copy", "scale", "add", "triad", "host_to_device", "device_to_host")
# Too few repetitions to measure by, enough to go wrong in.
SHORT = ("--size", "1000", "--repetitions", "2")
# Messages over the host go in one way, where it is not what is tested: else every start measures which is the
# fastest.
ONE_WAY = ("--chunk-bytes", "0")

# Where a table or a line wraps depends on what was measured: tests that look for words get them in one line.
WIDE = "1000"


class Notes(list):
    """What a result says beside its figures. Some of it was measured (whether ranks ran at the same time, for
    one), so that two runs never have to say the same: a test that compares all of it fails on a busy machine.
    """

    def __eq__(self, other):
        raise AssertionError("notes tell what was measured too: compare the digest, or a note of your choice")

    __hash__ = None


@dataclass
class Done:
    """A program that has ended; `document` is its result file, already checked, or None without one.

    What the runner itself checks after each repetition, that no kernel writes outside of its buffers, stands
    apart in `zones` where it passed: the other verdicts are the benchmark's own.
    `contradictions`: what a report finds wrong with the numbers.
    """

    code: int
    output: str
    errors: str
    document: dict | None
    zones: dict | None = None
    contradictions: tuple = ()

    def take(self, path):
        """The result in a file."""
        loaded = results.load(path)
        self.contradictions = tuple(loaded.contradictions)
        self.document = dict(loaded.document)
        assert self.document["run"]["exit_code"] == self.code
        *own, last = self.document["verdicts"]
        if last["name"] == "guard zones" and last["status"] == "passed":
            self.document["verdicts"], self.zones = own, last
        self.document["notes"] = Notes(self.document["notes"])

    @property
    def digest(self):
        """The note that tells the bits of the result: runs of equal bits have the same one."""
        (found,) = (note for note in self.document["notes"] if note.startswith("digest of "))
        return found

    def measurement(self, operation):
        return next(m for m in self.document["measurements"] if m["axes"] == {"operation": operation})


class Stream:
    """How to start fm_stream or another program, with a folder for its files and a cache for all tests."""

    def __init__(self, folder, program=PROGRAM):
        self.folder = folder
        self.program = program
        self.environment = {**os.environ, "FABRICMARK_CACHE": str(folder / "cache"), "COLUMNS": WIDE}
        for name in ("FPGA_MAPPING", "FABRICMARK_KERNELS", "FABRICMARK_REPLICAS"):
            self.environment.pop(name, None)
        self.files = 0

    def new_file(self, suffix=".json"):
        self.files += 1
        return self.folder / f"file{self.files}{suffix}"

    def start(self, *words, launcher=(), variables=None, timeout=TIME_OUT):
        """Run to the end without a result file of its own."""
        process = subprocess.Popen(
            [*map(str, launcher), str(self.program), *map(str, words)],
            env={**self.environment, **(variables or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
        )
        with process:
            return Done(*unreaped.communicate(process, timeout), None)

    def run(self, *words, **how):
        """Run with a result file, which has to fit the schema and its own samples wherever there is one."""
        path = self.new_file()
        path.unlink(missing_ok=True)  # of another program in this folder
        done = self.start(*words, "--json", path, **how)
        if path.exists():
            done.take(path)
        return done

    def valid(self, *words, **how):
        """The result of a run that has to be valid, and quiet about it."""
        done = self.run(*words, **how)
        assert done.code == 0, (words, done.errors, done.output)
        # Open MPI speaks of things like missing network cards on some machines.
        assert how.get("launcher") or done.errors == ""
        assert {verdict["status"] for verdict in done.document["verdicts"]} == {"passed"}
        assert not done.contradictions, words  # else reports call it INVALID
        return done


@cache
def sessions():
    """A folder of this process for those of Open MPI. That has a race of its own: an mpirun that ends removes
    the folder of all of a user's, while another one makes its own in there.
    """
    folder = Path(tempfile.mkdtemp(prefix="mpi."))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def mpirun(count):
    """Words that start `count` processes; skips the test where there is no mpirun."""
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun")
    words = ["mpirun"]
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, timeout=TIME_OUT).stdout
    if "Open MPI" in version or "OpenRTE" in version:
        words += ["-q", "--oversubscribe", "--bind-to", "none"]
        words += ["--mca", "orte_tmpdir_base", tempfile.mkdtemp(dir=sessions())]
        if os.geteuid() == 0:
            words.append("--allow-run-as-root")
    return [*words, "-n", str(count)]


def error_lines(done):
    return [line for line in done.errors.splitlines() if re.match(r"fm_\w+: error: ", line)]


def one_error(done, codes=(2, 3)):
    """The one line that a failed program says; a launcher's or a compiler's own lines aside."""
    assert done.code in codes, (done.code, done.errors, done.output)
    lines = error_lines(done)
    assert len(lines) == 1, done.errors
    assert "; " in lines[0]
    return lines[0]


def only_error(done, codes=(2, 3)):
    """The same where there is nobody else who might speak."""
    line = one_error(done, codes)
    assert done.errors.strip() == line
    return line


def devices(stream):
    """What --list-devices says; skips the test where there is no device."""
    done = stream.start("--list-devices", "--json", "-")
    if done.code == 3:
        pytest.skip("no OpenCL device")
    assert done.code == 0, done.errors
    return json.loads(done.output)["devices"]


def on_a_device(factory, name="stream"):
    """How to start fm_<name> in a folder of its own; skips the test where there is no device."""
    made = Stream(factory.mktemp(name), PROGRAM.with_name(f"fm_{name}"))
    devices(made)
    return made


def on_a_cpu(factory, names, library):
    """How to start these programs with a library of the tests; skips the test without it or a CPU."""
    if not library.exists():
        pytest.skip("built without MPI or without tests")
    made = {name: on_a_device(factory, name) for name in names}
    if devices(made[next(iter(made))])[0]["class"] != "cpu":
        pytest.skip("for CPUs only")
    return made


def on_emulator(factory, name):
    """How to start fm_<name> on Intel's FPGA emulator; skips the test where that is not installed."""
    if not runtimes.find(EMULATOR).installed():
        pytest.skip(f"no emulator (`fabricmark runtimes install {EMULATOR}`)")
    made = on_a_device(factory, name)
    made.environment = runtimes.environment(EMULATOR, made.environment)
    assert [device["class"] for device in devices(made)] == ["emulator"]
    return made

"""A repository with stand-ins for the programs, so that the command is tested without a build."""

import gc
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from unittest.mock import patch

import hypothesis
import one_thread  # noqa: F401
import pytest
import samples
import typer.main
from fabricmark.base import paths
from fabricmark.systems import calibration
from matrices import wide_parts
from simulated_runs import exported
from stream_program import WIDE, devices, on_a_device

# A test run started in the background or by nohup may ignore these, and what it starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# A test says how many examples it draws, and nothing of time: a busy machine is no fault of its inputs.
hypothesis.settings.register_profile(
    "any machine",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.function_scoped_fixture],
    database=None,
)
hypothesis.settings.load_profile("any machine")

# A start of the command makes all commands once; half the time of most calls in this process would go there.
typer.main.get_command = cache(typer.main.get_command)

# What a collection makes stays until the end. Looking for garbage among it, many times and once more at the
# end, takes two fifths of the time of a collection.
gc.disable()

HERE = Path(__file__).parent
os.environ["FABRICMARK_SYSTEMS"] = str(HERE / "no-systems-of-the-user")  # for what runs outside of a Place
# A process of Open MPI that waits takes a whole core, unless there are more processes than cores: here other
# tests run on the same ones.
os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
REPOSITORY = HERE.parents[1]
sys.path.append(str(REPOSITORY / "tools"))  # last: setup.py has a name of others'
# What else this machine does while a test runs is no part of what the test looks at.
os.environ["FABRICMARK_HOST_FILES"] = "/nowhere"
REAL_PROGRAM = REPOSITORY / "build" / "release" / "bin" / "fm_stream"
DESCRIBE = REAL_PROGRAM.with_name("fabricmark-describe")
MESH_TOOL = REAL_PROGRAM.with_name("fabricmark-mesh")
WITH_SIMGRID = pytest.mark.skipif(
    not REAL_PROGRAM.with_name("fabricmark-simgrid").exists(),
    reason="SimGrid is not there (`python3 tools/setup.py --also simgrid`)",
)


# Files that take long for their few tests. Workers take whole files, and one of these begun last would run on
# when all others have ended.
SHORT_RUN = 60  # seconds: no table of files then
SLOWEST = 40  # files of the table
FIRST = (
    "test_contributing", "test_programs_dead_in_a_message", "test_validation_fit", "test_install",
    "test_stencil_example", "test_predict_collectives", "test_wrong_kernels_tsunami",
    "test_simulated_time_values",
    "test_programs_runtime", "test_systems_new", "test_campaign_stopping", "test_wrong_kernels_gemm",
    "test_programs_power", "test_programs_failing_calls", "test_wrong_kernels_shallow_water",
    "test_programs_faulty_mpi", "test_programs_omb", "test_report_browser", "test_report_page",
    "test_programs_xrt", "test_card_streams", "test_validation", "test_accl_cards", "test_bundle",
)  # fmt: skip


def place_in_line(items):
    """A key to sort items by: the files of FIRST, then those of many tests."""
    tests = Counter(item.path for item in items if not item.get_closest_marker("full"))
    places = {name: place for place, name in enumerate(FIRST)}
    return lambda item: (places.get(item.path.stem, len(FIRST)), -tests[item.path], item.path)


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(items):
    """Tests marked `programs` need the built programs; of their matrices few cases are not `full`."""
    for item in wide_parts(items):
        item.add_marker(pytest.mark.full)
    items.sort(key=place_in_line(items))
    for item in items:
        if item.get_closest_marker("programs") and not REAL_PROGRAM.exists():
            item.add_marker(pytest.mark.skip(reason="fm_stream is not built (`make build`)"))


def pytest_terminal_summary(terminalreporter):
    """After the slowest tests the slowest files: most of a run is in many short tests."""
    seconds = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.split("::")[0]] += report.duration
    if sum(seconds.values()) < SHORT_RUN:
        return
    terminalreporter.section(f"slowest files of {sum(seconds.values()):.0f} s")
    for file, spent in seconds.most_common(SLOWEST):
        terminalreporter.write_line(f"{spent:6.1f}s {file}")


def pytest_collection_finish():
    """From here on garbage is looked for among what tests make."""
    gc.freeze()
    gc.enable()


def run_in_process(words, environment, folder, outputs):
    """`fabricmark words...` in this process, for speed: output, folder and variables are its own.

    `outputs`: a folder for what it prints.
    """
    from fabricmark.cli import app

    paths = [outputs / "stdout.txt", outputs / "stderr.txt"]
    with ExitStack() as stack:
        stack.enter_context(patch.dict(os.environ, environment, clear=True))
        stack.enter_context(chdir(folder))
        files = [stack.enter_context(path.open("w", encoding="utf-8", buffering=1)) for path in paths]
        for number, file in zip((1, 2), files, strict=True):  # what the programs inherit
            stack.callback(os.close, saved := os.dup(number))
            stack.callback(os.dup2, saved, number)
            os.dup2(file.fileno(), number)
        stack.enter_context(redirect_stdout(files[0]))
        stack.enter_context(redirect_stderr(files[1]))
        with pytest.raises(SystemExit) as ended:
            app([str(word) for word in words], prog_name="fabricmark")
    output, errors = (path.read_text(encoding="utf-8") for path in paths)
    return subprocess.CompletedProcess(words, ended.value.code, output, errors)


class Place:
    """A stand-in repository: programs that note how they were started, one benchmark, an empty cache."""

    def __init__(self, folder):
        self.folder = folder
        self.root = folder / "root"
        self.log = folder / "log.jsonl"
        self.results = folder / "results"
        (self.root / "src").mkdir(parents=True)  # a clone has it, an installation has not
        (self.root / "kernels" / "stream").mkdir(parents=True)
        self.kernel_toml = self.root / "kernels" / "stream" / "kernel.toml"
        self.kernel_toml.write_text(samples.KERNEL_TOML)
        self.programs = self.root / "build" / "release" / "bin"
        self.programs.mkdir(parents=True)
        for name in ("fm_stream", "fm_calibrate"):
            body = "import fake_program\nsys.exit(fake_program.main())"
            self.add_program(
                self.programs / name, body, "-S"
            )  # they need no packages, whose search takes time
        for real in (DESCRIBE, MESH_TOOL):  # they need no device
            (self.programs / real.name).symlink_to(real)
        self.environment = {
            **os.environ,
            "FABRICMARK_ROOT": str(self.root),
            "FABRICMARK_CACHE": str(folder / "cache"),
            "FABRICMARK_SYSTEMS": str(folder / "systems"),
            "FAKE_LOG": str(self.log),
            "PYTHONPATH": os.pathsep.join([str(REPOSITORY / "python"), str(HERE)]),
            "COLUMNS": WIDE,
        }
        outside = ("SLURM_JOB_ID", "FLUX_URI", "LSB_JOBID", "FABRICMARK_LAUNCHERS", "FABRICMARK_TRANSPORTS")
        for name in (*outside, "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "FABRICMARK_PRESET"):
            self.environment.pop(name, None)

    def add_program(self, path, body, option=""):
        """An executable Python script."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{sys.executable} {option}\nimport sys\n{body}\n")
        path.chmod(0o755)

    def command(self, *words):
        return [sys.executable, "-c", "from fabricmark.cli import app; app(prog_name='fabricmark')", *words]

    def run(self, *words, **variables):
        """`fabricmark words...`, in this process."""
        return run_in_process(words, {**self.environment, **variables}, self.folder, self.folder)

    def started(self, program="fm_stream"):
        """How the program was started for a run (listing devices aside), one entry a start."""
        entries = (
            [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []
        )
        return [e for e in entries if e["program"] == program and "--list-devices" not in e["words"]]

    def write(self, name, document):
        """A result file in the results folder."""
        self.results.mkdir(exist_ok=True)
        path = self.results / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return path


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    """How to start fm_stream, on a machine with a device."""
    return on_a_device(tmp_path_factory)


@pytest.fixture(scope="module")
def found(stream):
    """The devices that fm_stream lists."""
    return devices(stream)


@pytest.fixture
def place(tmp_path, monkeypatch):
    made = Place(tmp_path)
    for name in ("FABRICMARK_ROOT", "FABRICMARK_CACHE", "FABRICMARK_SYSTEMS"):
        monkeypatch.setenv(name, made.environment[name])
    monkeypatch.setattr(calibration, "processor", lambda: samples.CPU)  # the sample host
    return made


@pytest.fixture
def calibrated(place):
    """A place that knows the limits of the sample device."""
    document = samples.calibration()
    paths.write_atomically(calibration.file_for(document), json.dumps(document))
    return place


@pytest.fixture
def with_programs(place, found):
    """A place that runs the real programs; their devices' limits are made up, as measuring takes long."""
    for device in found:
        document = samples.calibration(device)
        document["host"]["name"] = socket.gethostname()
        paths.write_atomically(calibration.file_for(document), json.dumps(document))
    place.environment["FABRICMARK_ROOT"] = str(REPOSITORY)
    return place


@pytest.fixture
def run(place):
    """The command, over the sources and programs of the repository."""
    place.environment["FABRICMARK_ROOT"] = str(REPOSITORY)
    return place.run


def one_error_line(done, code):
    """Check that a command ended as every error has to: this exit code, one line, a remedy, no traceback."""
    assert done.returncode == code, (done.returncode, done.stderr)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("fabricmark: error: ")
    assert "; " in lines[0]
    assert "Traceback" not in done.stdout
    return lines[0]


@pytest.fixture(name="one_error_line")
def one_error_line_fixture():
    return one_error_line


@pytest.fixture
def of_the_repository(monkeypatch, tmp_path):
    """The repository's systems, and a folder of the user's that is not there."""
    monkeypatch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
    monkeypatch.setenv("FABRICMARK_SYSTEMS", str(tmp_path / "own"))


@pytest.fixture(scope="session")
def system(tmp_path_factory):
    """The file of an exported system, noctua1."""
    return exported(tmp_path_factory.mktemp("system"))


@pytest.fixture
def copied(tmp_path):
    """A copy of systems/ to change."""
    return Path(shutil.copytree(REPOSITORY / "systems", tmp_path / "systems"))


@pytest.fixture(name="predict")
def predict_of_the_repository(place):
    """`fabricmark predict words...` with the repository's kernels and systems, and none of the user's."""

    def run(*words, **variables):
        own = {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": os.devnull}
        return place.run("predict", *words, **{**own, **variables})

    return run

"""The command: what it starts and how, its exit codes, and one line for every error."""

import gc
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import time

import pytest
import samples
from conftest import REPOSITORY
from fabricmark.base import kernels, unreaped

GPU = {**samples.DEVICE, "name": "Sample (R) GPU", "class": "gpu", "platform_index": 1, "device_index": 3}
OPEN_MPI = """
import json, os, re
if "--version" in sys.argv:
    print("mpirun (Open MPI) 4.1.4"); sys.exit(0)
with open(os.environ["FAKE_LOG"] + ".mpi", "a") as file:
    file.write(json.dumps(sys.argv) + "\\n")
words = sys.argv[1:]
start = next(i for i, word in enumerate(words) if word.endswith("fm_stream"))
os.environ["FAKE_RANKS"] = re.search("(?:-n |--ntasks=)([0-9]+)", " ".join(words))[1]
os.execv(words[start], words[start:])
"""


def launched(place):
    """Command lines of the stand-in launcher."""
    return [json.loads(line) for line in (place.folder / "log.jsonl.mpi").read_text().splitlines()]


def with_launcher(place, name, body=OPEN_MPI):
    """PATH with a stand-in launcher and nothing else that launches."""
    place.add_program(place.folder / "tools" / name, body)
    return {"PATH": f"{place.folder / 'tools'}"}


def test_run(place):
    done = place.run("run", "stream", "--", "--size", "1024")
    assert done.returncode == 0, done.stderr
    (start,) = place.started()
    (file,) = place.results.iterdir()
    assert start["words"] == ["--platform", "0", "--device", "0", "--json", str(file), "--size", "1024"]
    assert file.name.startswith("stream-") and "-system-0.0-sample-cpu-1r.json" in file.name
    assert "triad" in done.stdout and "valid" in done.stdout
    assert "measuring the limits of sample-cpu once" in done.stderr
    assert place.run("run", "stream").stderr == ""  # the limits are known now
    assert len(list(place.results.iterdir())) == 2


def test_every_device(place):
    done = place.run("run", "all", FAKE_DEVICES=json.dumps([samples.DEVICE, GPU]))
    assert done.returncode == 0
    assert [entry["words"][:4] for entry in place.started()] == [
        ["--platform", "0", "--device", "0"],
        ["--platform", "1", "--device", "3"],
    ]
    assert any("1.3-sample-r-gpu" in file.name for file in place.results.iterdir())


FAST = '[variants.throughput]\nfile = "base.cl"\nentry_points = ["stream"]\nstyle = "nd-range"\n[parameters.v'


@pytest.mark.parametrize("usual_on, given, variants", [
    ("", [], [None, "throughput", None]),  # on the CPU both, on the GPU what it takes by itself
    ('usual_on = ["cpu"]\n', [], [None, None]),  # here the FPGA design would take long
    ("", ["--", "--variant", "base"], ["base", "base"]),
])  # fmt: skip
def test_both_kernels_of_a_cpu(place, usual_on, given, variants):
    text = place.kernel_toml.read_text()
    fast = FAST.replace("[parameters", f"{usual_on}[parameters")
    place.kernel_toml.write_text(text.replace("[parameters.v", fast, 1))
    devices = json.dumps([samples.DEVICE, GPU])
    done = place.run("run", "all", "--both", *given, FAKE_DEVICES=devices)
    assert done.returncode == 0, done.stderr
    found = [kernels.options(entry["words"]).get("--variant") for entry in place.started()]
    assert found == variants
    assert ("stream on sample-cpu, throughput kernel, 1 rank" in done.stderr) == ("throughput" in variants)


def test_both_kernels_are_no_word_for_campaigns(place, one_error_line):
    (place.folder / "a.toml").write_text("")
    done = place.run("run", place.folder / "a.toml", "--both")
    assert "a campaign has its options in its file" in one_error_line(done, 2)


@pytest.mark.parametrize("words", [["--device", "gpu"], ["--", "--device=gpu"]])
def test_a_chosen_device(place, words):
    assert place.run("run", "stream", *words, FAKE_DEVICES=json.dumps([samples.DEVICE, GPU])).returncode == 0
    (start,) = place.started()
    assert "--platform" not in start["words"]
    assert "gpu" in " ".join(start["words"][2:])


@pytest.mark.parametrize("device_class", ["emulator", "cpu"])
def test_emulators_are_not_calibrated(place, device_class):
    emulator = {**samples.DEVICE, "class": device_class, "emulated": True}
    assert place.run("run", "stream", FAKE_DEVICES=json.dumps([emulator])).returncode == 0
    assert place.started("fm_calibrate") == []


def test_a_calibration_that_fails_does_not_fail_the_run(place):
    done = place.run("run", "stream", FAKE_CALIBRATION="nonsense")
    assert done.returncode == 0
    assert "fabricmark: warning: calibration of sample-cpu failed" in done.stderr


def test_ranks_in_one_process(place):
    done = place.run("run", "stream", "--ranks", "4")
    assert done.returncode == 0, done.stderr
    (start,) = place.started()
    assert start["words"][4:6] == ["--ranks", "4"]
    assert "4 ranks (in-process)" in done.stdout


def test_open_mpi(place):
    done = place.run("run", "stream", "--mpi", "2", **with_launcher(place, "mpirun"))
    assert done.returncode == 0, done.stderr
    (command,) = launched(place)
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    assert command[1:] == [
        "--oversubscribe", "--bind-to", "none", *root, "-n", "2", str(place.programs / "fm_stream"),
        *place.started()[0]["words"],
    ]  # fmt: skip
    assert "--ranks" not in command


def test_another_mpi_gets_no_options_of_open_mpi(place):
    body = OPEN_MPI.replace("mpirun (Open MPI) 4.1.4", "HYDRA build details")
    place.run("run", "stream", "--mpi", "2", **with_launcher(place, "mpiexec", body))
    assert launched(place)[0][1:3] == ["-n", "2"]


def test_slurm(place):
    variables = with_launcher(place, "srun")
    with_launcher(place, "mpirun")
    done = place.run("run", "stream", "--mpi", "3", SLURM_JOB_ID="7", **variables)
    assert done.returncode == 0, done.stderr
    assert launched(place)[0][0].endswith("/srun")
    assert launched(place)[0][1] == "--ntasks=3"
    place.run("run", "stream", "--mpi", "3", **variables)
    assert launched(place)[1][0].endswith("/mpirun")  # outside an allocation srun would wait for one


def installed_runtime(place, name, library):
    folder = place.root / ".runtimes" / name
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / library).touch()
    version = {"intel-cpu": "2026.2.0", "fpga-emulator": "2023.2.4"}[name]
    packages = f"intel-opencl-rt=={version}\nintel-cmplr-lib-rt=={version}\n"
    (folder / "fabricmark-installed.txt").write_text(packages)
    return str(folder / "lib" / library)


def test_a_runtime_of_its_own(place):
    library = installed_runtime(place, "fpga-emulator", "libintelocl_emu.so")
    done = place.run("run", "stream", "--runtime", "fpga-emulator", OCL_ICD_FILENAMES="/other.so")
    assert done.returncode == 0, done.stderr
    seen = place.started()[0]["environment"]
    assert seen["OCL_ICD_VENDORS"] == seen["OCL_ICD_FILENAMES"] == library
    with_mpi = place.run(
        "run", "stream", "--runtime", "fpga-emulator", "--mpi", "2", **with_launcher(place, "mpirun")
    )
    assert with_mpi.returncode == 0, with_mpi.stderr
    assert launched(place)[0].count("-x") == 2


def test_all_runtimes(place):
    installed_runtime(place, "intel-cpu", "libintelocl.so")
    assert place.run("run", "stream", "--runtime", "all").returncode == 0
    vendors = [entry["environment"]["OCL_ICD_VENDORS"] for entry in place.started()]
    assert vendors[0] is None and vendors[1].endswith("libintelocl.so")


FALLBACK_ONLY = """
import os
os.environ["FAKE_DEVICES"] = {devices!r} if "OCL_ICD_VENDORS" in os.environ else "[]"
import fake_program
sys.exit(fake_program.main())
"""


def test_without_a_system_platform_the_installed_runtime_is_used(place):
    body = FALLBACK_ONLY.format(devices=json.dumps([samples.DEVICE]))
    for name in ("fm_stream", "fm_calibrate"):
        place.add_program(place.programs / name, body)
    assert place.run("run", "stream").returncode == 3
    library = installed_runtime(place, "intel-cpu", "libintelocl.so")
    done = place.run("run", "stream")
    assert done.returncode == 0, done.stderr
    assert place.started()[0]["environment"]["OCL_ICD_VENDORS"] == library


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_exit_codes_of_the_program_are_handed_on(place, code):
    done = place.run("run", "stream", FAKE_EXIT=str(code))
    assert done.returncode == code
    assert ("INVALID" in done.stdout) == (code == 1)


def test_the_worst_exit_code_counts_and_the_rest_still_runs(place):
    (place.root / "kernels" / "another").mkdir()
    (place.root / "kernels" / "another" / "kernel.toml").write_text(samples.KERNEL_TOML)
    done = place.run("run", "all", "--full")  # `another` comes first and is not built
    assert done.returncode == 3
    assert len(place.started()) == 1
    assert "triad" in done.stdout


def test_a_program_that_crashes(place):
    done = place.run("run", "stream", FAKE_SIGNAL="9")
    assert done.returncode == 3
    assert "fm_stream was ended by signal 9 (Killed)" in done.stderr


@pytest.mark.parametrize("quiet", [False, True])
def test_a_program_that_aborts_has_the_last_word(place, quiet):
    """What it says is passed on as it is, and its last line stands in the error."""
    said = "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  no room \u00e4\n\n"
    words = ("scale", "stream", "--devices", "1", "--in-process") if quiet else ("run", "stream")
    done = place.run(*words, FAKE_SIGNAL="6", FAKE_WORDS=said)
    assert done.returncode == 3
    assert said in done.stderr
    assert "error: fm_stream was ended by signal 6 (Aborted): what(): no room ä" in done.stderr


def test_a_program_that_leaves_something_running(place):
    """What holds its standard error open after its end keeps nobody waiting."""
    noted = place.folder / "left"
    done = place.run("run", "stream", FAKE_LEAVES=str(noted))
    assert done.returncode == 0, done.stderr
    os.kill(int(noted.read_text()), signal.SIGKILL)  # raises where it has ended


def test_success_without_a_result_is_an_error(place):
    done = place.run("run", "stream", FAKE_SILENT="1")
    assert done.returncode == 3
    assert "reported success but wrote no" in done.stderr and "build again" in done.stderr
    assert place.run("run", "stream", "--", "--help", FAKE_SILENT="1").returncode == 0


def test_success_of_a_launcher_without_a_result_is_put_down_to_the_launcher(place):
    """An srun without this MPI's plug-in starts ranks that know nothing of each other, and ends with 0."""
    place.add_program(place.folder / "slurm" / "srun", "")
    path = f"{place.folder / 'slurm'}{os.pathsep}{os.environ['PATH']}"
    done = place.run("run", "stream", "--mpi", "2", PATH=path, SLURM_JOB_ID="1")
    assert done.returncode == 3
    assert "srun does not pass exit codes on" in done.stderr and "build again" not in done.stderr


BAD = {
    "no command": ([], 2, "Missing command"),
    "unknown command": (["rum"], 2, "No such command"),
    "unknown benchmark": (["run", "steam"], 2, "there is no benchmark 'steam'; did you mean stream?"),
    "no benchmark": (["run"], 2, "Missing argument"),
    "option before --": (["run", "stream", "--size", "4"], 2, "No such option: --size"),
    "ranks not a number": (["run", "stream", "--ranks", "two"], 2, "--ranks"),
    "no ranks": (["run", "stream", "--ranks", "0"], 2, "greater than or equal to 1"),
    "both kinds of ranks": (["run", "stream", "--ranks", "2", "--mpi", "2"], 2, "both --ranks and --mpi"),
    "unknown runtime": (["run", "stream", "--runtime", "magic"], 2, "there is no runtime 'magic'"),
    "own result file": (["run", "stream", "--", "--json", "x"], 2, "--json is set by"),
    "list unknown": (["list", "steam"], 2, "there is no benchmark 'steam'"),
    "report nothing": (["report"], 2, "Missing argument"),
    "report a binary": (["report", "fm"], 2, "fm: neither a result file nor an output of a benchmark"),
    "unknown runtime to install": (["runtimes", "install", "magic"], 2, "there is no runtime 'magic'"),
    "install nothing": (["runtimes", "install"], 2, "bad use of `runtimes`"),
    "remove": (["runtimes", "remove", "intel-cpu"], 2, "bad use of `runtimes`"),
}


@pytest.mark.parametrize("words, code, cause", BAD.values(), ids=BAD)
def test_bad_use_is_one_line(place, one_error_line, words, code, cause):
    (place.folder / "fm").write_bytes(b"\x7fELF\xff\x00")
    assert cause in one_error_line(place.run(*words), code)


def test_output_that_cannot_be_written(place):
    (place.folder / "file").write_text("")
    done = place.run("run", "stream", "--output", "file/inside")
    assert done.returncode == 2
    assert "cannot create" in done.stderr.splitlines()[-1]


def test_environment_errors(place, one_error_line):
    line = one_error_line(place.run("run", "stream", FAKE_DEVICES="[]"), 3)
    assert "no OpenCL device found; install" in line
    assert "no OpenCL device found" in one_error_line(place.run("list", "--devices", FAKE_DEVICES="[]"), 3)
    assert "no OpenCL device found" in one_error_line(place.run("calibrate", FAKE_DEVICES="[]"), 3)
    assert "no list of devices" in one_error_line(place.run("run", "stream", FAKE_DEVICES='{"a": 1}'), 3)
    line = one_error_line(place.run("run", "stream", FABRICMARK_ROOT=str(place.folder)), 3)
    assert "holds no Fabricmark" in line
    line = one_error_line(place.run("run", "stream", FABRICMARK_PRESET="debug"), 3)
    assert "fm_calibrate is not built; run `make build`" in line


def test_without_a_device_the_program_says_what_needs_one(place):
    """Options may choose what needs none, as b_eff --transport cpu does."""
    done = place.run("run", "stream", "--", "--transport", "cpu", FAKE_DEVICES="[]")
    assert done.returncode == 0, done.stderr
    (start,) = place.started()
    assert start["words"][0] == "--json", "no device is chosen"


def test_no_launcher(place):
    done = place.run("run", "stream", "--mpi", "2", PATH=str(place.folder))
    assert done.returncode == 3
    assert "no MPI launcher" in done.stderr.splitlines()[-1]


def test_a_damaged_kernel_toml(place, one_error_line):
    place.kernel_toml.write_text("benchmark = ")
    assert "kernel.toml' line 1 is not TOML" in one_error_line(place.run("list"), 2)


def test_ctrl_c_leaves_finished_results(place):
    process = subprocess.Popen(
        place.command("run", "stream"), cwd=place.folder, text=True,
        env={**place.environment, "FAKE_SLEEP": "60", "FAKE_DEVICES": json.dumps([samples.DEVICE, GPU])},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while len(place.started()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "fabricmark: error: interrupted; 1 finished results are in results"
    assert "Traceback" not in errors
    assert place.run("report", "results").returncode == 0


def test_list(place):
    done = place.run("list")
    row = next(line for line in done.stdout.splitlines() if line.startswith("stream"))
    assert re.split("  +", row.strip()) == ["stream", "Memory bandwidth of four vector operations", "base"]
    parameters = place.run("list", "stream").stdout
    for word in (
        "--buffer-size",
        "1 to 65536",
        "cpu: cores",
        "build",
        "copies of the kernel",
        "single-work-item",
    ):
        assert word in parameters
    devices = place.run("list", "--devices", FAKE_DEVICES=json.dumps([samples.DEVICE, GPU]))
    assert "sample-cpu" in devices.stdout and "1:3" in devices.stdout


def test_calibrate(place):
    first, second = place.run("calibrate"), place.run("calibrate")
    assert "measured now" in first.stdout and "50" in first.stdout
    assert "known" in second.stdout and "measured now" not in second.stdout
    assert first.returncode == second.returncode == 0
    assert len(place.started("fm_calibrate")) == 1
    assert place.run("calibrate", "--again").returncode == 0
    assert len(place.started("fm_calibrate")) == 2


def test_runtimes_and_version(place):
    assert "intel-cpu: Intel's OpenCL for CPUs, not installed" in place.run("runtimes").stdout
    assert place.run("--version").stdout == "fabricmark 0.1.0\n"
    assert "calibrate" in place.run("--help").stdout


def test_two_devices_of_one_name_keep_two_results(place):
    twin = {**samples.DEVICE, "device_index": 1}
    place.run("run", "stream", FAKE_DEVICES=json.dumps([samples.DEVICE, twin]))
    assert len(list(place.results.iterdir())) == 2


@pytest.mark.programs
def test_the_real_program_writes_valid_results(with_programs):
    done = with_programs.run("run", "stream", "--full", "--", "--size", "65536", "--repetitions", "3")
    assert done.returncode == 0, done.stderr
    assert "triad" in done.stdout
    assert with_programs.run("report", "results").returncode == 0


@pytest.mark.programs
def test_a_launcher_that_hangs_behind_the_program_ends(place, monkeypatch):
    """As that of Open MPI does now and then."""
    monkeypatch.setattr(unreaped, "PATIENCE_SECONDS", 0.5)
    body = OPEN_MPI.replace(
        "os.execv(words[start], words[start:])",
        "import subprocess, time\nkept = subprocess.Popen(words[start:]); time.sleep(300)",
    )
    done = place.run("run", "stream", "--mpi", "2", **with_launcher(place, "mpirun", body))
    assert done.returncode == 0, done.stderr
    assert len(list(place.results.iterdir())) == 1


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun")
def test_the_real_program_under_mpirun(with_programs):
    words = ["--mpi", "2", "--full", "--", "--size", "65536", "--repetitions", "3"]
    done = with_programs.run("run", "stream", *words)
    assert done.returncode == 0, done.stderr
    assert "2 ranks (mpi)" in done.stdout


@pytest.mark.parametrize("looks", [True, False])
def test_garbage_is_looked_for_again_after_a_start(looks):
    """Or not, where the process that imports the command does not look for it."""
    try:
        gc.enable() if looks else gc.disable()
        start = runpy.run_path(REPOSITORY / "python" / "fabricmark" / "base" / "start.py")
        assert not gc.isenabled()
        start["done"]()
        assert gc.isenabled() == looks
    finally:
        gc.enable()

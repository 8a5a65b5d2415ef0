"""The benchmark that CONTRIBUTING.md adds: exactly its text is built and run in a copy of the sources."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import simulated_runs
from campaign_support import write
from test_cli import launched, with_launcher
from test_launchers import STAND_IN, site

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
# A file name in backquotes, then the next fenced block.
FILES = re.findall(
    r"`((?:src|kernels|python)/[\w/.]+)`[^\n]*\n(?:[^\n`]*\n)*\n*```\w+\n(.*?)```", PAGE, re.DOTALL
)
TRANSPORT = [(name, text) for name, text in FILES if name.startswith("src/transport/")]
OF_KERNELS = [(name, text) for name, text in FILES if name.startswith("src/board/")]
FILES = [one for one in FILES if one not in TRANSPORT + OF_KERNELS]
LINE, SWAP = (
    re.search(rf"^## {heading}\n.*?```cpp\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)[1]
    for heading in ("Add a collective algorithm", "Add a micro-benchmark")
)
LAUNCHERS = re.findall(r"`launchers/(\w+)\.toml`:\n\n```toml\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_is_four_files_of_at_most_60_lines_together():
    assert [Path(name).name for name, _ in FILES] == ["fill.cpp", "base.cl", "kernel.toml", "fill.py"]
    assert sum(text.count("\n") for _, text in FILES) <= 60


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the sources with the example's files added, configured to build its program only."""
    if shutil.which("cmake") is None or not (ROOT / "build" / "release").is_dir():
        pytest.skip("needs cmake and a built tree")
    tree = tmp_path_factory.mktemp("contributing")
    for folder in ("src", "kernels", "python", "tools", "bench", "systems", "data"):
        shutil.copytree(
            ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
    for file in ("CMakeLists.txt", "CMakePresets.json"):
        shutil.copy(ROOT / file, tree / file)
    for name, text in FILES:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    (tree / "build/release/bin").mkdir(parents=True)
    use_built(tree, "fabricmark-describe")
    return tree


def use_built(tree, name):
    (tree / "build/release/bin" / name).symlink_to(ROOT / "build/release/bin" / name)


def run(*command, cwd, **variables):
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=400,
    )


def configure(tree, *more):
    """Configures the copy, with the libraries as they are built already."""
    options = [*more, "-G", "Ninja", "-DFABRICMARK_TESTS=OFF", "-DFABRICMARK_WARNINGS_AS_ERRORS=ON"]
    options += ["-DCMAKE_BUILD_TYPE=", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"]
    configured = run("cmake", "-S", tree, "-B", tree / "build/release", *options, cwd=tree)
    assert configured.returncode == 0, configured.stderr
    built = ROOT / "build" / "release"
    for library in built.glob("src/**/*.a"):
        target = tree / "build/release" / library.relative_to(built)
        if target.parent.is_dir():  # else it is left of an older layout of the sources
            shutil.copy(library, target)


def ninja_commands(build, target):
    """What makes the target, as lines of a shell."""
    listed = run("ninja", "-t", "commands", target, cwd=build)
    assert listed.returncode == 0, listed.stdout
    return listed.stdout.splitlines()


def execute(command, build):
    done = run("bash", "-c", command, cwd=build)
    assert done.returncode == 0, done.stdout + done.stderr


def build_example(tree):
    """Builds fm_fill as the copy's CMake files say."""
    configure(tree)
    build = tree / "build/release"
    own = [line for line in ninja_commands(build, "fm_fill") if "fill/fill.cpp.o" in line]
    assert len(own) == 2  # one compiles it, one links
    for command in own:
        execute(command, build)


@pytest.mark.programs
def test_the_example_builds_runs_and_is_modelled(copy):
    build_example(copy)
    kernels = {"FABRICMARK_KERNELS": str(copy / "kernels")}
    ended = run(copy / "build/release/bin/fm_fill", "--size", "5000", "--json", "-", cwd=copy, **kernels)
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    verdict, zones = result["verdicts"]
    assert zones["name"] == "guard zones", "without a word of the example's"
    assert verdict["status"] == zones["status"] == "passed"
    assert verdict["checked"] >= 5000 * result["repetitions"]["count"]
    assert result["measurements"][0]["axes"] == {"operation": "fill"}

    code = (
        "from fabricmark import models; board = models.Board('b', 'cpu')"
        ".having({'memory.banks': 1, 'memory.bank_bandwidth': 4e10});"
        "print(models.find('fill').predict({'size': 5000}, board, 1)[0].value)"
    )
    modelled = run(sys.executable, "-c", code, cwd=copy, PYTHONPATH=str(copy / "python"))
    assert modelled.stdout.strip() == "40.0", modelled.stderr

    every_command_takes_it(copy, kernels)


def every_command_takes_it(copy, kernels):
    """run, list, report, scale and predict, each in a process; the other programs are the built ones."""
    for name in ("fm_stream", "fm_calibrate"):
        use_built(copy, name)
    said = {
        "list": "fill How fast a device fills memory base",
        "list fill": "floats to fill",
        "run fill --runtime system -- --platform 0 --device 0 --size 5000": "fill, base kernel, on",
        "report results": "no limit (device not measured): fill",
        "report results --full": "fill, base kernel, on",
        "scale fill --runtime system --devices 1,2 --in-process -- --size 5000": "speed-up",
        "predict fill --system cpu": "fill on cpu, modelled, bandwidth fill",
        "predict fill --system cygnus": "has no bitstream of fill; ",
    }
    all_say(copy, said, **kernels)


def all_say(copy, commands, **variables):
    """Each command prints what it shall, and an error only with exit code 2."""
    own = {name: str(copy / name.lower()) for name in ("FABRICMARK_CACHE", "FABRICMARK_SYSTEMS")}
    own |= {"FABRICMARK_ROOT": str(copy), "PYTHONPATH": str(copy / "python"), **variables}
    for words, said in commands.items():
        ended = run(sys.executable, "-m", "fabricmark", *words.split(), cwd=copy, **own)
        printed = ended.stdout + ended.stderr
        assert said in " ".join(printed.split()) and "Traceback" not in printed, printed
        assert ended.returncode == (2 if "fabricmark: error: " in printed else 0), printed


def test_what_its_model_says_of_it_is_what_predict_goes_by(copy):
    """On several devices: with the defaults of `Traits`, then as one whose ranks form a grid."""
    place = "systems/bitstreams/520n_multi.toml"
    table = '\n[bitstreams.fill]\nbenchmark = "fill"\nsource = "a test"\nclock = "300 MHz"\nparameters = {}\n'
    (copy / place).write_text((ROOT / place).read_text() + table)
    alone = {
        "predict fill --system noctua1 --devices 1..9": "8 614.4 GB/s",
        "predict fill --system noctua1 --devices 2 --scaling strong": "a problem of its own on each device",
        "predict fill --system noctua1 --transport host": "fill exchanges nothing over host",
    }
    all_say(copy, alone)
    model = copy / "python/fabricmark/models/fill.py"
    traits = "exchanges=True, on_grid=True, is_shared=True"
    text = model.read_text().replace("import Prediction", "import Prediction, Traits", 1)
    model.write_text(f"{text}\n\nTRAITS = Traits({traits})\n")
    on_grid = {
        "predict fill --system noctua1 --devices 1..9 --scaling strong": "9 111111 691.2 GB/s",
        "predict fill --system noctua1 --devices 5 --transport channels": "square grid of devices",
    }
    all_say(copy, on_grid)


def build_with(copy, files, libraries, programs):
    """Programs with these files, of which some libraries are compiled anew."""
    for name, text in files:
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).write_text(text)
    build = copy / "build/release"
    (build / "bin/fabricmark-describe").unlink(missing_ok=True)
    configure(copy, *UNITY)  # as the libraries and objects were
    for changed in libraries:
        target = Path(changed).stem.removeprefix("lib")  # and none of the libraries that it needs
        own = re.compile(rf" -o ({Path(changed).parent}/CMakeFiles/{target}\.dir/\S+\.o) -c ")
        for command in ninja_commands(build, changed):
            if "OutsideHeaders.cmake" in command:  # writes a header that the library includes
                execute(command, build)
            if found := own.search(command):
                execute(command, build)
                execute(f"ar r {changed} {found[1]}", build)
    for program in programs:
        for built in (ROOT / "build/release").glob(f"src/CMakeFiles/{program}.dir/**/*.o"):
            target = build / built.relative_to(ROOT / "build/release")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(built, target)
        for command in ninja_commands(build, program):
            links = f"-o bin/{program} " in command or f"-o bin/{program}\n" in command
            if f"{program}.dir" in command and "static" not in command and (links or program == DESCRIBE):
                execute(command, build)


UNITY = ("-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0")
DESCRIBE = "fabricmark-describe"
TEXTS = "src/runtime/libfabricmark_kernels.a"  # of transports and their options
# What is small over two boards.
OVER_BOARDS = {
    "b_eff": ("--largest", "3"),
    "ptrans": ("--size", "64", "--block-size", "16"),
    "hpl": ("--size", "64", "--block-size", "16"),
    "fft": ("--log-size", "10", "--vector-bytes", "16"),
    "shallow_water": ("--mesh", "bay:200", "--steps", "4"),
}


@pytest.mark.programs
@pytest.mark.full
def test_a_transport_of_kernels_is_a_folder_that_all_programs_run_over(copy, tmp_path):
    """Its cables' length is a part of the modelled time; a message that is lost on the way is found."""
    assert [Path(name).name for name, _ in OF_KERNELS] == ["transport.toml", "long_cable.cpp"]
    programs = [f"fm_{name}" for name in OVER_BOARDS]
    build_with(copy, OF_KERNELS, ["src/board/libfabricmark_board.a", TEXTS], [*programs, DESCRIBE])
    system = simulated_runs.exported(tmp_path, "noctua1", renamed_links)
    for name, small in OVER_BOARDS.items():
        ranks = "4" if name in ("hpl", "ptrans") else "2"
        command = (
            copy / f"build/release/bin/fm_{name}", "--transport", "long-cable", "--system", system, *small,
            "--ranks", ranks, "--repetitions", "1", "--timeout", "10", "--json", "-",
        )  # fmt: skip
        variables = {"FABRICMARK_KERNELS": str(copy / "kernels")}
        modelled = []
        for metres in ("10", "100000"):
            ended = run(*command, "--cable-m", metres, cwd=copy, **variables)
            assert ended.returncode == 0, (name, ended.stderr)
            result = json.loads(ended.stdout)
            assert {one["status"] for one in result["verdicts"]} == {"passed"}, name
            modelled.append([one["best"] for one in result["measurements"] if one["kind"] == "modelled"])
        assert modelled[0] and modelled[0] != modelled[1], name
        ended = run(*command, "--inject-fault", "lost@0", cwd=copy, **variables)
        assert ended.returncode == 1, (name, ended.stdout, ended.stderr)


@pytest.mark.programs
@pytest.mark.full
def test_an_algorithm_is_a_part_of_the_file_of_its_operation(copy, tmp_path):
    file = copy / "src/collectives/operations/broadcast.cpp"
    text = file.read_text().replace(
        "constexpr std::array kAlgorithms{", f"{LINE}\nconstexpr std::array kAlgorithms{{"
    )
    changed = text.replace("flat::kAlgorithm", "flat::kAlgorithm, line::kAlgorithm")
    build_with(copy, [(file, changed)], ["src/collectives/libfabricmark_collectives.a"], ["fm_collective"])
    for transport, name in (("channels", "noctua1"), ("accl-udp", "noctua2"), ("accl-rdma", "noctua2")):
        ended = run(
            copy / "build/release/bin/fm_collective", "broadcast", "--algorithm", "line", "--root", "1",
            "--ranks", "4", "--transport", transport, "--system", simulated_runs.exported(tmp_path, name),
            "--topology", "ring", "--sizes", "1KiB:4KiB", cwd=copy,
        )  # fmt: skip
        assert ended.returncode == 0 and " line " in ended.stdout, ended.stderr + ended.stdout


@pytest.mark.programs
@pytest.mark.full
def test_a_micro_benchmark_is_a_row(copy):
    file = copy / "src/microbench/omb/programs.cpp"
    changed = file.read_text().replace("};\n\n}  // namespace\n", f"{SWAP}}};\n\n}}  // namespace\n")
    build_with(copy, [(file, changed)], ["src/libfabricmark_omb.a"], ["fm_omb"])
    ended = run(copy / "build/release/bin/fm_omb", "swap", "--ranks", "2", "-m", "1:64", "H", "H", cwd=copy)
    assert ended.returncode == 0 and "Swap Latency Test" in ended.stdout, ended.stderr
    configured = (copy / "build/release/build.ninja").read_text()
    assert "create_symlink fm_omb fm_swap" in configured


def renamed_links(document):
    """A system whose boards have long cables in place of channels."""
    networks = document["topology"][0]["networks"]
    networks["long-cable"] = networks.pop("channels")


def test_a_launcher_is_a_file_in_a_folder_of_the_site(place):
    ((name, text),) = LAUNCHERS
    variables = with_launcher(place, name, STAND_IN) | site(place, **{name: text})
    shown = place.run("list", "--launchers", PBS_JOBID="1", **variables).stdout
    assert f"`--mpi` uses {name}, the first that is here" in shown
    done = place.run("run", "stream", "--mpi", "4", PBS_JOBID="1", **variables)
    assert done.returncode == 0, done.stderr
    assert launched(place)[0][1:5] == ["-n", "4", "-cc", "none"]
    outside = place.run("run", "stream", "--mpi", "4", **variables)
    assert outside.returncode == 3 and "PBS_JOBID is not set" in outside.stderr
    campaign = f'name = "c"\n[[runs]]\nbenchmark = "stream"\nmpi = 4\nlauncher = "{name}"\n'
    done = place.run("run", str(write(place, f"{campaign}ranks_per_host = 2\n")), **variables)
    assert done.returncode == 0, done.stderr
    assert launched(place)[1][1:7] == ["-n", "4", "-N", "2", "-cc", "none"]
    done = place.run("run", str(write(place, f'{campaign}hosts = ["nid1"]\n')), **variables)
    assert done.returncode == 2 and "aprun cannot place by hosts: no arguments.hosts in" in done.stderr


@pytest.mark.programs
@pytest.mark.full
def test_a_transport_is_a_folder_that_b_eff_runs_over(copy):
    """What lists the transports is compiled anew, the rest of the libraries is as built already."""
    assert [Path(name).name for name, _ in TRANSPORT] == ["transport.toml", "cable.cpp"]
    build = copy / "build/release"
    build_with(copy, TRANSPORT, ["src/transport/libfabricmark_transport.a", TEXTS], ["fm_b_eff", DESCRIBE])
    kernels = {"FABRICMARK_KERNELS": str(copy / "kernels")}
    own = ("--transport", "cable", "--cable-us", "2000", "--largest", "3", "--json", "-", "--ranks", "2")
    ended = run(build / "bin/fm_b_eff", *own, cwd=copy, **kernels)
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert {one["status"] for one in result["verdicts"]} == {"passed"}
    latencies = [one["best"] for one in result["measurements"] if one["name"] == "latency"]
    assert len(latencies) == 4 and min(latencies) >= 2000  # us: it is really this one
    ended = run(build / "bin/fm_b_eff", *own, "--inject-fault", "half", cwd=copy, **kernels)
    assert ended.returncode == 1, ended.stderr
    listed = run(
        sys.executable, "-m", "fabricmark", "list", "b_eff", cwd=copy, **kernels, COLUMNS="1000",
        FABRICMARK_ROOT=str(copy), PYTHONPATH=str(copy / "python"),
    )  # fmt: skip
    assert all(one in listed.stdout for one in ("--cable-us", "cable,", "a long cable")), listed.stdout

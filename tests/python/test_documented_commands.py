"""Every command line in README, CONTRIBUTING and docs is run as printed, in a clone after `make run`."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zlib

import grid_samples
import log_samples
import meshes
import pytest
import report_samples
import samples
import site_samples
import test_outside_transports as outside
from conftest import REPOSITORY, run_in_process
from fabricmark.base import paths
from fabricmark.inspect import llvm
from fabricmark.systems import calibration

PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted(REPOSITORY.glob("docs/**/*.md"))]
PROGRAM = r"(?:[\w.]+/)*(?:fabricmark|fm_\w+)"
FIRST = re.compile(rf"(?:{PROGRAM}|make|mpirun|cp)(?: .*|$)")
INLINE = re.compile(rf"`((?:(?:mpirun|srun)\b[^`\n]* )?{PROGRAM} [^`]+|make [^`]+)`")
MENTION = re.compile(r"fabricmark [a-z]+( new| show)?")  # in a sentence: a command, not a command line
# Words that stand for something of the reader's.
STAND_FOR = {
    "list NAME": "list stream",
    "FILES|FOLDERS": "results",
    "systems describe --like": "systems describe --force --like",  # which `clone` has
}
# What no test runs, and why. `make` builds, measures or tests everything: its targets have to exist.
EMULATED = "NAME --runtime fpga-emulator -- --variant channels"
COPIES = (
    "--smallest 20 --largest 20 --methods queued --memories page-aligned --repetitions 20 "
    "--overlap-bytes 65536"
)
PUBLISHED = "--bitstream-id u280_hbm_single/stream"
NOT_RUN = {
    "fabricmark systems new": "measures this machine for minutes; test_systems_new.py runs it",
    "fabricmark record --output program.trace -- mpirun -n 2 ./program": (
        "records a program of the reader's; test_record.py has one"
    ),
    "fabricmark systems network tcp -- mpirun -n 2 --mca btl tcp,self": (
        "measures this machine; test_systems_network.py has a launcher of its own"
    ),
    ".venv/bin/fabricmark run fill": "test_contributing.py builds the example and runs its program",
    **dict.fromkeys(
        (
            *(f"fabricmark run {EMULATED}".replace("NAME", x) for x in ("b_eff", "ptrans", "hpl")),
            "mpirun -n 1 -wdir cables/0 $program : -n 1 -wdir cables/1 $program",
        ),
        "needs the emulator; test_programs_channels.py runs the same",
    ),
    **dict.fromkeys(
        ("fabricmark mesh convert bay:1000 bay.vtu", "fabricmark mesh convert model.msh model.14"),
        "installs a library from PyPI; test_mesh_formats.py runs the same",
    ),
    "fabricmark mesh check fort.14 --projection cpp": "needs a mesh in degrees; test_mesh.py has one",
    **dict.fromkeys(
        (
            "fabricmark run gemm --system u280_hbm --emulate -- --size 1024",
            "fabricmark run gemm --system u280_hbm --emulate --backend opencl -- --size 1024",
            "fabricmark run ptrans --system u280_hbm --emulate --mpi 2 -- --transport host",
            "fabricmark run stream --system u280_hbm --emulate -- --size 100000",
            "fabricmark run gemm --system u280_hbm --emulate --backend opencl -- --size 512",
            "fabricmark run b_eff --system u280_hbm --emulate --mpi 2 -- --transport host --largest 4",
            f"fabricmark run host_transfer --system u280_hbm --emulate -- {COPIES}",
        ),
        "needs AMD's XRT; test_programs_xrt.py runs the same",
    ),
    **dict.fromkeys(
        (
            "fm_host_transfer --bitstream stream.xclbin",
            "fm_stream --bitstream stream.xclbin --json stream.json",
            "mpirun -n 2 fm_b_eff --bitstream b_eff.xclbin --transport host --json b_eff.json",
        ),
        "needs a card",
    ),
    "fabricmark run stream --system u280_hbm --emulate -- --size 65536": (
        "needs AMD's XRT; test_programs_xrt.py runs the same"
    ),
    "fabricmark run stream --runtime fpga-emulator -- --variant base --size 65536": (
        "needs the emulator; test_programs_channels.py runs with it"
    ),
    **dict.fromkeys(
        (
            f"fabricmark build stream --system u280_hbm {PUBLISHED} --tool-version 2022.2",
            "fabricmark build stream --system u280_hbm --tool v++ --target sw_emu --output sw_emu",
            f"fabricmark run stream --system u280_hbm {PUBLISHED} -- --bitstream bitstreams/stream.xclbin",
            "fabricmark run stream --system 520n --bitstream-id 520n_single/stream -- "
            "--bitstream bitstreams/stream.aocx",
        ),
        "needs the vendor's tool or a board, as first_figures.md says beside it",
    ),
    "c++ -std=c++20 main.cpp -o messages $(pkg-config --cflags --libs fabricmark) "
    "-DCL_TARGET_OPENCL_VERSION=200": "needs an installation; test_install.py has one and runs it",
    "fm_stream --power rapl": "needs counters that may be read; test_programs_power.py has stand-ins",
}
# What takes long: programs at their default sizes, fits, many runs, large meshes, what is fetched, and
# simulations of tens of ranks but one: test_simulate.py and test_applications.py run the others on fewer.
LONG = re.compile(
    r" (run|scale|ab|verify) (?!--help)|(^|[ /])fm_(?!\w+ --help)|mpirun|validate --fit|calibrate --again"
    r"| tune(?! --(show|help))| runtimes install| bay:27136 | --splits| --oversubscription | --background "
    r"| simulate (hpl|all_reduce|docs/examples/applications/\w+\.toml) | --fail "
)


def commands():
    """(page, command line without its comment), each once."""
    found: dict[tuple[str, str], None] = {}
    for page in PAGES:
        text = page.read_text()
        for line in lines_of_blocks(text):
            found[page.name, line] = None
        for inline in INLINE.findall(text):
            line = " ".join(inline.split())
            found[page.name, f"{line} --help" if MENTION.fullmatch(line) else line] = None
    return list(found)


def lines_of_blocks(text):
    """Lines of indented and fenced blocks that start as a command does, and every line of a shell's block."""
    language = None
    for line in text.splitlines():
        if line.startswith("```"):
            language = line[3:] if language is None else None
        elif language in ("sh", "bash", "console"):
            if language != "console" or line.startswith("$ "):
                yield re.sub(r"\s+# .*", "", line.removeprefix("$ ")).strip()
        elif language is None and line.startswith("    ") and FIRST.match(line.strip()):
            yield re.sub(r"\s+# .*", "", line).strip()


COMMANDS = commands()
SHELLS = re.compile(r"[|<>&;*?$`~#(){}]")
IN_SHELL = 10


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A folder that looks like a clone in which `make run` has run; (folder, environment)."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("build", "kernels", "systems", "data", "rtl", "src", "docs"):
        if (REPOSITORY / name).exists():
            (folder / name).symlink_to(REPOSITORY / name)
    script(folder / ".venv/bin/fabricmark", "from fabricmark.cli import app; app(prog_name='fabricmark')")
    script(folder / "tools-of-the-reader/ipmi-watts", "print(42)")
    folders = ("old", "new", "OLD_FOLDER", "NEW_FOLDER", "FOLDER_A", "FOLDER_B", "BEFORE", "AFTER")
    for name in ("results/run-20260101T000000Z", *folders):
        (folder / name).mkdir(parents=True)
        for number, document in enumerate((samples.result(), samples.b_eff())):
            (folder / name / f"{number}.json").write_text(json.dumps(document))
    site_samples.write_history(folder / "nights", 7)
    site_samples.write_night(folder / "tonight", 7)
    site_samples.write_look(folder / "look", [f"n{i}" for i in range(1, 7)])
    for name in ("old.log", "new.log"):
        (folder / name).write_text(log_samples.LATENCY)
    meshes.write_stations(folder / "reference.csv")
    grid_samples.write_sea(folder / "japan.nc", columns=280, window=((138, 152), (32, 44)))
    grid_samples.write_run(folder / "waves")
    (folder / "my").mkdir()
    shutil.copy(REPOSITORY / "systems/noctua1.toml", folder / "my/system.toml")
    shutil.copy(REPOSITORY / "data/published/hpcc_fpga_2021.csv", folder / "OTHER.csv")
    (folder / "other").symlink_to(folder)  # another build
    campaign = (REPOSITORY / "docs/campaign.md").read_text()
    (folder / "suite.toml").write_text(
        re.search(r"`suite.toml`:\n\n```toml\n(.*?)```", campaign, re.DOTALL)[1]
    )
    explore = (REPOSITORY / "docs/explore.md").read_text()
    for name in ("heat.toml", "prices.toml"):
        (folder / name).write_text(re.search(rf"`{name}`:\n\n```toml\n(.*?)```", explore, re.DOTALL)[1])
    outside.written(folder)
    (folder / "acl_quartus_report.txt").write_text(report_samples.QUARTUS)
    (folder / "gemm.aocx.toml").write_text('benchmark = "gemm"\n[parameters]\n')
    places = [folder / ".venv/bin", folder / "build/release/bin", folder / "tools-of-the-reader"]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([*map(str, places), os.environ["PATH"]]),
        "PYTHONPATH": str(REPOSITORY / "python"),
        "FABRICMARK_ROOT": str(folder),
        "FABRICMARK_CACHE": str(folder / "cache"),
        "FABRICMARK_SYSTEMS": str(folder / "own-systems"),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",  # of a test's machine with fewer cores than ranks
    }
    calibrate(folder / "cache")
    described = run_in_process(
        ["systems", "describe", "--like", "u280_hbm", "my_board"], environment, folder, folder
    )
    assert described.returncode == 0, described.stderr
    for words in ("baseline set spring --history nights", "history import nights"):
        kept = run_in_process(words.split(), environment, folder, folder)
        assert kept.returncode == 0, kept.stderr
    return folder, environment


def calibrate(cache):
    """As after `make run`: the device is known, so that models stand beside what was measured."""
    document = samples.calibration()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FABRICMARK_CACHE", str(cache))
        paths.write_atomically(calibration.file_for(document), json.dumps(document))


def script(path, code):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{code}\n")
    path.chmod(0o755)


def run(clone, line):
    """As a shell does it; in this process where nothing in the line is the shell's, but one in so many."""
    for words, stand_in in STAND_FOR.items():
        line = line.replace(words, stand_in)
    folder, environment = clone
    program = line.split()[0]
    is_plain = program.endswith("fabricmark") and not SHELLS.search(line)
    if is_plain and zlib.crc32(line.encode()) % IN_SHELL:
        return run_in_process(shlex.split(line)[1:], environment, folder, folder)
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=900,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def check(clone, line):
    if "--kernel-file mine.cl" in line:
        shutil.copy(REPOSITORY / "kernels/stream/base.cl", clone[0] / "mine.cl")
    done = run(clone, line)
    # `ab` says 1 where the second command is slower: two runs of the same code on a busy machine may.
    allowed = (0, 1) if " ab " in line else (0,)
    assert done.returncode in allowed, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    assert "Traceback" not in done.stderr


# What several pages print is run once, as a line of the first of them.
ONCE = {line: page for page, line in reversed(COMMANDS)}
RUN = [
    (page, line)
    for page, line in COMMANDS
    if ONCE[line] == page and line not in NOT_RUN and not line.startswith("make ")
]
QUICK = [(page, line) for page, line in RUN if not LONG.search(line)]
SLOW = [(page, line) for page, line in RUN if LONG.search(line)]


def test_commands_are_found():
    assert len(COMMANDS) > 40 and len(QUICK) > 20 and len(SLOW) > 15
    known = {line for _, line in COMMANDS}
    assert set(NOT_RUN) <= known, f"no longer in the docs: {set(NOT_RUN) - known}"


@pytest.mark.parametrize("page, line", QUICK, ids=[f"{page}: {line}" for page, line in QUICK])
def test_command(clone, page, line):
    needs_programs = "fm_" in line or line.startswith("c++ ") or "--devices" in line.split()[2:3]
    if needs_programs and not (REPOSITORY / "build/release/bin/fm_stream").exists():
        pytest.skip("the programs are not built")
    is_compiled = " inspect " in line or ("--target sw_emu" in line and "--dry-run" not in line)
    if is_compiled and not llvm.is_present():
        pytest.skip("no clang-15, which inspect would install")
    check(clone, line)


@pytest.mark.full
@pytest.mark.programs
@pytest.mark.parametrize("page, line", SLOW, ids=[f"{page}: {line}" for page, line in SLOW])
def test_command_that_takes_long(clone, page, line):
    if "mpi" in line and shutil.which("mpirun") is None:
        pytest.skip("no mpirun")
    check(clone, line)


def test_targets_of_make_exist():
    targets = {line.split()[1] for _, line in COMMANDS if line.startswith("make ")}
    assert {"run", "test", "build"} <= targets
    rules = (REPOSITORY / "Makefile").read_text()
    for target in targets:
        assert re.search(rf"^{target}(?: [\w-]+)*:", rules, re.MULTILINE), target

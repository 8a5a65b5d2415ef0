"""Kernels for Intel's external channels, on Intel's FPGA emulator, which knows channels; skipped without it.

One device alone has channels that end on itself. Boards whose channels are joined by cables are processes,
each in the folder where the emulator finds its channels' files (tools/emulated_cables.py).
"""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

import pytest
from conftest import REPOSITORY
from fabricmark import results
from fabricmark.base import kernels
from stream_program import KERNELS, devices, mpirun, on_a_device, on_emulator, one_error

pytestmark = [pytest.mark.programs, pytest.mark.full]
CHANNELS = ("--variant", "channels", "--repetitions", 2)
# As many kernels wait for each other on each board, however many boards share the cores.
THREADS = {"CL_CONFIG_CPU_TBB_NUM_WORKERS": "32"}


@dataclass(frozen=True)
class Design:
    """Options of short runs, numbers of boards with their cables, and kernels that a check has to find.

    Of `wrong` the first text stands once in the kernels and becomes the second. `more`: options for so many
    boards.
    """

    words: tuple
    boards: dict[int, tuple[str, ...]]
    wrong: tuple[tuple[str, str], ...]
    more: dict[int, tuple] = field(default_factory=dict)


def ring(boards):
    """Cables of b_eff: to the right from the channels 0 and 1, to the left from 2 and 3."""
    return tuple(f"{one}:{lane}-{(one + 1) % boards}:{lane + 2}" for one in range(boards) for lane in (0, 1))


def torus(rows, columns):
    """Cables of HPL: to the right from channel 0 to 1, down from 2 to 3."""
    place = [(row, column) for row in range(rows) for column in range(columns)]
    right = [
        f"{row * columns + column}:0-{row * columns + (column + 1) % columns}:1" for row, column in place
    ]
    down = [f"{row * columns + column}:2-{(row + 1) % rows * columns + column}:3" for row, column in place]
    return (*right, *down)


DESIGNS = {
    "b_eff": Design(
        words=("--largest", 8, "--messages", 3),
        boards={2: ring(2), 3: ring(3)},
        wrong=(
            (
                "sent.words[1].bytes[k] = b_eff_byte(begin, WORD_BYTES + k);",
                "sent.words[1].bytes[k] = b_eff_byte(begin, k);",
            ),
            # The message before once more.
            (
                "const uchar told = read_channel_intel(ARRIVED);\n      value = b_eff_next(value);",
                "const uchar told = read_channel_intel(ARRIVED);",
            ),
            ("write_channel_intel(OUT(1), sent.words[1]);", "write_channel_intel(OUT(1), sent.words[0]);"),
            # A chunk in the middle of a message, which only the kernel sees.
            (
                "write_channel_intel(OUT(0), sent.words[0]);",
                "word corrupted = sent.words[0]; if (i == 1) corrupted.bytes[3] ^= 16;"
                " write_channel_intel(OUT(0), i + 1 < chunks ? corrupted : sent.words[0]);",
            ),
        ),
    ),
    "ptrans": Design(
        words=("--size", 90, "--block-size", 16, "--replications", 2, "--round-blocks", 2),
        boards={2: ("0:0-1:0", "0:1-1:1"), 4: ("0:0-0:1", "1:0-2:0", "1:1-2:1", "3:0-3:1")},
        more={2: ("--distribution", "diagonal")},
        wrong=(
            ("(number + 1) % 2", "number % 2"),  # the block in progress
            ("= b[to + start + k] + arrived", "= arrived"),
            ("sources[first + number]", "sources[number]"),  # the other replica's
            ("targets[first + number]", "targets[first]"),
        ),
    ),
    "hpl": Design(
        words=("--size", 60, "--block-size", 16, "--register-block", 4, "--replications", 2),
        boards={2: torus(1, 2), 4: torus(2, 2)},
        wrong=(
            ("= upper_factor(", "= lower_factor("),
            ("solve_top(block, factor);", ""),
            (
                "data = read_channel_intel(blocks_of_left);",
                "{ data = read_channel_intel(blocks_of_left); if (i == 5) data.elements[2] = 0; }",
            ),
            ("top_panel + (top_start + j) *", "top_panel + j *"),
        ),
    ),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_one_board_is_valid(tmp_path_factory, name):
    done = on_emulator(tmp_path_factory, name).valid(*DESIGNS[name].words, *CHANNELS)
    assert done.document["run"]["variant"] == "channels"
    assert done.document["parameters"]["transport"] == "channels"
    assert {measurement["kind"] for measurement in done.document["measurements"]} == {"emulated"}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_wrong_result_is_found(tmp_path_factory, name):
    """Also `element`, of one of several boards: below."""
    for fault in ("scale", "zeros", "stale"):
        words = (*DESIGNS[name].words, *CHANNELS, "--inject-fault", fault)
        assert on_emulator(tmp_path_factory, name).run(*words).code == 1, fault


@pytest.mark.parametrize("name, change", [(name, x) for name, one in DESIGNS.items() for x in one.wrong])
def test_a_wrong_kernel_is_found(tmp_path_factory, tmp_path, name, change):
    shipped = (KERNELS / name / "channels.cl").read_text()
    assert shipped.count(change[0]) == 1
    wrong = tmp_path / "wrong.cl"
    wrong.write_text(shipped.replace(*change))
    words = (*DESIGNS[name].words, *CHANNELS, "--kernel-file", wrong)
    assert on_emulator(tmp_path_factory, name).run(*words).code == 1


def on_boards(factory, name, boards, *words):
    """What a run of processes gives, on so many boards whose channels the design's cables join."""
    made = on_emulator(factory, name)
    folder = made.folder / "boards"
    cables = DESIGNS[name].boards[boards]
    command = [sys.executable, REPOSITORY / "tools" / "emulated_cables.py", folder, *cables]
    subprocess.run(command, check=True)
    path = made.new_file()
    design = DESIGNS[name]
    words = [*design.words, *design.more.get(boards, ()), *CHANNELS, *words, "--json", path]
    words += ["--internal-channels", "false"]
    launcher = mpirun(1)
    for board in range(boards - 1):
        launcher += ["-wdir", folder / str(board), made.program, *words, ":", "-n", "1"]
    launcher += ["-wdir", folder / str(boards - 1)]
    done = made.start(*words, launcher=launcher, variables=THREADS)
    done.document = results.load(path).document
    return done


@pytest.mark.parametrize("name", DESIGNS)
def test_boards_with_cables_are_valid(tmp_path_factory, name):
    boards = max(DESIGNS[name].boards)
    done = on_boards(tmp_path_factory, name, boards)
    assert done.code == 0, done.errors
    assert len(done.document["environment"]["ranks"]["placement"]) == boards
    assert {verdict["status"] for verdict in done.document["verdicts"]} == {"passed"}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_wrong_result_of_one_board_is_found(tmp_path_factory, name):
    done = on_boards(tmp_path_factory, name, min(DESIGNS[name].boards), "--inject-fault", "element@1")
    assert done.code == 1
    worst = [one["worst"]["rank"] for one in done.document["verdicts"] if one["status"] == "failed"]
    assert worst and (name == "hpl" or set(worst) == {1})  # HPL's is in a solution that all ranks have


def test_more_boards_than_channels_join_and_too_few_threads_are_refused(tmp_path_factory):
    for name, design in DESIGNS.items():
        made = on_emulator(tmp_path_factory, name)
        line = one_error(made.run(*design.words, *CHANNELS, "--ranks", 2), codes=(2,))
        assert "--internal-channels false" in line, name
        few = {"CL_CONFIG_CPU_TBB_NUM_WORKERS": "2"}  # for kernels that wait for each other
        line = one_error(made.run(*design.words, *CHANNELS, variables=few), codes=(2,))
        assert "CL_CONFIG_CPU_TBB_NUM_WORKERS" in line, name


def test_a_device_without_channels_is_refused(tmp_path_factory):
    for name, design in DESIGNS.items():
        made = on_a_device(tmp_path_factory, name)
        if devices(made)[0]["class"] == "emulator":
            pytest.skip("the device that there is is the emulator")
        line = one_error(made.run(*design.words, *CHANNELS), codes=(2,))
        assert "channels need the compiler for Intel's FPGAs or their emulator" in line, name


def test_hpl_is_valid_without_lookahead_and_in_double_precision(tmp_path_factory):
    words = ("--lookahead", "false", "--data-type", "double")
    on_emulator(tmp_path_factory, "hpl").valid(*DESIGNS["hpl"].words, *CHANNELS, *words)


def preprocessed(command):
    """The source as Intel's compiler would see it."""
    words = re.findall(r"-[ID] ?\S+|\S+\.cl", command)
    done = subprocess.run(
        ["g++", "-E", "-P", "-x", "c", "-DINTELFPGA_CL", *" ".join(words).split()],
        cwd=KERNELS, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
@pytest.mark.parametrize("name", DESIGNS)
def test_the_documented_commands_make_the_design_for_the_board(name):
    """Kernels of each replica, and the channels of the board, not of the emulator."""
    page = (REPOSITORY / "docs" / "channels.md").read_text()
    (command,) = re.findall(rf"^ +(aoc .*{name}/channels\.cl)$", page, re.MULTILINE)
    source = preprocessed(command)
    variant = kernels.kernel(name).variants["channels"]
    copies = int(re.search(r"REPLICATIONS=(\d)", command)[1])
    names = [one for one in variant["entry_points"] if one not in variant["replicated"]]
    names += [f"{one}_{i}" for i in range(copies) for one in variant["replicated"]]
    assert re.findall(r"__kernel void (\w+)\(", source) == names
    files = re.findall(r'io\("kernel_" "(\w+)" "_ch" "(\d)"\)', source)
    assert sorted(files) == [(way, str(i)) for way in ("input", "output") for i in range(4)]
    inside = preprocessed(command.replace("INTERNAL_CHANNELS=0", "INTERNAL_CHANNELS=1"))
    assert "io(" not in inside and inside.count("channel word out_") == 4


def test_cables_that_cannot_be_are_refused(tmp_path):
    def refused(*cables):
        words = [sys.executable, REPOSITORY / "tools" / "emulated_cables.py", tmp_path / "new", *cables]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        return done.stderr

    assert "'0:0' has not two ends" in refused("0:0")
    assert "channel 1 of board 0 has two cables" in refused("0:1-1:1", "0:1-2:0")
    (tmp_path / "new").mkdir()
    assert "is there already" in refused("0:0-0:0")

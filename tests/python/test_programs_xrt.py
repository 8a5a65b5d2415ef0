"""The programs under AMD's XRT, on emulated cards: valid by OpenCL, and what goes wrong is named in one line.

XRT's libraries are AMD's, the card and its bitstreams ours. Skipped where XRT is not installed.
"""

import json
import re
import shlex
import shutil

import pytest
from conftest import REPOSITORY
from fabricmark.base import xrt
from fabricmark.build import card, design, steps, xclbin
from stream_program import PROGRAM, Stream, devices, one_error

pytestmark = [
    pytest.mark.programs,
    pytest.mark.usefixtures("of_the_repository"),
    pytest.mark.skipif(xrt.find() is None, reason="AMD's XRT is not installed"),
    pytest.mark.skipif(shutil.which(steps.CLANG) is None, reason=f"{steps.CLANG} is not installed"),
]

FULL = pytest.mark.full
SKIPPING = REPOSITORY / "build" / "release" / "tests" / "unit" / "libskipping_xrt.so"
BLOCKING = SKIPPING.with_name("libblocking_runtime.so")
NATIVE = {xrt.BACKEND: "xrt"}
CHOSEN = {xrt.BACKEND: None}  # by the program
PRIVATE = {"FABRICMARK_CARD_MEMORY": "private"}
ONCE = ("--repetitions", 1, "--warmup", 0)
SIZES = {
    "stream": ("--size", 100000),
    "gemm": ("--size", 512),
    "fft": ("--batch", 8),
    "ptrans": ("--size", 512),
    "hpl": ("--size", 512),
    "random_access": ("--log-size", 23),
    "host_transfer": ("--smallest", 12, "--largest", 13, "--overlap-bytes", 65536),
    "b_eff": ("--largest", 4),
}

# Each program with each pair of: backend and memory, backend and number of compute units, memory and number.
PAIRS = (("opencl", "u280_hbm", 1), ("opencl", "u280_ddr", 2), ("xrt", "u280_hbm", 2), ("xrt", "u280_ddr", 1))
SMALL = SIZES | {
    "stream": ("--size", 20000), "gemm": ("--size", 256), "fft": ("--batch", 2), "ptrans": ("--size", 256),
    "hpl": ("--size", 256), "random_access": ("--log-size", 14),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("xrt")


@pytest.fixture(scope="module")
def boards():
    """The environment of each board's emulated cards, two of each; folders of a module's tests."""
    made = {}
    yield made
    for context, _ in made.values():
        context.__exit__(None, None, None)


@pytest.fixture
def on_card(folder, boards):
    """How to run a program on a card that has a bitstream for it."""

    def environment(board, description):
        if board not in boards:
            context = xrt.emulated_cards(xclbin.emulation_config(description, 2))
            boards[board] = (context, context.__enter__())
        return dict(boards[board][1])

    def run(
        name,
        board="u280_hbm",
        replications=None,
        change=None,
        words=None,
        variables=None,
        other=None,
        language=design.OPENCL,
        **built,
    ):
        made, description = build(folder, name, board, replications, change, language, **built)
        program = Stream(folder, PROGRAM.with_name(f"fm_{name}"))
        program.environment.update(environment(board, description))
        # By OpenCL where a test says nothing: None leaves the choice to the program.
        variables = {xrt.BACKEND: "opencl", **(variables or {})}
        variables = {name: value for name, value in variables.items() if value is not None}
        preloaded = [str(SKIPPING)] if variables.pop("skips", False) else []
        preloaded += [str(BLOCKING)] if "FABRICMARK_BLOCKED" in variables else []
        program.environment.update(variables)
        own = program.environment.get("LD_PRELOAD")
        program.environment["LD_PRELOAD"] = ":".join([*preloaded, *([own] if own else [])])
        program.environment["FABRICMARK_KERNELS"] = str(REPOSITORY / "kernels")
        words = SIZES[name] if words is None else words
        # XRT signals the group of the program's processes when a card dies.
        return program.run("--bitstream", other or made.bitstream, *ONCE, *words, launcher=("setsid",))

    return run


def build(folder, name, board, replications, change=None, language=design.OPENCL, **given):
    """The bitstream of a benchmark and its description; `change` makes what the card is told of that."""
    given |= {"replications": str(replications)} if replications else {}
    bitstream = f"{board}_single/{name}" if board == "u280_ddr" and name in OF_SEVERAL else None
    found = design.resolve(name, "base", board, bitstream, given).in_language(language)
    values = "-".join(f"{one}-{value}" for one, value in sorted(given.items()))
    own = f"{board}-{name}-{values}-{getattr(change, '__name__', '')}-{language}"
    made = card.steps(found, None, folder / own, [])
    description = card.describe(found, None)
    if change is not None:
        entry = next(file for file in made.files if file.name.endswith(".card.c"))
        made.files[entry] = change(description)
    if not made.bitstream.is_file():
        steps.carry_out(made)
    return made, description


OF_BOTH = ("stream", "gemm", "fft", "ptrans", "hpl", "random_access")  # languages
OF_SEVERAL = ("stream", "gemm", "fft", "random_access")  # of which the board has several


def check_valid(done):
    assert done.code == 0, (done.errors, done.output)
    assert done.document["environment"]["device"]["emulated"]
    assert {one["kind"] for one in done.document["measurements"]} == {"emulated"}


@pytest.mark.parametrize(("backend", "name", "board", "replications"), [
    ("opencl", "host_transfer", "u280_hbm", None),
    ("xrt", "host_transfer", "u280_ddr", None),  # buffers that the host touches first
    ("opencl", "ptrans", "u280_ddr", 2),
    ("opencl", "b_eff", "u280_hbm", None),  # a scalar of one byte
    ("xrt", "b_eff", "u280_hbm", None),
    ("xrt", "gemm", "u280_hbm", 2),
    *(pytest.param(backend, name, board, replications, marks=FULL)
      for backend in xrt.NAMES
      for name in OF_BOTH
      for board in ("u280_hbm", "u280_ddr") for replications in (1, 2)),
    pytest.param("opencl", "host_transfer", "u280_ddr", None, marks=FULL),
])  # fmt: skip
def test_results_are_valid_and_emulated(on_card, backend, name, board, replications):
    done = on_card(name, board, replications, variables={xrt.BACKEND: backend})
    check_valid(done)
    assert done.document["environment"]["device"]["platform"] == xrt.NAMES[backend]


@pytest.mark.parametrize(("backend", "name", "board", "replications"), [
    *(("opencl", name, "u280_hbm", 2) for name in OF_BOTH if name != "random_access"),
    *(pytest.param(*how, marks=FULL) for name in OF_BOTH for how in (
        ("opencl", name, "u280_hbm", 1), ("xrt", name, "u280_hbm", 2),  # RandomAccess takes long
        ("xrt", name, "u280_ddr", 1), ("opencl", name, "u280_ddr", 2))),
])  # fmt: skip
def test_kernels_in_hls_cpp_are_valid(on_card, backend, name, board, replications):
    done = on_card(name, board, replications, language=design.HLS, variables={xrt.BACKEND: backend})
    check_valid(done)
    assert done.document["run"]["kernel"]["language"] == design.LANGUAGES[design.HLS]


def test_random_access_in_hls_cpp_loses_no_update_of_a_small_table(on_card):
    """Where it waits for each, as with buffers of one item."""
    words = ("--log-size", 14)
    check_valid(on_card("random_access", replications=2, language=design.HLS, words=words, buffer_size="1"))


@pytest.mark.parametrize("name", ["fft", "hpl"])
def test_both_backends_give_the_same_bits(on_card, name):
    """Of the errors that were found, which a single other bit would change."""
    errors = []
    for backend in xrt.NAMES:
        done = on_card(name, replications=2, words=SMALL[name], variables={xrt.BACKEND: backend})
        check_valid(done)
        errors.append([(one["name"], one["error"]) for one in done.document["verdicts"]])
    assert errors[0] == errors[1]


def test_a_copy_that_was_forgotten_shows_in_private_memory_only(on_card):
    """Natively host and card share pages unless told not to: then what is copied has to be asked for."""
    if not SKIPPING.exists():
        pytest.skip("libskipping_xrt.so is not built")
    check_valid(on_card("stream", replications=2, variables=NATIVE | PRIVATE))
    assert on_card("stream", replications=2, variables=NATIVE | {"skips": True}).code == 0
    forgotten = on_card("stream", replications=2, variables=NATIVE | PRIVATE | {"skips": True})
    assert forgotten.code == 1, forgotten.errors


@pytest.mark.parametrize("name", OF_BOTH)
def test_both_backends_are_valid_on_both_memories(on_card, name):
    # Of a small table RandomAccess loses too many updates unless each waits for the one before.
    built = {"buffer_size": "1"} if name == "random_access" else {}
    for backend, board, replications in PAIRS:
        variables = {xrt.BACKEND: backend}
        done = on_card(name, board, replications, words=SMALL[name], variables=variables, **built)
        check_valid(done)
        assert done.document["environment"]["device"]["platform"] == xrt.NAMES[backend]
        assert done.document["parameters"]["replications"] == replications


def test_an_option_chooses_the_backend(on_card):
    """Whatever the variable says."""
    for backend, other in zip(xrt.NAMES, reversed(xrt.NAMES), strict=True):
        words = (*SIZES["stream"], "--backend", backend)
        done = on_card("stream", replications=1, words=words, variables={xrt.BACKEND: other})
        check_valid(done)
        assert done.document["environment"]["device"]["platform"] == xrt.NAMES[backend]


def interface_notes(done):
    return [note for note in done.document["notes"] if "to the board of the .xclbin" in note]


def test_an_xclbin_is_taken_natively(on_card):
    """Where nobody has named a backend; the result says which one was taken, and why."""
    done = on_card("stream", replications=1, variables=CHOSEN)
    check_valid(done)
    assert done.document["environment"]["device"]["platform"] == xrt.NAMES["xrt"]
    assert interface_notes(done) == [
        "XRT speaks to the board of the .xclbin by its own interface; --backend opencl by OpenCL"
    ]


@pytest.mark.parametrize("words", [("--backend", "opencl"), ("--platform", xrt.NAMES["opencl"])])
def test_an_xclbin_goes_by_opencl_where_that_is_named(on_card, words):
    done = on_card("stream", replications=1, words=(*SIZES["stream"], *words), variables=CHOSEN)
    check_valid(done)
    assert done.document["environment"]["device"]["platform"] == xrt.NAMES["opencl"]
    assert interface_notes(done) == []


def test_a_bitstream_of_another_name_goes_by_opencl(on_card, folder):
    made, _ = build(folder, "stream", "u280_hbm", 1)
    other = folder / "stream.binary"
    shutil.copy(made.bitstream, other)
    shutil.copy(made.sidecar_file, f"{other}.toml")
    done = on_card("stream", replications=1, other=other, variables=CHOSEN)
    check_valid(done)
    assert done.document["environment"]["device"]["platform"] == xrt.NAMES["opencl"]
    assert interface_notes(done) == []


def test_an_xclbin_goes_by_opencl_where_xrts_library_is_not_found(on_card, tmp_path):
    """And the result says why. XRT's drivers are there, as its OpenCL needs them."""
    libraries = tmp_path / "lib"
    libraries.mkdir()
    for one in xrt.require().folder.glob("libxrt*"):
        if not one.name.startswith("libxrt_coreutil"):
            (libraries / one.name).symlink_to(one)
    done = on_card("stream", replications=1, variables=CHOSEN | {"XILINX_XRT": str(tmp_path)})
    check_valid(done)
    assert done.document["environment"]["device"]["platform"] == xrt.NAMES["opencl"]
    (note,) = interface_notes(done)
    assert note.startswith(
        "OpenCL speaks to the board of the .xclbin: natively, AMD's runtime cannot be loaded"
    )
    words = (*SIZES["stream"], "--backend", "xrt")
    named = on_card("stream", replications=1, words=words, variables={"XILINX_XRT": str(tmp_path)})
    assert "AMD's runtime cannot be loaded" in one_error(named)


def test_a_backend_that_cannot_be_is_named(on_card, folder, boards):
    words = (*SIZES["stream"], "--backend", "xrt")
    done = on_card("stream", replications=1, words=words, variables={"FABRICMARK_SYCL": "/nowhere"})
    assert "--backend xrt, but FABRICMARK_SYCL chooses SYCL" in one_error(done)
    program = Stream(folder)
    program.environment.update(boards["u280_hbm"][1])
    assert "give a bitstream with --bitstream" in one_error(program.start(*words, launcher=("setsid",)))
    program.environment["XILINX_XRT"] = "/nowhere"
    assert "AMD's runtime cannot be loaded" in one_error(program.start(*words, launcher=("setsid",)))
    wrong = program.start(*words[:-1], "hip")
    assert wrong.code == 2 and "--backend" in one_error(wrong)


def test_micro_benchmarks_take_the_backend(folder):
    program = Stream(folder, PROGRAM.with_name("fm_latency"))
    program.environment["XILINX_XRT"] = "/nowhere"
    words = ("--ranks", "2", "-m", "4:4", "D", "D")
    assert "AMD's runtime cannot be loaded" in one_error(program.start(*words, "--backend", "xrt"))
    assert "--backend" in one_error(program.start(*words, "--backend", "hip"))


@pytest.mark.parametrize("name", ["b_eff", "ptrans"])
@pytest.mark.parametrize("backend", xrt.NAMES)
def test_ranks_of_one_process_have_a_card_each(on_card, backend, name):
    """XRT crashes where a device is opened twice and closed once; a rank may end before the others."""
    words = (*SMALL[name], "--ranks", "2", "--transport", "host")
    check_valid(on_card(name, words=words, variables={xrt.BACKEND: backend}))


@pytest.mark.parametrize("backend", xrt.NAMES)
def test_numbers_of_two_and_of_eight_bytes_arrive(on_card, backend):
    """As arguments; b_eff has one of a byte, and most are of four."""
    for data_type in ("half", "double"):
        words = ("--size", 4096, "--data-type", data_type)
        done = on_card("stream", replications=1, data_type=data_type, words=words,
                       variables={xrt.BACKEND: backend})  # fmt: skip
        check_valid(done)


@pytest.mark.parametrize("backend", xrt.NAMES)
def test_an_unknown_kernel_is_named(on_card, folder, backend):
    """Of a bitstream of another benchmark, whose sidecar is not its own."""
    made, _ = build(folder, "stream", "u280_hbm", 1)
    wrong, _ = build(folder, "ptrans", "u280_hbm", 1)
    other = folder / f"other-{backend}.xclbin"
    shutil.copy(wrong.bitstream, other)
    shutil.copy(made.sidecar_file, f"{other}.toml")
    done = on_card("stream", replications=1, other=other, variables={xrt.BACKEND: backend})
    line = one_error(done)
    assert "stream" in line and "transpose" in line  # what is missed, and what there is


@pytest.mark.parametrize("kind", ["host-pointer", "peer"])
def test_other_memory_of_xrt_is_valid_natively(on_card, kind):
    """Of the host, and of the board for others (xrt::bo's flags host_only and p2p)."""
    done = on_card("stream", replications=2, words=(*SIZES["stream"], "--memory", kind), variables=NATIVE)
    check_valid(done)
    assert done.document["parameters"]["memory"] == kind


def test_memory_that_xrt_has_none_of_is_refused(on_card):
    words = (*SIZES["stream"], "--memory", "svm")
    assert "offers no shared virtual memory" in one_error(on_card("stream", words=words, variables=NATIVE))
    words = (*SIZES["b_eff"], "--transport", "nvlink", "--ranks", "2")
    assert "the transport nvlink joins GPUs" in one_error(on_card("b_eff", words=words, variables=NATIVE))


@pytest.mark.parametrize("backend", xrt.NAMES)
def test_compute_units_run_at_the_same_time(on_card, backend):
    """Each ends only when the other one has been started: XRT's clFlush would wait for the first for ever."""
    variables = {"FABRICMARK_CARD_FAULT": "meeting", "FABRICMARK_CARD_SECONDS": "20", xrt.BACKEND: backend}
    check_valid(on_card("stream", replications=2, variables=variables))


def in_another_bank(description):
    """What the card is told of the first argument: a bank that the runtime does not know of."""
    corrupted = json.loads(json.dumps(description))
    corrupted["units"][0]["arguments"][0]["banks"] = [7]
    return card.entry_source(corrupted)


@pytest.mark.parametrize("backend", xrt.NAMES)
def test_a_buffer_in_a_wrong_bank_is_found(on_card, backend):
    done = on_card("stream", replications=1, change=in_another_bank, variables={xrt.BACKEND: backend})
    assert "stream_1's argument first is connected to HBM[7], and its buffer lies in HBM[0]" in done.errors
    assert done.code != 0 and done.document is None


def with_a_null_pointer(description):
    return card.entry_source(description).replace("{\n", "{\n  *(volatile int *)0 = 1;\n")


def test_a_kernel_that_crashes_is_named(on_card):
    done = on_card("stream", replications=1, change=with_a_null_pointer)
    assert "the kernel of stream_1 ended with signal 11; " in done.errors and done.document is None


def test_a_register_map_that_is_cut_short_is_found(on_card, monkeypatch):
    """XRT does so where the size of the last scalar is no whole word."""
    monkeypatch.setattr(xclbin, "WORD", 1)
    monkeypatch.setattr(steps.subprocess, "run", run_here(steps.subprocess.run))
    done = on_card("b_eff", transport="host")
    assert "touch_1 was started without its argument value in the register map" in done.errors


def run_here(usual):
    """Instead of a process of Python the writer itself, as it was changed here."""

    def run(command, **how):
        if "fabricmark.build.xclbin" not in command:
            return usual(command, **how)
        xclbin.main(*map(xclbin.Path, command[-3:]))
        return usual(["true"], **how)

    return run


@pytest.mark.parametrize("backend", xrt.NAMES)
@pytest.mark.parametrize(("fault", "line"), [
    ("signal", "exited unexpectedly"),
    ("exit", "a kernel called exit; (.|\n)*exited unexpectedly"),
    ("silence", "a call of the runtime was not answered within 2 s; "),
    ("endless", "the kernel of stream_"),
])  # fmt: skip
def test_a_card_that_fails_ends_the_program(on_card, fault, line, backend):
    """Within the limits, with a line, and without a result."""
    seconds = "2" if fault in ("silence", "endless") else "20"
    variables = {"FABRICMARK_CARD_FAULT": fault, "FABRICMARK_CARD_SECONDS": seconds, xrt.BACKEND: backend}
    words = (*SIZES["stream"], "--kernel-timeout", "20")
    done = on_card("stream", replications=2, words=words, variables=variables)
    assert done.code != 0 and re.search(line, done.errors) and done.document is None


@pytest.mark.parametrize(("call", "backend"), [
    ("xrtRunStart", "xrt"),
    pytest.param("xrtBOAlloc", "xrt", marks=FULL),
    pytest.param("xrtBOSync", "xrt", marks=FULL),
    pytest.param("xrtDeviceLoadXclbin", "xrt", marks=FULL),
    pytest.param("clEnqueueNDRangeKernel", "opencl", marks=FULL),
    pytest.param("clSetKernelArg", "opencl", marks=FULL),
    pytest.param("clCreateProgramWithBinary", "opencl", marks=FULL),
])  # fmt: skip
def test_a_call_of_amds_libraries_that_never_returns_is_named(on_card, call, backend):
    if not BLOCKING.exists():
        pytest.skip("libblocking_runtime.so is not built")
    words = (*SIZES["stream"], "--kernel-timeout", "1")
    variables = {xrt.BACKEND: backend, "FABRICMARK_BLOCKED": call}
    done = on_card("stream", replications=2, words=words, variables=variables)
    assert done.code == 3 and " has not ended in 1 s; " in one_error(done)


def test_many_compute_units_bring_advice(on_card, folder, monkeypatch):
    """Unless an xrt.ini speaks of the schedulers."""
    settings = folder / "xrt.ini"
    settings.write_text("[Runtime]\nverbosity=4\n")
    variables = {"XRT_INI_PATH": str(settings)}
    words = ("--size", 100000)
    done = on_card("stream", replications=16, words=words, variables=variables)
    check_valid(done)
    assert any(note.startswith("16 compute units: on a board compare") for note in done.document["notes"])
    settings.write_text("[Runtime]\nert = false\n")
    for number in (16, 2):
        if number == 2:
            settings.unlink()
        done = on_card("stream", replications=number, words=words, variables=variables)
        assert not any("compute units" in note for note in done.document["notes"])


@pytest.mark.parametrize("backend", xrt.NAMES)
def test_a_missing_compute_unit_is_named(on_card, folder, backend):
    made, _ = build(folder, "stream", "u280_hbm", 1)
    two = folder / f"two-{backend}"
    shutil.copytree(made.bitstream.parent, two)
    sidecar = two / made.sidecar_file.name
    sidecar.write_text(sidecar.read_text().replace("replications = 1", "replications = 2"))
    other = two / made.bitstream.name
    done = on_card("stream", replications=1, other=other, variables={xrt.BACKEND: backend})
    assert "stream:{stream_2}" in one_error(done)


@pytest.mark.parametrize("backend", xrt.NAMES)
def test_kernels_of_several_work_items_are_refused(on_card, folder, backend):
    """Which nothing builds for the card: here a sidecar calls the base kernel one of them."""
    made, _ = build(folder, "stream", "u280_hbm", 1)
    other = folder / f"items-{backend}.xclbin"
    shutil.copy(made.bitstream, other)
    sidecar = made.sidecar_file.read_text().replace('"base"', '"throughput"')
    other.with_name(f"{other.name}.toml").write_text(f"{sidecar}work_group_size = 64\n")
    words = (*SIZES["stream"], "--variant", "throughput")
    done = on_card("stream", replications=1, other=other, words=words, variables={xrt.BACKEND: backend})
    assert "starts kernels of one work-item" in one_error(done)


@pytest.mark.parametrize(("damage", "line"), [
    (lambda content: content[: len(content) // 2], "its header says "),
    (lambda content: content.replace(b"\x07\0\0\0CONN", b"\x63\0\0\0CONN"), "it has no CONNECTIVITY"),
    (lambda content: content.replace(b"xilinx_u280_hbm_card", b"xilinx_u250_ddr_card"),
     "it is for xilinx_u250_ddr_card"),
])  # fmt: skip
@pytest.mark.parametrize("backend", xrt.NAMES)
def test_a_damaged_bitstream_is_refused_in_one_line(on_card, folder, damage, line, backend):
    made, _ = build(folder, "stream", "u280_hbm", 1)
    corrupted = folder / "corrupted.xclbin"
    corrupted.write_bytes(damage(made.bitstream.read_bytes()))
    shutil.copy(made.sidecar_file, folder / "corrupted.xclbin.toml")
    done = on_card("stream", replications=1, other=corrupted, variables={xrt.BACKEND: backend})
    assert line in one_error(done)


@pytest.mark.parametrize("backend", xrt.NAMES)
def test_hardware_emulation_is_refused_in_one_line(on_card, backend):
    """XRT would look for a simulator's files in the bitstream, and end the program."""
    done = on_card("stream", replications=1, variables={xrt.MODE: "hw_emu", xrt.BACKEND: backend})
    line = one_error(done)
    assert "(it is for XCL_EMULATION_MODE=sw_emu, which is hw_emu); choose the device" in line
    assert done.code == 2


def test_kernel_sources_are_refused_with_the_right_remedy(on_card, folder, boards):
    on_card("stream", replications=1)
    program = Stream(folder)
    program.environment.update(boards["u280_hbm"][1])
    done = program.start(*SIZES["stream"], launcher=("setsid",))
    assert "give a bitstream with --bitstream" in one_error(done)
    assert [one["emulated"] for one in devices(program)] == [True, True]


@pytest.mark.parametrize("more", [(), ("--language", "hls", "--backend", "opencl")])
def test_run_builds_a_bitstream_and_runs_it(run, tmp_path, more):
    """The command for all of it: natively, unless something else is named."""
    words = ("run", "gemm", "--system", "u280_hbm", "--emulate", "--output", tmp_path / "results")
    done = run(*words, *more, "--", "--size", "300", "--block-size", "64", *map(str, ONCE))
    assert done.returncode == 0, done.stderr
    assert "xilinx_u280_hbm_card" in done.stdout and "emulated" in done.stdout
    assert ("of HLS C++" in done.stdout) == bool(more)
    assert ("by its own interface" in done.stdout) == (not more)


def test_the_tutorial_of_two_cards_runs_as_it_is_printed(run, tmp_path):
    """What needs no card: test_documented_commands.py runs the rest."""
    text = (REPOSITORY / "docs" / "tutorials" / "two_cards.md").read_text()
    lines = re.findall(r"^    fabricmark (run .* --emulate .*)$", text, re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        if "--mpi" in line and shutil.which("mpirun") is None:
            continue
        words = shlex.split(line)
        place = words.index("--")
        done = run(*words[:place], "--output", tmp_path / words[1], *words[place:], *map(str, ONCE))
        assert done.returncode == 0, done.stderr
        assert "valid" in done.stdout and "emulated" in done.stdout


@pytest.mark.parametrize(("words", "line"), [
    (("stream", "--emulate"), "--emulate needs a board"),
    (("all", "--emulate", "--system", "u280_hbm"), "--emulate builds a bitstream of one benchmark"),
    (("stream", "--emulate", "--system", "u280_hbm", "--device", "0"), "--emulate chooses the device"),
    (("stream", "--emulate", "--system", "u280_hbm", "--", "--bitstream", "a"), "--bitstream with --emulate"),
    (("stream", "--backend", "xrt"), "--backend xrt"),
    (("stream", "--language", "hls"), "--language hls"),
    (("stream", "--emulate", "--system", "u280_hbm", "--language", "vhdl"), "there is no language vhdl"),
    (("lbm", "--emulate", "--system", "u280_hbm", "--language", "hls"), "is not written in HLS C++"),
    (("stream", "--emulate", "--system", "u280_hbm", "--backend", "hip"), "--backend hip"),
])  # fmt: skip
def test_what_cannot_be_emulated_is_refused(run, one_error_line, words, line):
    assert line in one_error_line(run("run", *words), 2)

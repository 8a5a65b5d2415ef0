"""Dataflow kernels with streams on emulated cards: the two-device example under AMD's own libraries."""

import json
import random
import re
import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY
from fabricmark.base import xrt
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import design, emulate, steps, streams
from fabricmark.systems import export

pytestmark = [
    pytest.mark.usefixtures("of_the_repository"),
    pytest.mark.skipif(shutil.which(steps.CLANG) is None, reason=f"{steps.CLANG} is not installed"),
]
EXAMPLES = REPOSITORY / "docs" / "examples"
SOURCE = EXAMPLES / "two_devices" / "dataflow.cpp"
CONFIG = EXAMPLES / "two_cards" / "link.cfg"
BUILT = REPOSITORY / "build" / "release"
HOST = BUILT / "bin" / "example_two_cards"
BETWEEN = BUILT / "bin" / "between_cards"  # copies from one card to another one
SKIPPING = BUILT / "tests" / "unit" / "libskipping_xrt.so"  # of XRT's copies, which it forgets
ON_CARDS = pytest.mark.skipif(xrt.find() is None, reason="AMD's XRT is not installed")
BACKENDS = pytest.mark.parametrize("backend", xrt.NAMES)
AURORA = "aurora"
TO_LINK = "stream_connect=scale_and_send_1.link:link_0.tx"
INSIDE = "stream_connect=load_array_1.loaded:scale_and_send_1.loaded:4"
# Two more kernels between those of the first card, which run by themselves.
FORWARD = """
extern "C" void forward(fm::stream<word>& in, fm::stream<word>& out) {
#pragma HLS interface mode = ap_ctrl_none port = return
  out.write(in.read());
}
"""
FORWARDED = """nk=forward:2:near.far
sc=load_array_1.loaded:near.in
sc=near.out:far.in:3
sc=far.out:scale_and_send_1.loaded"""
IN_A_CHAIN = "#pragma HLS interface mode = ap_ctrl_chain port = return\n"


@pytest.fixture(scope="module")
def board():
    return design.touching("u280_hbm", None, {})


def built(board, folder, source=SOURCE, config=CONFIG):
    made = streams.steps(source, config, board, None, folder, [])
    steps.carry_out(made)
    return made.bitstream


@pytest.fixture(scope="module")
def bitstream(board, tmp_path_factory):
    return built(board, tmp_path_factory.mktemp("two_cards"))


def run(bitstream, backend, program=HOST, more=(), links=None, **variables):
    """A host, by default the example's, on two cards."""
    command = [sys.executable, "-m", "fabricmark.build.emulate", *([f"--links={links}"] if links else []),
               "2", str(bitstream.parent / "emconfig.json"), str(program), str(bitstream), *more]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {xrt.BACKEND: backend, "FABRICMARK_CARD_SECONDS": "30", **variables}.items():
            patch.setenv(name, value)
        return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.programs
@ON_CARDS
@BACKENDS
def test_the_two_device_example_is_valid(bitstream, backend):
    done = run(bitstream, backend)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0 of 16000 values are wrong\n"


@pytest.mark.programs
@ON_CARDS
@pytest.mark.skipif(xrt.find() is None or xrt.find().version != xrt.DROPS_REALLOC, reason="another XRT")
def test_no_closed_card_shuts_down_what_another_one_uses(bitstream, tmp_path):
    """By the names that the loader binds: XRT 2.13 calls this at each closing, from any thread."""
    done = run(bitstream, "opencl", LD_DEBUG="bindings", LD_DEBUG_OUTPUT=str(tmp_path / "bound"))
    assert done.returncode == 0, done.stderr
    lines = [line for file in tmp_path.glob("bound.*") for line in file.read_text().splitlines()]
    bound = [line for line in lines if "ShutdownProtobufLibrary" in line and "binding file" in line]
    assert bound and all("libfabricmark-xrt-repair.so" in line for line in bound), bound


@pytest.mark.programs
@ON_CARDS
def test_a_flipped_word_is_found(bitstream):
    done = run(bitstream, "xrt", FABRICMARK_CARD_FAULT="flipped")
    assert done.returncode == 1 and done.stdout == "1 of 16000 values are wrong\n", done.stderr


@pytest.mark.programs
@ON_CARDS
@BACKENDS
def test_a_kernel_that_waits_for_ever_is_named(bitstream, backend):
    """Both that miss a word, or whose card is the first to say so."""
    done = run(bitstream, backend, FABRICMARK_CARD_FAULT="lost", FABRICMARK_CARD_SECONDS="1")
    assert done.returncode != 0 and done.stdout == ""
    waits = ("receive_and_add_1", "link"), ("scale_and_send_1", "loaded")
    lines = [
        f"kernel of {unit}, which waits for a word of its stream {unit}.{stream}, has not ended within 1 s"
        for unit, stream in waits
    ]
    assert any(line in done.stderr for line in lines), done.stderr


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    """Writes Noctua 2 with other values of Aurora, which joins its Alveo boards; its file and the values."""
    exported = export.document("noctua2")
    folder = tmp_path_factory.mktemp("systems")

    def written(**changes):
        document = json.loads(json.dumps(exported))
        (network,) = (one for one in document["networks"] if one["id"] == AURORA)
        for name, factor in changes.items():
            network["values"][name]["value"] *= factor
        file = folder / f"{'-'.join(changes) or 'as_it_is'}.json"
        file.write_text(json.dumps(document))
        return f"{file}:{AURORA}", {name: one["value"] for name, one in network["values"].items()}

    return written


def modelled_us(done):
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("modelled: "))
    assert line.endswith(f"(emulated: cables as {AURORA}, kernels at 300 MHz; host and memory take none)")
    found = re.match(r"modelled: ([\d.]+) us until receive_and_add_1 of card 1 has ended ", line)
    return float(found[1])


@pytest.mark.programs
@ON_CARDS
@pytest.mark.parametrize(("changes", "backend"), [
    ({}, "opencl"), ({"latency_seconds": 10}, "xrt"), ({"link_bytes_per_second": 0.25}, "xrt"),
    ({"link_bytes_per_second": 8}, "xrt"),  # faster than the kernels, which then say how fast words leave
])  # fmt: skip
def test_modelled_time_follows_latency_and_rate_of_the_link(bitstream, system, changes, backend):
    """1000 words of 64 bytes: one cycle to the first one's leaving, then the slower of link and kernels."""
    links, values = system(**changes)
    done = run(bitstream, backend, links=links)
    assert done.returncode == 0 and "0 of 16000 values are wrong\n" in done.stdout, done.stderr
    cycle, word = 1 / 300e6, 64 / values["link_bytes_per_second"]
    seconds = cycle + 999 * max(cycle, word) + word + values["latency_seconds"]
    assert modelled_us(done) == pytest.approx(seconds * 1e6, abs=0.001)


@pytest.mark.programs
@ON_CARDS
@pytest.mark.parametrize("fault", ["flipped", "lost"])
def test_a_fault_of_a_word_on_the_cable_is_found(board, tmp_path, system, fault):
    """That is the first stream of this bitstream."""
    config = tmp_path / "cable.cfg"
    config.write_text(replaced(INSIDE, "").replace(TO_LINK, f"{TO_LINK}\n{INSIDE}"))
    made = built(board, tmp_path / "made", config=config)
    links, _ = system()
    variables = {"FABRICMARK_CARD_FAULT": fault, "FABRICMARK_CARD_SECONDS": "1" if fault == "lost" else "30"}
    done = run(made, "xrt", links=links, **variables)
    if fault == "flipped":
        assert done.returncode == 1 and "1 of 16000 values are wrong\n" in done.stdout, done.stderr
        return
    assert done.returncode != 0 and "values are wrong" not in done.stdout
    unit = "receive_and_add_1"
    assert f"kernel of {unit}, which waits for a word of its stream {unit}.link, has not ended" in done.stderr


@pytest.mark.programs
@ON_CARDS
def test_links_that_cards_have_none_of_are_refused(bitstream, system):
    links, _ = system()
    done = run(bitstream, "xrt", links=links.replace(AURORA, "host"))
    assert done.returncode != 0
    assert "the cables of emulated cards are direct links, and the network noctua2_mpi of " in done.stderr
    done = run(bitstream, "xrt", links="nowhere.json:aurora")
    assert done.returncode == 2 and done.stderr.startswith("error: cannot read nowhere.json")


@pytest.mark.programs
@ON_CARDS
def test_a_stream_that_is_turned_round_is_named(board, tmp_path):
    text = CONFIG.read_text().replace(TO_LINK, "sc=link_0.rx:scale_and_send_1.link")
    text = text.replace("sc=link_0.rx:receive", "sc=receive").replace(
        "stream_connect=link_0.rx:receive_and_add_1.link", "sc=receive_and_add_1.link:link_0.tx"
    )
    config = tmp_path / "turned.cfg"
    config.write_text(text)
    done = run(built(board, tmp_path / "turned", config=config), "xrt")
    assert done.returncode != 0
    assert "and the link configuration has it " in done.stderr
    assert "turn its stream_connect round" in done.stderr


@pytest.mark.programs
@ON_CARDS
@BACKENDS
def test_kernels_of_other_protocols_are_valid(board, tmp_path, backend):
    """One is started by ap_ctrl_chain, two by nobody."""
    source, config = tmp_path / "more.cpp", tmp_path / "more.cfg"
    port = "#pragma HLS interface mode = m_axi port = values bundle = values\n"
    source.write_text(SOURCE.read_text().replace(port, port + IN_A_CHAIN, 1) + FORWARD)
    config.write_text(CONFIG.read_text().replace(INSIDE, FORWARDED))
    bitstream = built(board, tmp_path / "made", source, config)
    text = (bitstream.parent / "more.card.json").read_text()
    assert text.count('"ap_ctrl_none"') == 2 and text.count('"ap_ctrl_chain"') == 1
    done = run(bitstream, backend)
    assert done.returncode == 0, done.stderr


@pytest.mark.programs
@ON_CARDS
@pytest.mark.parametrize(("kind", "memory"), [
    ("buffer", "private"), ("host-pointer", "shared"), ("peer", "shared"),
])  # fmt: skip
def test_bytes_get_from_card_to_card(bitstream, kind, memory):
    """Of kind `peer` by XRT's own copy."""
    if not BETWEEN.exists():
        pytest.skip("between_cards is not built")
    done = run(bitstream, "xrt", BETWEEN, [kind], FABRICMARK_CARD_MEMORY=memory)
    assert done.returncode == 0, done.stderr
    assert "0 of 100000 bytes are wrong" in done.stdout


@pytest.mark.programs
@ON_CARDS
def test_a_copy_to_the_first_card_that_is_forgotten_shows_on_the_second(bitstream):
    if not SKIPPING.exists() or not BETWEEN.exists():
        pytest.skip("libskipping_xrt.so is not built")
    variables = {"FABRICMARK_CARD_MEMORY": "private", "LD_PRELOAD": str(SKIPPING)}
    done = run(bitstream, "xrt", BETWEEN, ["buffer"], **variables)
    assert done.returncode == 1 and "0 of 100000" not in done.stdout, (done.stdout, done.stderr)


@pytest.mark.programs
@ON_CARDS
def test_memory_of_a_card_alone_is_not_handed_to_another_one(bitstream):
    done = run(bitstream, "xrt", BETWEEN, ["peer"], FABRICMARK_CARD_MEMORY="private")
    assert done.returncode == 3 and "error: xrtBOExport" in done.stderr


@pytest.mark.programs
@ON_CARDS
def test_one_card_is_too_few(bitstream):
    command = ["1", str(bitstream.parent / "emconfig.json"), str(HOST), str(bitstream)]
    assert emulate.main(command) == 3


def replaced(old, new):
    text = CONFIG.read_text()
    assert old in text
    return text.replace(old, new)


REFUSED = {
    "names no kernel": "# nothing\n",
    "/bad.cfg:3: nk=load_array is nothing that": replaced("load_array:1", "load_array"),
    ":7: sp=load_array_1.values is nothing": replaced(INSIDE, f"{INSIDE}\nsp=load_array_1.values"),
    "has no kernel unload_array": replaced("nk=load_array", "nk=unload_array"),
    "the emulated card has no HBM[99]": replaced(INSIDE, f"{INSIDE}\nsp=load_array_1.values:HBM[99]"),
    "sp=load_array_1.length: it is no argument in memory": replaced(
        INSIDE, f"{INSIDE}\nsp=load_array_1.length:HBM[0]"
    ),
    "load_array_1.loads is none of the streams of a compute unit": replaced(
        "array_1.loaded", "array_1.loads"
    ),
    "link_0.rx is none of the streams of a compute unit": replaced("link_0.tx", "link_0.rx"),
    "scale_and_send_1.link is joined to nothing": replaced(TO_LINK, ""),
    "scale_and_send_1.link is joined twice": replaced(TO_LINK, f"{TO_LINK}\n{TO_LINK[:-4]}1.tx"),
    "is nothing that the emulated card takes": replaced("[connectivity]", "[advanced]"),
}


@pytest.fixture(scope="module")
def once():
    """What the example's kernels are, asked of clang once."""
    known, ask = {}, streams.declared

    def declared(source, kernel, options):
        if kernel not in known:
            known[kernel] = ask(source, kernel, options)
        return known[kernel]

    return declared


@pytest.mark.parametrize("fault", REFUSED)
def test_a_configuration_that_joins_nothing_is_refused(board, tmp_path, monkeypatch, once, fault):
    monkeypatch.setattr(streams, "declared", once)
    config = tmp_path / "bad.cfg"
    config.write_text(REFUSED[fault])
    with pytest.raises(FabricmarkError) as found:
        streams.steps(SOURCE, config, board, None, tmp_path, [])
    assert fault in str(found.value) and "\n" not in str(found.value) and found.value.exit_code == 2


def test_any_configuration_is_read_or_refused(tmp_path):
    """Also one that is damaged."""
    chance = random.Random(42)
    content, config = CONFIG.read_bytes(), tmp_path / "any.cfg"
    read = 0
    for _ in range(300):
        corrupted = bytearray(content)
        for _ in range(chance.randint(1, 4)):
            corrupted[chance.randrange(len(corrupted))] = chance.randrange(256)
        config.write_bytes(bytes(corrupted[: chance.randint(len(content) // 2, len(content))]))
        try:
            read += bool(streams.linked(config).units)
        except FabricmarkError as error:
            assert "\n" not in str(error)
    assert 0 < read < 300


@pytest.mark.parametrize(("source", "fault"), [
    ("void k(int a) {", "does not compile: "),
    ('extern "C" void k(int& a) {}', "k has the argument a of the type int &"),
    ('struct S { int a; }; extern "C" void k(S a) {}', "k has the argument a of the type S"),
    ('extern "C" void other(int a) {}', "has no kernel k"),
])  # fmt: skip
def test_a_source_that_is_no_kernel_is_refused(tmp_path, source, fault):
    file = tmp_path / "k.cpp"
    file.write_text(source)
    with pytest.raises(FabricmarkError) as found:
        streams.declared(file, "k", [])
    assert fault in str(found.value) and "\n" not in str(found.value)


def test_arguments_are_those_of_the_source(tmp_path):
    file = tmp_path / "k.cpp"
    file.write_text(
        "#include <cstdint>\n#include <hls_stream.h>\ntypedef hls::stream<int> line;\n"
        'extern "C" void k(const std::uint64_t* in, line& s, std::uint8_t one, unsigned long many,'
        " float f, double *__restrict out) {}"
    )
    options = ["-I", str(streams.paths.card_headers())]
    assert streams.declared(file, "k", options).arguments == (
        ("in", "buffer", "void*"), ("s", "axis", "axis"), ("one", "scalar", "uchar"),
        ("many", "scalar", "ulong"), ("f", "scalar", "float"), ("out", "buffer", "void*"),
    )  # fmt: skip


@pytest.mark.parametrize(("words", "fault"), [
    (("stream", "--config", CONFIG, "--target", "sw_emu"), "--config joins dataflow kernels"),
    ((SOURCE, "--target", "sw_emu"), "needs a link configuration"),
    ((SOURCE, "--config", CONFIG), "is built for emulated cards only"),
    ((SOURCE, "--config", CONFIG, "--target", "sw_emu", "--set", "a=1"), "is no benchmark of the suite"),
    ((SOURCE, "--config", CONFIG, "--target", "sw_emu"), "nothing says which memories the card has"),
    (("none.cpp", "--config", CONFIG, "--target", "sw_emu", "--system", "u280_hbm"), "cannot read none.cpp"),
    ((SOURCE, "--config", "none", "--target", "sw_emu", "--system", "u280_hbm"), "cannot read none"),
])  # fmt: skip
def test_what_is_not_built_is_refused(run, one_error_line, words, fault):
    assert fault in one_error_line(run("build", *map(str, words)), 2)

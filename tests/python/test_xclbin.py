"""Bitstreams for the emulated card: the container, what is damaged in it, and the steps that make one."""

import json
import struct

import pytest
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import card, design, xclbin

programs = pytest.mark.programs
pytestmark = pytest.mark.usefixtures("of_the_repository")
LIBRARY = xclbin.ELF + b"kernels"


def argument(name, kind, offset, size, *banks):
    return {"name": name, "kind": kind, "type": "void*" if kind == "buffer" else "uchar", "offset": offset,
            "bytes": size, "banks": list(banks)}  # fmt: skip


DESCRIPTION = {
    "version": card.VERSION, "platform": "xilinx_board", "clock_mhz": 300,
    "memories": [
        {"name": "HBM[0]", "bytes": 2**28, "used": False}, {"name": "DDR[0]", "bytes": 2**34, "used": True},
    ],
    "units": [
        {"kernel": "k", "name": f"k_{i}", "control": "ap_ctrl_hs", "base": 0x1000000 * i,
         "arguments": [argument("a", "buffer", 16, 8, 1), argument("n", "scalar", 28, 1)]}
        for i in (1, 2)
    ],
}  # fmt: skip
GOOD = xclbin.write(DESCRIPTION, LIBRARY)


def test_the_container_has_what_was_put_in():
    found = xclbin.sections_of(GOOD, "k.xclbin")
    assert set(found) == set(xclbin.NAMES) and found["BITSTREAM"] == LIBRARY
    banks = list(xclbin.BANK.iter_unpack(found["MEM_TOPOLOGY"][8:]))
    assert [(bank[:4], bank[4].rstrip(b"\0")) for bank in banks] == [
        ((6, 0, 2**18, 0), b"HBM[0]"),
        ((1, 1, 2**24, 2**28), b"DDR[0]"),
    ]
    assert list(xclbin.LINK.iter_unpack(found["CONNECTIVITY"][4:])) == [(0, 0, 1), (0, 1, 1)]
    units = list(xclbin.UNIT.iter_unpack(found["IP_LAYOUT"][8:]))
    assert [(unit[2], unit[3].rstrip(b"\0")) for unit in units] == [
        (0x1000000, b"k:k_1"),
        (0x2000000, b"k:k_2"),
    ]
    metadata = found["EMBEDDED_METADATA"].decode()
    assert not metadata.endswith("\0") and metadata.count("<instance ") == 2
    assert 'size="0x4" offset="0x1C" hostOffset="0x0" hostSize="0x1"' in metadata  # whole words


def test_equal_content_has_equal_bytes_and_another_kernel_another_name():
    assert xclbin.write(DESCRIPTION, LIBRARY) == GOOD
    name = slice(xclbin.FRONT.size + 120, xclbin.FRONT.size + 136)
    assert xclbin.write(DESCRIPTION, LIBRARY + b"!")[name] != GOOD[name]


def with_bytes(place, *values, form="<Q"):
    return GOOD[:place] + struct.pack(form, *values) + GOOD[place + struct.calcsize(form) :]


TABLE = xclbin.FRONT.size + xclbin.HEADER.size
LINKS = GOOD.index(struct.pack("<iiii", 2, 0, 0, 1))
ROW = xclbin.SECTION.size
DAMAGED = {
    "is no .xclbin": b"xclbin3\0" + GOOD[8:],
    "ends within its header": GOOD[: TABLE - 1],
    f"header says {len(GOOD)} bytes, and it has {len(GOOD) - 8}": GOOD[:-8],
    "its 200 sections end outside of it": with_bytes(TABLE - 8, 200, form="<I"),
    "its MEM_TOPOLOGY lies outside of it": with_bytes(TABLE + 24, len(GOOD) - 4),
    "its IP_LAYOUT lies outside of it": with_bytes(TABLE + ROW + 32, 2**60),
    "has MEM_TOPOLOGY twice": with_bytes(TABLE + ROW, xclbin.KINDS["MEM_TOPOLOGY"], form="<I"),
    "has no CONNECTIVITY": with_bytes(TABLE + 2 * ROW, 99, form="<I"),
    "its CONNECTIVITY does not have the length": with_bytes(LINKS, 3, form="<i"),
    "links an argument of unit 0 to memory 7": with_bytes(LINKS + 12, 7, form="<i"),
    "links an argument of unit 9 to memory 1": with_bytes(LINKS + 8, 9, form="<i"),
    "is no library of kernels": GOOD.replace(xclbin.ELF, b"text"),
}


@pytest.mark.parametrize("fault", DAMAGED)
def test_damage_is_named_in_one_line(fault, tmp_path):
    file = tmp_path / "k.xclbin"
    file.write_bytes(DAMAGED[fault])
    with pytest.raises(FabricmarkError) as found:
        xclbin.check_file(file)
    assert fault in str(found.value) and "\n" not in str(found.value) and found.value.exit_code == 2


def test_emulated_boards_have_the_memories_of_the_description():
    """Sizes that are whole GiB in GiB: of MiB the runtime has 32 bits for the bytes."""
    platform = json.loads(xclbin.emulation_config(DESCRIPTION, 3))["Platform"]["Boards"][0]
    assert platform["NumBoards"] == "3"
    assert platform["Devices"][0]["DdrBanks"] == [
        {"Name": "HBM[0]", "Size": "256M"},
        {"Name": "DDR[0]", "Size": "16G"},
    ]


@programs
@pytest.mark.parametrize(
    ("board", "first"),
    [("u280_hbm", "HBM[0]"), ("u280_ddr", "HBM[0]"), ("u250", "DDR[0]")],
)
def test_the_card_is_linked_as_the_board(board, first):
    """Memory by memory as v++ is told, behind those that the board's shell lists before its own."""
    bitstream = "u280_ddr_single/stream" if board == "u280_ddr" else None  # which has several
    found = design.resolve("stream", "", board, bitstream, {"replications": "2"})
    made = card.describe(found, None)
    memories = [one["name"] for one in made["memories"]]
    assert memories[0] == first and len(memories) == found.memory.index_offset + found.memory.banks
    kind = found.memory.kind.upper()
    linked = [[memories[bank] for bank in unit["arguments"][0]["banks"]] for unit in made["units"]]
    assert linked == [[f"{kind}[0]"], [f"{kind}[1]"]]
    offsets = [(one["name"], one["offset"], one["bytes"]) for one in made["units"][1]["arguments"]]
    assert offsets == [("first", 16, 8), ("second", 28, 8), ("result", 40, 8), ("scalar", 52, 4),
                       ("pieces", 60, 4), ("use_second", 68, 4)]  # fmt: skip


@programs
def test_the_steps_are_a_script(run, tmp_path):
    words = ("build", "ptrans", "--system", "u280_hbm", "--target", "sw_emu", "--dry-run")
    done = run(*words, "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "fabricmark.build.xclbin" in done.stdout and "emconfig.json" in done.stdout
    assert '"control": "ap_ctrl_hs"' in done.stdout and "void fabricmark_card_start_transpose(" in done.stdout


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("--target", "sw_emu", "--tool", "aoc"), "aoc makes nothing for sw_emu"),
        (("--target", "hw", "--tool", "fabricmark"), "fabricmark makes nothing for hw"),
        (("--target", "hw_sim"), "there is no target hw_sim"),
        (("--target", "sw_emu"), "nothing says which memories the card has"),
        (("--target", "sw_emu", "--system", "520n_mx"), "nothing says which memories the card has"),
    ],
)
def test_what_the_card_is_not_built_for_is_refused(run, one_error_line, words, fault):
    assert fault in one_error_line(run("build", "touch", *words), 2)

"""Sites with FPGAs: links, tools, hooks and bitstreams around the points of a campaign.

The site's commands are stand-ins that write down their command lines; docs/sites.md says that none was run
on such a site.
"""

import random
import re
import subprocess

import pytest
from campaign_support import files as files_of
from campaign_support import started, write
from conftest import REPOSITORY
from fabricmark.base.errors import FabricmarkError
from fabricmark.measure import cabling, site
from test_submit import FOUR

EXAMPLE = "docs/examples/sites/noctua2.toml"
SITE = """
name = "here"
[allocations.fpga]
nodes = 2
boards_per_node = 2
modules = ["fpga", "xilinx/xrt/2.14"]
setup = ["module reset"]
options = ["--partition=fpga"]
devices = ["0000:01:00.1", "0000:81:00.1"]
tools = { xbutil = "2.14" }
variables = { FPGA_MAPPING = "0:1" }
[allocations.fpga.links]
ports = 4
command = ["changeFPGAlinks"]
end = "n{node}:acl{board}:ch{port}"
link = "--fpgalink={from}-{to}"
topologies = { stream = "ring*2" }
shorthands = { pairs = ["--fpgalink=pair"] }
[[allocations.fpga.hooks]]
when = "job"
command = ["xbutil", "reset", "--device", "{device}", "--force"]
[[allocations.fpga.hooks]]
when = "point"
command = ["aocl", "program", "acl{board}", "base.aocx"]
[[allocations.fpga.hooks]]
when = "failure"
command = ["xbmgmt", "reset"]
"""
WRITES = """
import pathlib
with (pathlib.Path({folder!r}) / "said").open("a") as file:
    file.write(" ".join([pathlib.Path(sys.argv[0]).name, *sys.argv[1:]]) + "\\n")
if sys.argv[1:] == ["--version"]:
    print("XRT Build Version: 2.14.354")
"""
RANKS = FOUR.replace('runtime = "system"', 'runtime = "system"\nranks = [2, 3]')


@pytest.fixture
def fpgas(place):
    """A place with a site file and its commands."""
    programs = place.folder / "tools"
    for name in ("xbutil", "xbmgmt", "aocl", "changeFPGAlinks"):
        place.add_program(programs / name, WRITES.format(folder=str(place.folder)))
    place.environment["PATH"] = f"{programs}:{place.environment['PATH']}"
    write(place, SITE, "site.toml")
    write(place, FOUR)
    return place


def said(place):
    file = place.folder / "said"
    return file.read_text().splitlines() if file.exists() else []


def ends(words):
    """[((node, board, port), (node, board, port))] of --fpgalink, as the page of PC2 has its form."""
    form = re.compile(r"--fpgalink=n(\d\d):acl(\d):ch(\d)-n(\d\d):acl(\d):ch(\d)")
    found = [form.fullmatch(word) for word in words]
    assert all(found), words
    return [(tuple(map(int, one.groups()[:3])), tuple(map(int, one.groups()[3:]))) for one in found]


@pytest.mark.programs
def test_links_and_hooks_come_between_points(fpgas):
    write(fpgas, RANKS)
    done = fpgas.run("run", "c.toml", "--site", "site.toml")
    assert done.returncode == 0 and len(files_of(fpgas, "four")) == 8, done.stderr
    lines = said(fpgas)
    assert lines[0] == "xbutil --version"
    rings = [ends(line.split()[1:]) for line in lines if line.startswith("changeFPGAlinks")]
    assert [len(one) for one in rings] == [4, 6]  # set again only where they differ
    assert ((0, 1, 0), (1, 0, 2)) in rings[1] and ((1, 0, 1), (0, 0, 3)) in rings[1]
    assert lines[2:4] == [f"xbutil reset --device {one} --force" for one in ("0000:01:00.1", "0000:81:00.1")]
    assert lines.count("aocl program acl1 base.aocx") == 8 and "xbmgmt reset" not in lines
    assert sum(line.startswith("xbutil reset") for line in lines) == 2


@pytest.mark.programs
def test_after_a_point_that_failed_the_board_is_reset(fpgas):
    fpgas.add_program(
        fpgas.folder / "tools/aocl", "sys.exit('aocl program: Program failed.' if 'acl0' in sys.argv else 0)"
    )
    done = fpgas.run("run", "c.toml", "--site", "site.toml")
    assert done.returncode == 3 and "aocl program acl0 base.aocx ended with 1" in done.stderr
    assert "Program failed." in done.stderr and not started(fpgas)
    assert said(fpgas).count("xbmgmt reset") == 4


@pytest.mark.programs
def test_a_job_loads_modules_and_asks_for_nodes(fpgas):
    write(fpgas, RANKS.replace("ranks = [2, 3]", "mpi = 3"))
    words = ("campaign", "submit", "c.toml", "--site", "site.toml", "--tasks", "1", "--dry-run")
    script = fpgas.run(*words, "--scheduler", "slurm").stdout
    for line in ("--ntasks=3", "--nodes=2", "--ntasks-per-node=2", "--partition=fpga"):
        assert f"#SBATCH {line}\n" in script
    assert "\nmodule reset\nmodule load fpga xilinx/xrt/2.14 || exit 3\nPOINTS=" in script
    assert f"--site {fpgas.folder}/site.toml:fpga " in script
    assert "-l select=2:ncpus=2:mpiprocs=2\n" in fpgas.run(*words, "--scheduler", "pbs").stdout
    assert "#flux: --nodes=2\n" in fpgas.run(*words, "--scheduler", "flux").stdout
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
    assert not said(fpgas)


@pytest.mark.programs
def test_links_may_be_options_of_the_scheduler(fpgas, one_error_line):
    write(fpgas, SITE.replace('command = ["changeFPGAlinks"]\n', "").replace("ring*2", "pairs"), "site.toml")
    write(fpgas, RANKS.replace("[2, 3]", "2"))
    words = ("campaign", "submit", "c.toml", "--site", "site.toml", "--dry-run", "--scheduler", "slurm")
    assert "#SBATCH --fpgalink=pair\n" in fpgas.run(*words).stdout
    text = SITE.replace('command = ["changeFPGAlinks"]\n', "")
    write(fpgas, text, "site.toml")
    assert "#SBATCH --fpgalink=n00:acl1:ch1-n00:acl0:ch3\n" in fpgas.run(*words).stdout
    write(fpgas, RANKS)
    assert "need different links" in one_error_line(fpgas.run(*words), 2)


@pytest.mark.programs
def test_a_bitstream_is_picked_by_board_shell_and_parameters(fpgas, one_error_line):
    folder = fpgas.folder / "bitstreams"
    folder.mkdir()
    keys = 'nodes = 2\nbitstreams = "bitstreams"\nboard = "u280_ddr"\nshell = "xdma"\n'
    write(fpgas, SITE.replace("nodes = 2\n", keys).replace("base.aocx", "{bitstream}"), "site.toml")
    write(fpgas, RANKS.replace("[2, 3]", "2"))

    def sidecar(name, width, board="u280_ddr", shell="xilinx_u280_gen3x16_xdma_1"):
        text = f'benchmark = "stream"\nvariant = "base"\nboard = "{board}"\nshell = "{shell}"\n'
        (folder / f"{name}.xclbin.toml").write_text(f"{text}[parameters]\nvector_width = {width}\n")

    sidecar("one", 1)
    sidecar("other", 2, board="u55c")
    words = ("campaign", "submit", "c.toml", "--site", "site.toml", "--dry-run", "--scheduler", "slurm")
    assert "no bitstream of u280_ddr and shell xdma" in one_error_line(fpgas.run(*words), 2)
    sidecar("two", 2)
    sidecar("old", 2, shell="xilinx_u280_qdma")
    assert fpgas.run(*words).returncode == 0
    done = fpgas.run("run", "c.toml", "--site", "site.toml")
    # The stand-in for the program knows no bitstream: results of another kernel than asked for do not count.
    assert done.returncode == 3 and "asked for the kernel one.xclbin" in done.stderr
    used = [next(word for word in one["words"] if "--bitstream=" in word) for one in fpgas.started()]
    assert used == [f"--bitstream={folder}/{name}.xclbin" for name in ("one", "one", "two", "two")]
    assert f"aocl program acl0 {folder}/two.xclbin" in said(fpgas)
    sidecar("twin", 2)
    assert "several bitstreams" in one_error_line(fpgas.run(*words, "--output", "new"), 2)
    (folder / "bad.xclbin.toml").write_text("benchmark = ")
    assert "bad.xclbin.toml" in one_error_line(fpgas.run(*words, "--output", "new"), 2)


@pytest.mark.programs
def test_what_does_not_fit_has_one_line(fpgas, one_error_line):
    words = ("campaign", "submit", "c.toml", "--site", "site.toml", "--dry-run")
    write(fpgas, RANKS.replace("[2, 3]", "5"))
    assert "5 boards are on 3 nodes" in one_error_line(fpgas.run(*words), 2)
    write(fpgas, RANKS.replace("[2, 3]", "3"))
    assert "needs 2 nodes, but --nodes" in one_error_line(fpgas.run(*words, "--nodes", "n1"), 2)
    write(fpgas, SITE.replace("ring*2", "torus:2x2"), "site.toml")
    assert "torus:2x2 is for 4 boards, and these are 3" in one_error_line(fpgas.run(*words), 2)
    write(fpgas, SITE.replace('xbutil = "2.14"', 'xbutil = "2.16"'), "site.toml")
    line = one_error_line(fpgas.run("run", "c.toml", "--site", "site.toml"), 3)
    assert "XRT Build Version: 2.14.354" in line and "not 2.16" in line
    write(fpgas, SITE.replace("tools = { xbutil", "tools = { xbgone"), "site.toml")
    assert "cannot start xbgone" in one_error_line(fpgas.run("run", "c.toml", "--site", "site.toml"), 3)
    for wrong in ("none.toml", "site.toml:gpu"):
        one_error_line(fpgas.run("run", "c.toml", "--site", wrong), 2)
    one_error_line(fpgas.run("run", "stream", "--site", "site.toml"), 2)


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ('"n{node}:acl{board}:ch{port}"', '"n{host}"', "unknown placeholder {host}"),
        ('"ring*2"', '"star"', "no topology 'star'"), ('"ring*2"', '"ring*"', "no topology"),
        ("acl{board}", "acl{bored}", "unknown placeholder {bored}"),
        ('devices = ["0000:01:00.1", ', "devices = [", "1 devices of 2 boards"),
        ('when = "job"', 'when = "never"', "never"), ("boards_per_node = 2", "boards_per_node = 0", "boards"),
    ],
)  # fmt: skip
def test_a_wrong_site_file_is_refused(tmp_path, old, new, cause):
    file = tmp_path / "site.toml"
    file.write_text(SITE.replace(old, new))
    with pytest.raises(FabricmarkError, match=re.escape(cause)) as caught:
        site.load(str(file))
    assert caught.value.exit_code == 2


def test_damaged_site_files_are_read_or_refused(tmp_path):
    random.seed(44)
    file = tmp_path / "site.toml"
    for _ in range(150):
        at, more = (
            random.randrange(len(SITE)),
            random.choice(['"', "{", "[", "=", "\n", "\x00", "9", "{node}"]),
        )
        file.write_text(SITE[:at] + more + SITE[at + random.randrange(4) :])
        try:
            allocation = site.load(str(file))
            if allocation.links:
                allocation.link_words("ring", 2)
        except FabricmarkError as error:
            assert error.exit_code == 2


def test_each_topology_joins_whom_its_kernels_talk_to():
    """Who is at the other end, as docs/channels.md says of the suite's kernels."""
    for boards in (1, 2, 3, 8):
        joined = both_ways(cabling.cables("ring*2", boards, 4))
        assert all(joined[b, i] == ((b + 1) % boards, i + 2) for b in range(boards) for i in (0, 1))
        assert len(joined) == 4 * boards
    for rows, columns in ((1, 1), (2, 2), (2, 3), (3, 4)):
        joined = both_ways(cabling.cables(f"torus:{rows}x{columns}", rows * columns, 4))
        for row in range(rows):
            for column in range(columns):
                here = row * columns + column
                assert joined[here, 0] == (row * columns + (column + 1) % columns, 1)
                assert joined[here, 2] == ((row + 1) % rows * columns + column, 3)
        assert len(joined) == 4 * rows * columns
    joined = both_ways(cabling.cables("transpose", 9, 4))
    assert joined[1, 3] == (3, 3) and joined[4, 0] == (4, 1) and joined[5, 2] == (7, 2) and len(joined) == 36
    joined = both_ways(cabling.cables("pairs", 4, 2))
    assert joined == {(b, i): (b ^ 1, i) for b in range(4) for i in range(2)}
    assert len(cabling.cables("torus", 6, 4)) == 12


def both_ways(laid):
    """By end the other one; no port has two cables."""
    found = {}
    for one, other in laid:
        for here, there in {(one, other), (other, one)}:
            assert here not in found
            found[here] = there
    return found


@pytest.mark.parametrize(
    ("text", "boards", "ports", "cause"),
    [
        ("ring:8", 3, 4, "ring:8 is for 8 boards, and these are 3"), ("ring*3", 4, 4, "takes 6 ports"),
        ("pairs", 3, 4, "an even number"), ("transpose", 6, 4, "a square number"),
        ("torus:2x3", 4, 4, "is for 6 boards"), ("torus", 4, 2, "takes 4 ports"),
        ("torus*2", 4, 8, "single cables"), ("ring:2x2", 4, 4, "one number"),
    ],
)  # fmt: skip
def test_a_topology_for_other_boards_is_refused(text, boards, ports, cause):
    with pytest.raises(FabricmarkError, match=re.escape(cause)):
        cabling.cables(text, boards, ports)


def test_the_example_gives_the_strings_of_the_switch():
    bittware = site.load(f"{REPOSITORY / EXAMPLE}:520n")
    assert bittware.link_words("ring*2", 2) == [
        "--fpgalink=n00:acl0:ch0-n00:acl1:ch2", "--fpgalink=n00:acl0:ch1-n00:acl1:ch3",
        "--fpgalink=n00:acl1:ch0-n00:acl0:ch2", "--fpgalink=n00:acl1:ch1-n00:acl0:ch3",
    ]  # fmt: skip
    assert len(ends(bittware.link_words("torus", 32))) == 64
    alveo = site.load(f"{REPOSITORY / EXAMPLE}:u280")
    assert alveo.link_words("ring", 4)[2:] == [
        "--fpgalink=n00:acl2:ch0-n01:acl0:ch1", "--fpgalink=n01:acl0:ch0-n00:acl0:ch1",
    ]  # fmt: skip
    with pytest.raises(FabricmarkError, match="several allocations"):
        site.load(str(REPOSITORY / EXAMPLE))


def test_ranks_fill_a_node_or_go_around(tmp_path):
    file = tmp_path / "site.toml"
    file.write_text(SITE)
    packed = site.load(str(file))
    assert [packed.place(rank, 4) for rank in range(4)] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    file.write_text(SITE.replace("nodes = 2\n", 'nodes = 2\nplacement = "spread"\n'))
    spread = site.load(str(file))
    assert [spread.place(rank, 4) for rank in range(4)] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert spread.link_words("ring", 3)[1] == "--fpgalink=n01:acl0:ch0-n00:acl1:ch1"

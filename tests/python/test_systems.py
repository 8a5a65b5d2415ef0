"""What systems/*.toml give the models, value by value against the documents' tables."""

import dataclasses
import re

import pytest
from conftest import REPOSITORY
from fabricmark import systems
from fabricmark.base import kernels, keys, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.results import published
from fabricmark.systems import catalogue, files, key_lines

SYSTEMS = REPOSITORY / "systems"
FILES = sorted(SYSTEMS.rglob("*.toml"))
# How a source names its document, and where in it.
DOCUMENTS = re.compile(
    r"(Meyer|Mondigo|Karl|OFS|(Meyer|Contini|Al-Fares|Kim) et al\.) 20\d\d, (section|Table|Fig\.|eq\.)"
    r"|AMD (UG|XD)\d+|NVIDIA H200 data sheet|Intel's product table"
    r"|the whole memory counts as one|no switch|one port carries"
)
BOARDS = [
    "520n",
    "520n_100g",
    "520n_mx",
    "cpu",
    "de5a_net",
    "h200",
    "n6001",
    "pac_d5005",
    "u250",
    "u280_ddr",
    "u280_hbm",
]
NETWORKS = [
    "520n_serial_40g", "520n_serial_100g", "aurora", "accl_udp_direct", "accl_udp_switched",
    "accl_tcp_direct", "accl_tcp_switched", "serial_lite_iii", "ethernet_40g_leaf_spine", "omni_path",
    "infiniband", "noctua1_mpi", "accl_rdma_direct", "accl_rdma_switched",
]  # fmt: skip
NAMES = ["arria10_ring", "cygnus", "dragonfly", "fat_tree", "hacc", "leaf_spine", "noctua1", "noctua2"]


pytestmark = pytest.mark.usefixtures("of_the_repository")


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_everything_that_was_asked_for_is_there():
    assert systems.names() == NAMES
    assert set(files.listed("board")) == {*BOARDS, "u55c"}
    assert set(NETWORKS) <= set(files.listed("network"))


@pytest.mark.parametrize("profile", systems.PROFILES)
@pytest.mark.parametrize("name", NAMES)
def test_every_system_and_each_of_its_kinds_of_devices(name, profile):
    for board in systems.load(name, profile).boards:
        system = systems.load(name, profile, board)
        assert (system.name, system.board_id) == (name, board)
        assert {one.board for one in system.bitstreams} == {board}
        assert system.board.memory_bytes_per_second > 1e9
        assert 1 <= system.devices_per_node <= system.most_devices
        assert system.networks


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_figure_has_a_source_or_a_reasoning(path):
    found = catalogue.entry(catalogue.kind_of(path), path).sourced
    assert found
    for one in found:
        assert one.value is not None or one.fitted is not None
        if one.value is not None:
            assert DOCUMENTS.search(one.source), one
        if one.fitted is not None:
            assert len(one.inferred.split()) >= 3, one


def test_a_source_that_names_no_document_would_be_found(copied):
    change(copied / "boards" / "520n.toml", "Meyer 2024, section 3.2.2", "the vendor")
    values = catalogue.entry("board", copied / "boards" / "520n.toml").sourced
    assert any(not DOCUMENTS.search(one.source) for one in values if one.value is not None)


# (file, bitstream, logic, DSPs, MHz): one line of each table, and both ends of the long ones.
SYNTHESES = [
    ("520n_single", "stream", 176396, 128, 316.67),
    ("520n_mx_single", "random_access", 212838, 112, 477.78),
    ("u280_hbm_single", "fft", 602125, 5280, 254.0),
    ("pac_d5005_single", "gemm", 299427, 3398, 225.0),
    ("520n_single", "stream_16k", 203607, 128, 280.0),
    ("520n_single", "gemm_half", 420188, 286, 208.63),
    ("u280_hbm_single", "gemm_double", 553260, 4230, 241.0),
    ("u280_ddr_multi", "ptrans_host", 283028, 96, 283.0),
    ("520n_multi", "hpl_host_256", 276546, 3185, 280.0),
    ("520n_100g", "hpl_channels", 396597, 2809, 225.0),
    ("u280_hbm_shallow_water", "accl_tcp", 334225, 1242, 252.0),
]


@pytest.mark.parametrize("file, name, logic, dsps, megahertz", SYNTHESES)
def test_syntheses(file, name, logic, dsps, megahertz):
    entry = catalogue.entry("bitstreams", SYSTEMS / "bitstreams" / f"{file}.toml")
    known = {one.place.partition(": ")[2]: one.value for one in entry.sourced}
    resources = [known[f"bitstreams.{name}.resources.{one}"] for one in ("logic", "dsps")]
    assert resources == [logic, dsps]
    assert systems.bitstreams(file, "published")[name]["clock"] == pytest.approx(megahertz * 1e6)


PARAMETERS = {
    ("u280_hbm_single", "stream"): {"replications": 32, "vector_width": 16, "buffer_size": 2048},  # Table 3.4
    ("520n_mx_single", "fft"): {"replications": 16, "log_size": 7},
    ("u280_hbm_single", "stream_half"): {"unroll": 32, "vector_width": 1, "data_type": "half"},  # Table 3.8
    ("520n_multi", "random_access"): {"buffer_size": 1, "log_rngs": 5, "rng_distance": 5},  # Table 4.6
    ("u280_ddr_multi", "hpl_host"): {"block_size": 256, "register_block": 8, "replications": 2},
    ("520n_100g", "hpl_channels"): {"block_size": 512, "register_block": 8, "replications": 5},
}


@pytest.mark.parametrize("place", PARAMETERS, ids="/".join)
def test_parameters(place):
    found = systems.bitstreams(place[0])[place[1]].parameters
    assert PARAMETERS[place].items() <= found.items()


def test_parameters_are_those_of_the_kernels(of_the_repository):
    """But for applications and variants that are not there yet, and kernels of b_eff over channels."""
    known = {name: kernels.kernel(name).variants for name in kernels.benchmark_names() if name != "b_eff"}
    found = [
        kernels.settings(one.benchmark, one.parameters)
        for path in (SYSTEMS / "bitstreams").glob("*.toml")
        for one in systems.bitstreams(path).values()
        if one.variant in known.get(one.benchmark, ())
    ]
    assert len(kernels.ask(found)) > 50


def test_figures_of_the_tables_and_sections():
    noctua = systems.load("noctua1", "published")
    assert (noctua.devices_per_node, noctua.most_devices) == (2, 32)
    assert noctua.board.memory_bytes_per_second == pytest.approx(76.8e9)
    assert noctua.board.memory_bytes == 32 * 2**30
    channels = noctua.networks["channels"]
    # Table 4.2
    assert (channels["links.count"], channels["links.width"], channels["links.clock"]) == (4, 32, 156.25e6)
    assert channels["latency"] == pytest.approx(520e-9)
    assert channels["links.width"] * channels["links.clock"] == pytest.approx(channels["links.bandwidth"])
    assert systems.board("u280_hbm").memory_bytes_per_second == pytest.approx(460e9)
    # Karl 2021, Table I.1
    assert systems.board("u250").memory_bytes_per_second == pytest.approx(77e9, rel=0.01)
    cygnus = systems.load("cygnus", "published")
    assert (cygnus.most_devices, cygnus.networks["channels"]["links.bandwidth"]) == (64, 12.5e9)
    switched = systems.network("accl_tcp_switched", "published")
    assert (switched.kind, switched["switch_latency"], switched["start_latency"]) == ("packet", 1e-6, 0.24e-6)
    # Section 5.1.4: the line and not long messages, and a call from the host
    assert (switched["links.line_rate"], switched["host_start_latency"]) == (12.5e9, 30e-6)
    assert switched["links.bandwidth"] == 12.3e9
    assert systems.network("accl_rdma_switched")["frame_overhead"] == 82
    leaf = systems.network("ethernet_40g_leaf_spine")
    assert leaf["node_latency"] + 2 * leaf["cable_latency"] == pytest.approx(1.328e-6)


def test_profiles():
    fitted, strict = (systems.load("noctua1", profile) for profile in systems.PROFILES)
    assert fitted.networks["channels"]["latency"] > 1.25 * strict.networks["channels"]["latency"]
    assert (strict.board["memory.burst_latency"], strict.board["host.launch_latency"]) == (0.0, 0.0)
    assert fitted.board["memory.burst_latency"] == 110e-9
    assert "fitted.multiply_efficiency" not in strict.bitstream("hpl", "host").values.known
    with pytest.raises(FabricmarkError, match="no profile guessed; use one of fitted, published"):
        systems.load("noctua1", "guessed")


def test_the_curves_of_the_hosts_are_the_calibration_rows():
    curves = systems.load("noctua1").networks["cpu"].curves
    assert [(one.devices, one.nodes) for one in curves] == [(1, 1), (2, 1), (2, 2), (4, 2), (16, 8)]
    rows = [row for row in published.load() if row.role == "calibration" and row.system == "noctua1"]
    sixteen = {
        row.message_bytes: row.value for row in rows if row.devices == 16 and row.metric == "bandwidth"
    }
    longest = curves[-1]
    assert longest.message_bytes == tuple(float(2**power) for power in range(21))
    assert 2 * 16 * 2**20 / longest.seconds[-1] == pytest.approx(sixteen[2**20])
    assert len(systems.load("hacc").networks["host"].curves) == 1


def test_bitstreams_are_chosen_by_transport_and_parameters():
    system = systems.load("noctua1")
    assert system.bitstream("hpl", "channels")["clock"] == 244e6
    assert system.bitstream("hpl", "host")["clock"] == pytest.approx(233.34e6)
    assert system.bitstream("hpl", "host", block_size=256)["clock"] == 280e6
    assert system.bitstream("stream", "channels").name == "stream"  # exchanges nothing
    assert system.bitstream("stream", data_type="double")["clock"] == 322.5e6
    assert system.bitstream("hpl", "host", block_size=64) is None


def test_transports_are_those_of_the_programs():
    over = {
        value
        for name in kernels.benchmark_names()
        for one in kernels.kernel(name).parameters.values()
        if one.name == "transport"
        for value in one.values
    }
    assert over | {transports.NONE} == set(transports.NAMES)
    assert set(transports.between(transports.ENGINES)) < over


def test_a_bitstream_stands_in_for_the_boards_memory():
    system = systems.load("hacc")
    of_random_access = system.board_with(system.bitstream("random_access"), 3)
    assert of_random_access["memory.burst_latency"] == pytest.approx(1.16e-6)
    assert (of_random_access.devices, of_random_access.hosts) == (3, 1)
    assert of_random_access["clock"] == 300e6
    of_stream = system.board_with(system.bitstream("stream"), 4)
    assert (of_stream["memory.burst_latency"], of_stream.hosts) == (110e-9, 2)


def test_hosts_change_what_is_theirs_alone():
    own = systems.load("noctua2", board="u280_ddr").board
    assert own["host.write_bandwidth"] == 9.7e9  # Contini et al. 2024, section 4.1.2
    same = systems.board("u280_ddr")
    read = [name for name, key in keys.BOARD.items() if key.symbol]
    differs = {name for name in read if own.get(name) != same.get(name)}
    assert differs == {"host.write_bandwidth", "host.read_bandwidth", "host.invocation_latency"}
    assert dataclasses.replace(own, values=same.values) == same
    with pytest.raises(FabricmarkError, match="u55c is no board of this system; use one of 520n, u280_ddr"):
        systems.load("noctua2", board="u55c")


def test_a_board_by_itself():
    alone = systems.load("u280_hbm")
    assert (alone.most_devices, alone.networks, alone.board_id) == (1, {}, "u280_hbm")
    assert {one.benchmark for one in alone.bitstreams} >= {"stream", "gemm", "fft", "shallow_water"}
    assert systems.load("h200").board.device_class == "gpu"
    cpu = systems.load("cpu").board
    assert (cpu["processor.cores"], cpu.flops("double")) == (20, pytest.approx(1158.9e9))
    assert cpu.updates_per_second == ((512 * 2**20, 0.06e9),)
    assert systems.load("cpu", "published").board.updates_per_second == ()  # the table's size is inferred


def test_another_boards_bitstreams_keep_their_own_clock():
    cygnus = systems.load("cygnus").bitstream("hpl", "channels")
    noctua = systems.load("noctua1").bitstream("hpl", "channels")
    assert (cygnus["clock"], noctua["clock"]) == (225e6, 244e6)
    assert cygnus.parameters == noctua.parameters
    for name in (name for name in keys.BITSTREAM if name.startswith("fitted.")):
        assert cygnus.get(name) == noctua.get(name)
    assert cygnus.board == "520n_100g"


def test_files_beside_the_system_come_first(copied):
    change(copied / "boards" / "520n.toml", '"19.2 GB/s"', '"9.6 GB/s"')
    assert systems.load(copied / "noctua1.toml").board["memory.bank_bandwidth"] == 9.6e9
    assert systems.load(str(copied / "noctua1.toml")).board["memory.bank_bandwidth"] == 9.6e9
    assert systems.load("noctua1").board["memory.bank_bandwidth"] == 19.2e9


def test_own_files_are_found_by_name(copied, monkeypatch):
    monkeypatch.setenv("FABRICMARK_SYSTEMS", str(copied))
    (copied / "mine.toml").write_text((copied / "hacc.toml").read_text())
    assert systems.user_folder() == copied
    assert "mine" in systems.names()
    assert systems.load("mine").board_id == "u280_ddr"
    monkeypatch.delenv("FABRICMARK_SYSTEMS")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/somewhere")
    assert str(systems.user_folder()) == "/somewhere/fabricmark/systems"


def test_a_folder_that_nobody_may_read_holds_nothing(copied, monkeypatch):
    monkeypatch.setenv("FABRICMARK_SYSTEMS", str(copied / ("a" * 300)))  # any access fails, for root too
    assert systems.load("noctua1").board_id == "520n"
    assert "noctua1" in systems.names()


def test_lines_of_keys():
    text = '# c\na = 1\n[t] # [x]\n"b c" = "# = ]"\nd.e = { f = [1,\n 2], g = """x\ny""" }\n'
    text += "[[l]]\nh = 1\n[[l]]\nh = 2\n[l.m]\nn = '''\n[no]\n'''\n'o' = 1979-05-27 07:32:00\n"
    known = key_lines.of_keys(text)
    assert known == {
        ("a",): 2, ("t",): 3, ("t", "b c"): 4, ("t", "d"): 5, ("t", "d", "e"): 5, ("t", "d", "e", "f"): 5,
        ("t", "d", "e", "f", 0): 5, ("t", "d", "e", "f", 1): 6, ("t", "d", "e", "g"): 6, ("l",): 8,
        ("l", 0): 8, ("l", 0, "h"): 9, ("l", 1): 10, ("l", 1, "h"): 11, ("l", 1, "m"): 12,
        ("l", 1, "m", "n"): 13, ("l", 1, "m", "o"): 16,
    }  # fmt: skip

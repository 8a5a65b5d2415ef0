"""Systems that are planned with several levels of switches: closed forms, the fabric's own ways, SimGrid."""

import csv
import io

import pytest
from conftest import REPOSITORY, WITH_SIMGRID
from fabricmark import systems
from fabricmark.base import kernels
from fabricmark.models import _network, _simulated
from fabricmark.models._switches import further_switches
from fabricmark.models.machine import Network, Values
from fabricmark.predict.cables import Call, Setting
from fabricmark.predict.closed_form import EXCHANGE
from fabricmark.simulate import calls, simgrid

UNCONTENDED = 1e-3
OF_BOUND = 0.05
FRAME = 1056
PLANS = {"leaf_spine": (8, 32, 40), "fat_tree": (8, 16, 64, 128), "dragonfly": (4, 32, 40, 128)}
TREES = [f"fat-tree:{ports}" for ports in (2, 4, 6, 8)]
GROUPS = [
    f"dragonfly:{groups}x{routers}x{below}"
    for groups in range(1, 8)
    for routers in range(1, 5)
    for below in (1, 2)
    if groups * routers * below > 1
]
# A switch takes a second, and nothing else takes time.
ONLY_SWITCHES = {"link_bytes_per_second": 1e9, "latency_seconds": 0.0, "switch_seconds": 1.0}

pytestmark = pytest.mark.usefixtures("of_the_repository")


def devices_of(topology):
    kind, sizes = topology.split(":")
    first, *others = (int(size) for size in sizes.split("x"))
    return first**3 // 4 if kind == "fat-tree" else first * others[0] * others[1]


@pytest.fixture(params=PLANS)
def plan(request):
    return systems.load(request.param)


def test_switches_between_neighbours_are_those_of_the_fabric():
    """Rings of 2 devices up to all of them, on each of the small networks."""
    cases = [(one, ranks) for one in TREES + GROUPS for ranks in range(2, devices_of(one) + 1)]
    said = {"kind": "packet", "values": ONLY_SWITCHES}
    call = {"exchange": "ring", "bytes": 0}
    asked = [{"simulate": one, "ranks": ranks, "network": said, "call": call} for one, ranks in cases]
    for (topology, ranks), answer in zip(cases, kernels.ask(asked), strict=True):
        most, _ = further_switches(Network("n", "packet", topology=topology), ranks)
        assert answer["neighbour_latency_seconds"] == pytest.approx(1 + most), (topology, ranks)


def test_rings_leave_each_edge_and_each_pod_once():
    """Of 40 devices on a fat tree of switches with 4 ports, 2 on an edge and 4 in a pod; by hand."""
    tree = Network("n", "packet", topology="fat-tree:4")
    assert further_switches(tree, 2) == (0, 0)
    assert further_switches(tree, 4) == (2, pytest.approx(2 * 2 / 4))
    most, mean = further_switches(tree, [[4, 12]])
    assert most.tolist() == [[2, 4]] and mean[0, 1] == pytest.approx((3 * 2 + 3 * 4) / 12)
    leaf = Network("n", "packet", values=Values("network", {"switch_ports": 8}))
    assert further_switches(leaf, 8) == (2, pytest.approx(2 * 2 / 8))


def test_neighbours_take_what_the_models_say(plan):
    """The models' hop and switches, the closed form of `simulate`, and packets over all cables."""
    network = plan.networks["channels"]
    rate, header = network["links.bandwidth"], 0
    for ranks in PLANS[plan.name]:
        (found,) = calls.simulate(Call(EXCHANGE, FRAME), [Setting(ranks, network.topology)], network)
        said = _network.hop_seconds(network) + float(_network.spine_seconds(network, ranks))
        assert found.closed == pytest.approx(said + 2 * (FRAME + header) / rate, rel=UNCONTENDED), ranks
        assert found.shared == pytest.approx(found.closed, rel=UNCONTENDED), ranks


@WITH_SIMGRID
def test_simgrid_says_the_same_of_a_message_over_all_levels(plan):
    """Two ranks, drawn from all devices, give each other a message."""
    network, call = plan.networks["channels"], Call("all_gather", FRAME, "ring")
    drawn = [Setting(2, network.topology, "random", seed) for seed in (1, 2)]
    for found in calls.simulate(call, drawn, network):
        assert simgrid.seconds(found.request)[0] == pytest.approx(found.closed, rel=UNCONTENDED)
        assert found.shared == pytest.approx(found.closed, rel=UNCONTENDED)


@pytest.mark.parametrize("topology", ["fat-tree:4", "dragonfly:2x1x32"])
def test_all_to_all_takes_what_the_cables_carry(topology):
    """A fat tree holds nobody up but at the ports; the one cable between two groups everybody."""
    network = systems.load("fat_tree").networks["channels"]
    ranks = min(devices_of(topology), 64)
    sent = (1 << 20) if topology in TREES else 64 * FRAME
    (found,) = calls.simulate(Call("all_to_all", sent, "pairwise"), [Setting(ranks, topology)], network)
    crossing = ranks - 1 if topology in TREES else (ranks // 2) ** 2
    assert found.bound == pytest.approx(crossing * sent / network["links.bandwidth"], rel=UNCONTENDED)
    assert found.bound <= found.shared <= (1 + OF_BOUND) * found.bound


def test_the_sizes_fit_the_switches_and_the_devices(plan):
    network = plan.networks["channels"]
    kind, sizes = network.topology.split(":")
    first, *others = (int(size) for size in sizes.split("x"))
    ports = {
        "leaf-spine": lambda: max(others[0] + others[1], first),
        "fat-tree": lambda: first,
        "dragonfly": lambda: others[1] + others[0] - 1 + -(-(first - 1) // others[0]),
    }[kind]()
    assert ports <= network["switch_ports"]
    request = {"simulate": network.topology, "ranks": 2, "network": _simulated.network_of(network),
               "call": {"exchange": "ring", "bytes": 0}}  # fmt: skip
    assert kernels.ask([request])[0]["devices"] == plan.most_devices


@pytest.mark.parametrize("system", ["fat_tree", "dragonfly"])
@pytest.mark.parametrize(
    "words",
    [
        ("predict", "b_eff", "--devices", "2,1024", "--csv", "-"),
        ("predict", "lbm"),
        ("predict", "tsunami", "--devices", "1,512"),
        ("explore", "lbm", "--devices", "1,64", "--top", "1"),
        ("simulate", "all_to_all", "--bytes", "4KiB"),
        ("systems", "check"),
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_commands_go_over_planned_systems(place, words, system):
    place.environment["FABRICMARK_ROOT"] = str(REPOSITORY)
    named = (
        [str(REPOSITORY / "systems" / f"{system}.toml")] if words[0] == "systems" else ["--system", system]
    )
    done = place.run(*words, *named)
    assert done.returncode == 0, done.stderr
    if words[-1] == "-":
        assert [*csv.DictReader(io.StringIO(done.stdout))]

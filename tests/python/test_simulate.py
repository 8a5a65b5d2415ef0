"""`fabricmark simulate`: uncontended as the system file says, contended as the cables carry."""

import csv
import io
import json
import re
import resource
import subprocess
from random import Random

import pytest
from conftest import WITH_SIMGRID
from fabricmark import systems
from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.predict import closed_form
from fabricmark.predict.cables import Call, Setting
from fabricmark.predict.closed_form import EXCHANGE
from fabricmark.results import timeline
from fabricmark.simulate import calls, simgrid, view

UNCONTENDED = 1e-3
OF_BOUND = 0.05
LEAF = 32
FRAME = 1056


@pytest.fixture(scope="module")
def network():
    return systems.load("leaf_spine", "fitted").networks["channels"]


@pytest.fixture(scope="module")
def devices():
    return {name: systems.load(name).most_devices for name in systems.names()}


def simulated(call, network, ranks, topology, **more):
    (found,) = calls.simulate(call, [Setting(ranks, topology, **more)], network)
    return found


@pytest.mark.parametrize(
    ("operation", "algorithm", "sent"),
    [
        ("all_reduce", "ring", FRAME * LEAF),
        ("all_reduce", "recursive_doubling", 1 << 20),
        ("all_gather", "ring", 1 << 16),
        ("all_gather", "recursive_doubling", 1 << 12),
        ("all_to_all", "pairwise", 1 << 16),
        ("all_to_all", "bruck", 1 << 10),
        ("barrier", "dissemination", 0),
        ("broadcast", "binomial", 1 << 20),
        ("reduce", "binomial", 1 << 20),
        ("reduce_scatter", "ring", 1 << 14),
        ("reduce_scatter", "recursive_halving", 1 << 14),
        (EXCHANGE, "ring", 1 << 20),
        (EXCHANGE, "grid", 1 << 20),
        (EXCHANGE, "transpose", 1 << 20),
        (EXCHANGE, "all", 1 << 16),
    ],
)
def test_uncontended_calls_are_their_closed_form(network, operation, algorithm, sent):
    ranks, rows = (36, 6) if operation == EXCHANGE else (LEAF, 1)
    found = simulated(Call(operation, sent, algorithm, rows=rows), network, ranks, f"switch:{ranks}")
    assert found.shared == pytest.approx(found.closed, rel=UNCONTENDED)
    assert found.alone == pytest.approx(found.closed, rel=UNCONTENDED)
    assert view.reasons(found)[-1].startswith("the closed form holds")


def test_every_closed_form_is_compared():
    (mark,) = test_uncontended_calls_are_their_closed_form.pytestmark
    assert {(case[0], case[1]) for case in mark.args[1]} == set(closed_form.FORMS)


def test_a_message_takes_what_the_file_says(network):
    """Both neighbours of a rank of two are one: latency, switch, and the bytes of two messages."""
    found = simulated(Call(EXCHANGE, FRAME), network, 2, "switch:2")
    said = network["latency"] + network["switch_latency"] + 2 * FRAME / network["links.bandwidth"]
    assert found.shared == pytest.approx(said, rel=UNCONTENDED)


def test_all_to_all_over_one_spine_takes_what_its_cables_carry(network):
    sent = 64 * FRAME
    found = simulated(Call("all_to_all", sent, "pairwise"), network, 2 * LEAF, f"leaf-spine:2x1x{LEAF}")
    bisection = LEAF * LEAF * sent / network["links.bandwidth"]
    assert bisection <= found.shared <= (1 + OF_BOUND) * bisection
    assert found.bound == pytest.approx(bisection, rel=UNCONTENDED)
    busiest, *why = view.reasons(found)
    assert "leaf 0 to spine 0, of 1024 pairs" in busiest
    assert any("messages share cables" in line for line in why)


def test_steps_keep_an_all_to_all_off_a_dragonflys_bound(network):
    """Two groups of 32 on one cable between them. By steps the cable waits while all stay in their groups, so
    that the steps' busiest cables add up to more than the bound; without steps it is reached."""
    sent, place = 64 * FRAME, Setting(64, "dragonfly:33x8x4")
    one = sent / network["links.bandwidth"]
    within, across = range(1, 32), range(32, 64)  # the ranks' numbers differ by these: four to a router
    (by_steps,) = calls.simulate(Call("all_to_all", sent, "pairwise"), [place], network)
    pairs = by_steps.links[0]["pairs"]  # of 32 x 32 all but those with as short a way over a third group
    assert 0.85 * 32 * 32 < pairs <= 32 * len(across)
    steps = sum(1 if apart < 4 else 4 for apart in within) + pairs
    assert by_steps.bound == pytest.approx(pairs * one, rel=UNCONTENDED)
    assert by_steps.shared >= (len(within) + pairs) * one  # no cable between groups before a rank's own steps
    assert by_steps.shared == pytest.approx(steps * one, rel=0.03)
    (at_once,) = calls.simulate(Call(EXCHANGE, sent, "all"), [place], network)
    assert at_once.bound == pytest.approx(by_steps.bound)
    assert at_once.bound <= at_once.shared <= (1 + OF_BOUND) * at_once.bound


def test_more_oversubscription_takes_longer(network):
    call = Call("all_to_all", 64 * FRAME, "pairwise")
    whole = f"leaf-spine:2x{LEAF}x{LEAF}"
    places = [Setting(2 * LEAF, calls.oversubscribed(whole, factor)) for factor in (1, 2, 8, 32)]
    found = calls.simulate(call, places, network)
    times = [one.shared for one in found]
    assert times == sorted(times) and times[-1] > 10 * times[0]
    assert times[0] == pytest.approx(found[0].alone, rel=UNCONTENDED)
    assert len({one.closed for one in found}) == 1


def test_a_failed_cable_changes_what_goes_over_it_only(network):
    topology = "leaf-spine:2x4x4"
    across, within = Call("all_to_all", 256 * FRAME, "pairwise"), Call(EXCHANGE, 256 * FRAME)
    failed = {"failed": ("leaf 0:spine 1",)}
    before, after = (simulated(across, network, 8, topology, **more) for more in ({}, failed))
    assert after.shared > 1.3 * before.shared
    assert after.closed == before.closed
    before, after = (simulated(within, network, 4, topology, **more) for more in ({}, failed))
    assert after.shared == before.shared


def test_spread_ranks_cross_the_spines(network):
    call = Call("all_reduce", LEAF * FRAME, "ring")
    packed, spread = (
        simulated(call, network, LEAF, f"leaf-spine:4x1x{LEAF}", placement=one)
        for one in ("packed", "spread")
    )
    assert spread.shared > 1.5 * packed.shared
    assert {packed.links[0]["from"], packed.links[0]["to"]} == {"device 0", "leaf 0"}
    assert "spine 0" in {spread.links[0]["from"], spread.links[0]["to"]}


def test_the_command_tells_all_models_and_why(run, tmp_path):
    file = tmp_path / "times.csv"
    words = ["simulate", "alltoall", "--system", "leaf_spine", "--ranks", "64", "--bytes", "16KiB"]
    done = run(*words, "--oversubscription", "1,32", "--no-simgrid", "--csv", str(file))
    assert done.returncode == 0, done.stderr
    said = done.stdout
    for model in (view.CLOSED, view.ALONE, view.SHARED, view.BOUND):
        assert model in said
    assert "leaf-spine:64x1x32" in said and "messages share cables" in " ".join(said.split())
    rows = list(csv.DictReader(io.StringIO(file.read_text())))
    assert len(rows) == 8 and {row["kind"] for row in rows} == {"modelled"}


@pytest.mark.parametrize("system", systems.names())
def test_the_usual_ranks_are_those_of_the_system(run, devices, system):
    done = run("simulate", "barrier", "--system", system, "--no-simgrid")
    if done.returncode == 2:
        assert re.search(
            "has no network for|use another|name one of them|no algorithm does barrier over torus",
            done.stderr,
        ), done.stderr
        return
    ranks = min(devices[system], 64)
    assert done.returncode == 0 and f"{ranks} ranks" in done.stdout, done.stderr


@pytest.mark.parametrize("more", [[], ["--oversubscription", "1,2,4"]])
def test_a_picture_is_drawn(run, tmp_path, more):
    file = tmp_path / "drawn.svg"
    words = ["simulate", "all_to_all", "--system", "leaf_spine", "--ranks", "16", "--bytes", "4KiB"]
    done = run(*words, "--plot", str(file), *more)
    assert done.returncode == 0, done.stderr
    assert file.read_text().lstrip().startswith(("<?xml", "<svg"))


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["alltonone"], "there is no call 'alltonone'"),
        (["all_to_all", "--algorithm", "fast"], "fast does no all_to_all of 64 ranks"),
        (["all_to_all", "--bytes", "64 KiBit"], "--bytes 64 KiBit"),
        (["all_to_all", "--ranks", "4000"], "leaf_spine has no 4000 devices"),
        (["all_to_all", "--fail", "leaf 0:spine 99"], "has no node 'spine99'"),
        (["all_to_all", "--fail", "leaf 0:leaf 1"], "has no cable from leaf 0 to leaf 1"),
        (["all_to_all", "--fail", "device 0:leaf 0"], "device 0 has no cable"),
        (["all_to_all", "--oversubscription", "3"], "--oversubscription 3"),
        (["all_to_all", "--oversubscription", "two"], "--oversubscription two"),
        (["all_to_all", "--topology", "ring", "--oversubscription", "2"], "--oversubscription over ring"),
        (["all_to_all", "--topology", "leaf-spine:2x2x4"], "64 ranks need 64 devices"),
        (["all_to_all", "--topology", "fat-tree:5"], "fat-tree:5 is no topology"),
        (["all_to_all", "--topology", "star:4"], "'star:4' is no topology"),
        (["all_to_all", "--placement", "tight"], "'tight' is no placement"),
        (["all_to_all", "--set", "size=2"], "--set size: no value"),
        (["barrier", "--bytes", "4"], "barrier moves no elements"),
        (["exchange", "--algorithm", "pairwise"], "exchange has no algorithm pairwise"),
    ],
)
def test_what_cannot_be_is_one_line(run, one_error_line, words, cause):
    usual = ["--system", "leaf_spine"] + ([] if "--ranks" in words else ["--ranks", "64"])
    assert cause in one_error_line(run("simulate", *words, *usual), 2)


def test_circuits_refuse_what_has_no_circuit(run, one_error_line):
    words = ("all_to_all", "--algorithm", "pairwise", "--system", "noctua2", "--ranks", "8")
    said = one_error_line(run("simulate", *words), 2)
    assert "pairwise does no all_to_all of 8 ranks over ring:8; use relay" in said


@pytest.mark.full
def test_a_ring_of_2048_devices_is_played_in_ten_seconds(network):
    """Each of both plays; of processors' time, as other tests run beside this one."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = simulated(Call("all_reduce", 1 << 20, "ring"), network, 2048, network.topology)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert found.about["messages"] == 2048 * 2 * 2047
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime <= 2 * 10


@WITH_SIMGRID
@pytest.mark.parametrize(
    ("operation", "algorithm"),
    [("all_reduce", "ring"), ("all_to_all", "pairwise"), (EXCHANGE, "ring"), ("barrier", "dissemination")],
)
def test_simgrid_uncontended_is_the_closed_form(of_the_repository, network, operation, algorithm):
    sent = 0 if operation == "barrier" else LEAF * FRAME
    found = simulated(Call(operation, sent, algorithm), network, LEAF, f"switch:{LEAF}")
    seconds, said = simgrid.seconds(found.request)
    assert seconds == pytest.approx(found.closed, rel=UNCONTENDED), said


@WITH_SIMGRID
def test_simgrid_over_one_spine_is_within_the_bound(of_the_repository, network):
    call = Call("all_to_all", 64 * FRAME, "pairwise")
    found = simulated(call, network, 2 * LEAF, f"leaf-spine:2x1x{LEAF}")
    seconds, _ = simgrid.seconds(found.request)
    assert found.bound <= seconds <= (1 + OF_BOUND) * found.bound
    broken = simulated(call, network, 8, "leaf-spine:2x4x4", failed=("leaf 0:spine 1",))
    whole = simulated(call, network, 8, "leaf-spine:2x4x4")
    assert simgrid.seconds(broken.request)[0] > 1.2 * simgrid.seconds(whole.request)[0]


@WITH_SIMGRID
@pytest.mark.parametrize(
    ("operation", "algorithm", "sent"),
    [("all_reduce", "ring", 1 << 17), ("all_to_all", "pairwise", 1 << 12), ("all_to_all", "bruck", FRAME)],
)
def test_simgrid_is_the_own_network_where_messages_follow_each_other(
    of_the_repository, network, operation, algorithm, sent
):
    """Over leaves and spines, where ranks drift apart: messages come before they are asked for, and after."""
    found = simulated(Call(operation, sent, algorithm), network, 2 * LEAF, network.topology)
    assert simgrid.seconds(found.request)[0] == pytest.approx(found.shared, rel=1e-6)


@WITH_SIMGRID
@pytest.mark.full
def test_simgrid_plays_a_ring_of_2048_devices_in_a_minute(of_the_repository, network, monkeypatch):
    """Of a processor's time, as other tests run beside this one."""
    call, place = Call("all_reduce", 1 << 20, "ring"), Setting(2048, network.topology)
    monkeypatch.setattr(simgrid, "LONGEST_SECONDS", 10 * 60)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, said = simgrid.seconds(place.request(network, calls=[call.request()]))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert seconds is not None, said
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime <= 60


@WITH_SIMGRID
def test_simgrid_has_a_row(run):
    words = ("simulate", "barrier", "--system", "leaf_spine", "--ranks", "8")
    done = run(*words)
    assert "\nSimGrid " in done.stdout and simgrid.ABSENT not in " ".join(done.stdout.split())
    assert "SimGrid" not in run(*words, "--no-simgrid").stdout


def test_without_simgrid_the_own_network_answers_and_says_so(run, monkeypatch):
    def absent():
        raise FabricmarkError("not built", "build it", 3)

    monkeypatch.setattr(simgrid.paths, "simgrid", absent)
    done = run("simulate", "barrier", "--system", "leaf_spine", "--ranks", "8")
    assert done.returncode == 0 and simgrid.ABSENT in " ".join(done.stdout.split())
    assert "own network" in done.stdout


def test_a_simgrid_that_fails_is_one_line(run, one_error_line, monkeypatch, tmp_path):
    broken = tmp_path / "fabricmark-simgrid"
    broken.write_text("#!/bin/sh\necho 'fabricmark-simgrid: error: no; yes' >&2\nexit 2\n")
    broken.chmod(0o755)
    monkeypatch.setattr(simgrid.paths, "simgrid", lambda: broken)
    done = run("simulate", "barrier", "--system", "leaf_spine", "--ranks", "8")
    assert "fabricmark-simgrid" in one_error_line(done, 3)


def test_background_traffic_takes_time_and_has_devices_of_its_own(run, one_error_line, network):
    call = Call("all_to_all", 64 * FRAME, "pairwise")
    place = Setting(8, "leaf-spine:2x1x8", "spread")
    (quiet,), (busy,) = (calls.simulate(call, [place], network, background=share) for share in (0.0, 0.6))
    assert busy.shared > 1.2 * quiet.shared and busy.alone == quiet.alone
    assert simgrid.seconds(busy.request) == (None, simgrid.WITHOUT_BACKGROUND)
    words = ("simulate", "all_to_all", "--system", "leaf_spine", "--ranks", "8", "--bytes", "4KiB",
             "--background", "0.5")  # fmt: skip
    assert "background: devices without ranks send for 50 %" in run(*words).stdout
    assert busy.links[0]["pairs"] > 0 and busy.links[0]["busy_seconds"] <= busy.shared
    assert view.BOUND not in view.models_of(busy)
    said = one_error_line(run(*words, "--topology", "switch"), 2)
    assert "switch:8 has 0 devices without ranks" in said


def test_timelines_are_the_suites_and_perfettos(run, one_error_line, tmp_path):
    own, other = tmp_path / "a.timeline.json", tmp_path / "b.json"
    words = ("simulate", "all_to_all", "--system", "leaf_spine", "--ranks", "8", "--bytes", "4KiB")
    done = run(*words, "--timeline", str(own), "--perfetto", str(other))
    assert done.returncode == 0, done.stderr
    document = json.loads(own.read_text())
    assert timeline.first_fault_of(document) is None
    assert {entry["device"] for entry in document["series"]} == set(range(8))
    assert run("report", str(own)).returncode == 0
    events = [one for one in json.loads(other.read_text())["traceEvents"] if one["ph"] == "X"]
    assert all(one["dur"] > 0 for one in events)
    waited = sum(one["dur"] for one in events) * 1e-6
    kept = sum(activity[2] for entry in document["series"] for activity in entry["activities"])
    assert waited == pytest.approx(kept)
    assert "--timeline" in one_error_line(run(*words, "--timeline", "a.json"), 2)
    assert "--perfetto" in one_error_line(run(*words, "--perfetto", "a.txt"), 2)


SOME_NUMBERS = [-1, 0, 1, 2, 3, 4, 8, 16, 1e-9, 4.4e9, 1e30, 2**40, None, "x", [], {}]
SOME_CALLS = [
    {"collective": "all_reduce", "algorithm": "ring", "bytes": 64},
    {"collective": "all_to_all", "algorithm": "pairwise", "bytes": 7},
    {"exchange": "grid", "rows": 2, "bytes": 100},
    {"work": 1e-6},
    {"repeat": 3, "calls": [{"collective": "barrier", "algorithm": "dissemination"}]},
    {"repeat": 2, "calls": []},
    {"collective": "broadcast", "algorithm": "binomial", "bytes": 64, "over": "rows", "rows": 2},
]


def damaged(random):
    """A request, in which some values are others and some keys are missing or strange."""
    request = {
        "simulate": random.choice(
            [
                "switch",
                "ring",
                "torus",
                "leaf-spine:2x2x4",
                "fat-tree:4",
                "dragonfly:3x2x2",
                "",
                "x:y",
                "pair",
            ]
        ),
        "ranks": random.choice([2, 3, 4, 6, 8]),
        "network": {
            "kind": random.choice(["packet", "direct", "host"]),
            "values": {"link_bytes_per_second": 1e9, "latency_seconds": 1e-6, "frame_bytes": 100},
        },
        "calls": json.loads(json.dumps(random.choices(SOME_CALLS, k=random.randrange(4)))),
        "placement": random.choice(["packed", "spread", "random"]),
        "background": random.choice([0, 0, 0.5]),
        "activities": random.choice([0, 3]),
        "failed": random.choice([[], [], ["leaf 0:spine 1"], ["device 0:switch 0"], [":"]]),
    }
    for _ in range(random.randrange(3)):
        node = random.choice([request, request["network"], request["network"]["values"], *request["calls"]])
        node[random.choice([*node, "links", "seed", "rows", "bytes", "odd"])] = random.choice(SOME_NUMBERS)
        if not isinstance(request.get("network"), dict) or not isinstance(request.get("calls"), list):
            break
        if not isinstance(request["network"].get("values"), dict):
            break
    return request


def test_damaged_requests_are_answered_with_an_error():
    random = Random(26)
    requests = [damaged(random) for _ in range(400)]
    answers = []
    for at in range(0, len(requests), 100):
        text = json.dumps({"requests": requests[at : at + 100]})
        done = subprocess.run([paths.describe()], input=text, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        answers += json.loads(done.stdout)["answers"]
    kinds = {"error" if "error" in one else "played" for one in answers if "error" in one or "seconds" in one}
    assert len(answers) == len(requests) and kinds == {"error", "played"}
    assert all(one["error"]["cause"] and one["error"]["remedy"] for one in answers if "error" in one)


@WITH_SIMGRID
def test_simgrid_plays_damaged_requests_or_refuses_them_in_one_line(of_the_repository):
    random = Random(27)
    codes = set()
    for _ in range(60):
        request = {key: one for key, one in damaged(random).items() if key in (*simgrid.KEYS, "odd")}
        done = subprocess.run(
            [paths.simgrid()], input=json.dumps(request), capture_output=True, text=True, timeout=100
        )
        codes.add(done.returncode)
        said = [line for line in done.stderr.splitlines() if "xbt_cfg/INFO" not in line]
        if done.returncode == 0:
            assert json.loads(done.stdout)["seconds"] >= 0
        else:
            assert len(said) == 1 and said[0].startswith("fabricmark-simgrid: error: "), (request, said)
    assert codes == {0, 2}

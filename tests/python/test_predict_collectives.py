"""Collective operations as `fabricmark predict` has them: programs replayed against the clock of the emulated
fabric, over every transport that has one, and what is refused."""

import csv
import os
import subprocess
from dataclasses import replace
from functools import cache

import pytest
from conftest import DESCRIBE, REAL_PROGRAM, REPOSITORY
from fabricmark import systems
from fabricmark.base import kernels
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import _collective_costs, _collectives
from fabricmark.predict import collectives, micro, settings
from fabricmark.systems import export
from fabricmark.validate import unmeasured
from thinned import only

PROGRAM = REAL_PROGRAM.with_name("fm_collective")
CHOICES = PROGRAM.with_name("collective_choices")
SYSTEMS = {"channels": ("noctua1", None), "accl-udp": ("noctua2", "u280_hbm")}
ENGINE = ("noctua2", "u280_hbm")
# How far replays may be from the clock of the emulated fabric, and those whose steps follow one another.
FARTHEST, STEP_BY_STEP = 0.08, 0.01
CASES = (("accl-udp", 3), ("accl-tcp", 8), ("accl-rdma", 8), ("channels", 8))
SIZES = "64:256KiB"

pytestmark = pytest.mark.skipif(not DESCRIBE.exists(), reason="fabricmark-describe is not built")
needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason="fm_collective is not built")
needs_choices = pytest.mark.skipif(not CHOICES.exists(), reason="collective_choices is not built")


@pytest.fixture(scope="module", name="files")
def exported_systems(tmp_path_factory):
    folder = tmp_path_factory.mktemp("systems")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
        patch.setenv("FABRICMARK_SYSTEMS", os.devnull)
        for name in ("noctua1", "noctua2"):
            (folder / f"{name}.json").write_text(export.text(name))
        yield folder


def clock(files, operation, transport, ranks, algorithm, sizes, *more):
    """Seconds by bytes as the emulated fabric takes for them; none where it has not this algorithm."""
    name, _ = SYSTEMS.get(transport, ENGINE)
    words = [PROGRAM, operation, "--transport", transport, "--ranks", ranks, "--algorithm", algorithm]
    words += ["--system", files / f"{name}.json"]
    words += [] if operation == "barrier" else ["--sizes", sizes]
    words += [] if transport == "channels" else ["--issuer", "logic"]
    done = subprocess.run(
        [*map(str, [*words, *more])], capture_output=True, text=True, check=False, timeout=500
    )
    is_none = "is no algorithm for" in done.stderr or "no algorithm does" in done.stderr
    assert done.returncode == 0 or is_none, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    return {int(line[0]): float(line[2]) * 1e-6 for line in lines if len(line) > 4 and line[0].isdigit()}


def costs_of(transport, ranks):
    name, board = SYSTEMS.get(transport, ENGINE)
    system = systems.load(name, "fitted", board)
    network, board = system.networks[transport], system.board_with(None, ranks)
    asked = {"transport": transport, "issuer": "logic", "longest": 0}
    return _collective_costs.of(asked, board, network)


def doubled(name):
    """A change of costs."""

    def change(costs):
        values = costs.network["values"]
        return replace(costs, network={**costs.network, "values": {**values, name: 2 * values[name]}})

    return change


def errors(files, transport, ranks, operations, sizes=SIZES, change=lambda costs: costs, words=(), **more):
    """replay / clock - 1 by (operation, algorithm, bytes). `words` of the program, and `more` of the request,
    say the same."""
    costs = change(costs_of(transport, ranks))
    clocks, asked = {}, []
    for operation in operations:
        for algorithm in _collectives.algorithms(operation):
            measured = clock(files, operation, transport, ranks, algorithm, sizes, *words)
            assert bool(measured) == fits(operation, algorithm, costs, ranks), (operation, algorithm)
            for moved, time in measured.items():
                clocks[operation, algorithm, moved] = time
                size = 0 if operation == "barrier" else moved
                asked.append(_collectives.request(operation, costs, ranks, size, **more))
    found = zip(clocks.items(), kernels.answers(asked), strict=True)
    return {
        key: (costs.start + answer["algorithms"][key[1]]["seconds"]) / time - 1
        for (key, time), answer in found
    }


def fits(operation, algorithm, costs, ranks):
    """Whether programs have it for short and for long calls of so many ranks."""
    sizes = (0,) if operation == "barrier" else (64, 262144)
    asked = [_collectives.request(operation, costs, ranks, size) for size in sizes]
    return all(algorithm in answer.get("algorithms", ()) for answer in kernels.answers(asked))


def hold(found, limit=FARTHEST):
    far = sorted((abs(error), key) for key, error in found.items())
    assert far[-1][0] <= limit, far[-20:]


@needs_program
@pytest.mark.usefixtures("of_the_repository")
@pytest.mark.parametrize("transport, ranks", only(CASES, CASES[0], CASES[2]))
def test_replays_are_as_the_clock_of_the_emulated_fabric(files, transport, ranks):
    found = errors(files, transport, ranks, _collectives.OPERATIONS)
    assert len({key[:2] for key in found}) >= (9 if transport == "channels" else 19)
    hold(found)


LONG_CASES = {2: "64:8MiB", 5: "64:8MiB", 16: "64:1MiB", 32: "64:1MiB", 48: SIZES}
MANY_BUFFERS = 65536  # with few messages of several MiB are sent again, which replays leave out


@needs_program
@pytest.mark.full
@pytest.mark.usefixtures("of_the_repository")
@pytest.mark.parametrize("transport", ["accl-udp", "accl-tcp", "accl-rdma", "channels"])
@pytest.mark.parametrize("ranks", LONG_CASES)
def test_replays_of_long_calls_and_many_ranks_are_as_the_clock(files, transport, ranks):
    operations, sizes = _collectives.OPERATIONS, LONG_CASES[ranks]
    if transport != "channels":
        option = ("--rx-buffers", MANY_BUFFERS)
        hold(errors(files, transport, ranks, operations, sizes, words=option, buffers=MANY_BUFFERS))
    elif ranks <= 32:  # boards of the system
        hold(errors(files, transport, ranks, operations, sizes))


WIRED = (
    ("channels", 8, "torus:2x4"),
    ("channels", 5, "ring"),
    ("accl-udp", 8, "ring"),
    ("accl-tcp", 5, "ring"),
    ("accl-rdma", 8, "torus:2x4"),
)


@needs_program
@pytest.mark.usefixtures("of_the_repository")
@pytest.mark.parametrize("transport, ranks, topology", only(WIRED, *WIRED[:1], *WIRED[3:4]))
def test_replays_over_rings_and_tori_are_as_the_clock(files, transport, ranks, topology):
    """Devices pass messages on, and those of several ranks share cables."""

    def over_topology(costs):
        return replace(costs, network={**costs.network, "topology": topology})

    words = ("--topology", topology)
    found = errors(files, transport, ranks, _collectives.OPERATIONS, change=over_topology, words=words)
    hold(found)
    phases = {key: error for key, error in found.items() if key[1] == "two_phase"}
    assert bool(phases) == topology.startswith("torus")
    if phases:
        hold(phases, STEP_BY_STEP)


@needs_program
@pytest.mark.usefixtures("of_the_repository")
@pytest.mark.parametrize(
    "transport, ranks, name",
    [
        ("accl-udp", 8, "latency_seconds"),
        ("accl-udp", 8, "line_bytes_per_second"),
        ("channels", 8, "latency_seconds"),
        ("channels", 8, "clock_hz"),
    ],
)
def test_other_costs_would_be_noticed(files, transport, ranks, name):
    found = errors(files, transport, ranks, ["all_reduce"], change=doubled(name))
    with pytest.raises(AssertionError):
        hold(found)


WIRINGS = (("accl-udp", "switch"), ("accl-tcp", "switch"), ("accl-rdma", "switch"), ("channels", "ring"))
RANKS = (2, 3, 4, 5, 8, 16, 48)
FROM_64_B_TO_64_MIB = tuple(64 * 4**power for power in range(11))


@cache
def program_choices(file, transport, topology, ranks):
    """(operation, ranks, bytes), the algorithm that programs choose, and of all that fit seconds and receive
    buffers, by the costs that they take of a system."""
    words = [CHOICES, file, transport, topology, ranks, *FROM_64_B_TO_64_MIB]
    printed = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True).stdout
    found = []
    for line in printed.splitlines():
        operation, _, moved, chosen, *rest = line.split()
        fitting = {name: (float(time), int(buffers)) for name, time, buffers in batched(rest)}
        found.append(((operation, ranks, int(moved)), chosen, fitting))
    return found


def batched(words):
    return zip(words[::3], words[1::3], words[2::3], strict=True)


def disagreements(told, ranks, transport, change=lambda costs: costs, **more):
    """What programs, which have `told` so, and predictions say differently."""
    costs = change(costs_of(transport, ranks))
    answers = kernels.answers(
        [_collectives.request(operation, costs, ranks, moved, **more) for (operation, _, moved), _, _ in told]
    )
    for (key, chosen, fitting), answer in zip(told, answers, strict=True):
        own = {name: (one["seconds"], one["buffers"]) for name, one in answer["algorithms"].items()}
        is_same = own.keys() == fitting.keys() and all(
            time == pytest.approx(fitting[name][0], rel=1e-6) and buffers == fitting[name][1]
            for name, (time, buffers) in own.items()
        )
        if not is_same or answer["chosen"] != chosen:
            yield key, chosen, answer["chosen"], own, fitting


@needs_choices
@pytest.mark.usefixtures("of_the_repository")
@pytest.mark.parametrize("transport, topology", only(WIRINGS, *WIRINGS[:1], *WIRINGS[3:]))
def test_programs_choose_as_predictions_do(files, transport, topology):
    file = files / f"{SYSTEMS.get(transport, ENGINE)[0]}.json"
    cases, found = 0, []
    for ranks in RANKS:
        told = program_choices(file, transport, topology, ranks)
        cases += len(told)
        found += disagreements(told, ranks, transport)
    assert cases > 500
    assert not found, found[:3]


@needs_choices
@pytest.mark.usefixtures("of_the_repository")
@pytest.mark.parametrize(
    "change, more",
    [(doubled("copy_bytes_per_second"), {}), (lambda costs: costs, {"buffers": MANY_BUFFERS})],
    ids=["a faster copy from receive buffers", "any number of receive buffers"],
)
def test_other_choices_would_be_noticed(files, change, more):
    assert any(
        other != chosen
        for ranks in RANKS
        for _, chosen, other, *_ in disagreements(
            program_choices(files / "noctua2.json", "accl-tcp", "switch", ranks),
            ranks, "accl-tcp", change, **more,
        )
    )  # fmt: skip


def test_over_every_transport_side_by_side(predict, tmp_path):
    """The fastest algorithm, unvalidated; the time is that of its phases."""
    file = tmp_path / "found.csv"
    over = ["accl-tcp", "accl-udp", "accl-rdma", "channels", "host"]
    words = ["allreduce", "--system", "noctua2", "--board", "u280_hbm", "--transport", ",".join(over)]
    done = predict(*words, "--devices", "2..32", "--set", "size=64KiB", "--csv", file)
    assert done.returncode == 0, done.stderr
    assert "recursive_doubling" in done.stdout and done.stdout.count("unvalidated: no published value") == 5
    rows = [row for row in csv.DictReader(file.open()) if row["name"] == "time"]
    assert {(row["transport"], int(row["devices"])) for row in rows} == {
        (name, 2**power) for name in over for power in range(1, 6)
    }
    for row in rows:
        phases = sum(float(row[f"{name}_seconds"] or 0) for name in ("start", "latency", "bytes"))
        assert phases == pytest.approx(float(row["value"]) * 1e-6, rel=1e-4)


@pytest.mark.parametrize("name", [*collectives.OPERATIONS, "fm_latency", "fm_bw", "fm_bibw"])
def test_each_has_the_wide_error_bar_of_a_machine_that_nobody_measured(name):
    """No value is published of any; wider with a value that was changed, none in the closed form."""

    def bars(words=(), **more):
        usual = {"profile": "fitted", "closed_form": False, "beyond": False, **more}
        made = micro.cases if micro.is_one(name) else collectives.cases
        (case,) = made(name, "noctua1", "channels", [2], dict(words), [], None, **usual)
        assert "unvalidated" in case.known.line
        return [case.known.of(case.points[0], one) for one in case.points[0].predictions]

    usual = bars()
    assert set(usual) == {unmeasured.half_width(name, "channels", unmeasured.known())}
    assert bars({"network.latency": "1us"}) > usual
    assert set(bars(closed_form=True)) == set(bars(profile="published")) == {None}


def test_a_sweep_over_sizes_chooses_the_algorithm(predict):
    words = ["all_reduce", "--system", "noctua2", "--board", "u280_hbm", "--transport", "accl-udp"]
    done = predict(*words, "--devices", "8", "--sweep", "size=64:4MiB:x65536", "--set", "issuer=logic")
    small, large = [line for line in done.stdout.splitlines() if line.split()[:1] == ["8"]]
    assert "recursive_doubling" in small and "ring" in large
    forced = predict(*words, "--devices", "8", "--set", "size=64", "--set", "algorithm=ring")
    assert "ring" in forced.stdout


def test_half_of_a_latency_moves_it(predict):
    words = ["barrier", "--system", "noctua1", "--devices", "8"]
    usual, half = predict(*words), predict(*words, "--set", "network.latency=338.6ns")
    assert usual.stdout.splitlines()[-2] != half.stdout.splitlines()[-2]


def case_of(operation, transport, overrides):
    name, board = SYSTEMS.get(transport, ENGINE)
    more = {"profile": "fitted", "closed_form": False, "beyond": False}
    return collectives.cases(operation, name, transport, (4,), overrides, [], board, **more)[0]


@pytest.mark.usefixtures("of_the_repository")
@pytest.mark.parametrize("transport", ["accl-udp", "accl-tcp", "accl-rdma", "channels", "host", "cpu"])
def test_every_value_of_the_system_counts_or_is_refused(transport):
    """Doubled, it moves the time of all_reduce, is named as not limiting, or is refused."""
    name, board = SYSTEMS.get(transport, ENGINE)
    system = systems.load(name, "fitted", board)
    objects = {"network": system.networks[transport], "board": system.board, "bitstream": None}
    usual = [one.headline.value for one in case_of("all_reduce", transport, {}).points]
    seen = {"moved": 0, "named": 0, "refused": 0}
    for key in (key for key in settings.every_name() if not key.startswith("bitstream.")):
        value = settings.value(objects, key)
        if not value:
            continue
        try:
            case = case_of("all_reduce", transport, {key: written(key, 2 * value)})
        except FabricmarkError as error:
            assert "; " in str(error)
            seen["refused"] += 1
            continue
        moved = [one.headline.value for one in case.points] != usual
        named = any(line.startswith(f"{key} is not limiting") for line in case.about)
        assert moved != named, key
        seen["moved" if moved else "named"] += 1
    assert seen["moved"] >= 2 and seen["refused"] >= 5, seen


def written(key, value):
    """A value of the system as somebody may write it, in its SI unit."""
    dimension = settings.key_of(key).dimension
    units = {
        "seconds": "s",
        "bytes": "B",
        "bytes_per_second": "B/s",
        "hertz": "Hz",
        "flops_per_second": "FLOP/s",
    }
    return f"{value!r} {units[dimension]}" if dimension in units else repr(value)


OVER_UDP = ("--system", "noctua2", "--board", "u280_hbm", "--transport", "accl-udp")


def test_sensitivity_names_what_moves_it_most(predict):
    words = ["allreduce", *OVER_UDP, "--devices", "8"]
    done = predict(*words, "--set", "issuer=logic", "--set", "size=4MiB", "--sensitivity")
    line = next(line for line in done.stdout.splitlines() if line.startswith("sensitivity"))
    assert line.index("network.links.line_rate -") < line.index("network.copy_bandwidth -")


def test_what_does_not_limit_is_named(predict):
    words = ["barrier", *OVER_UDP, "--devices", "4"]
    done = predict(*words, "--set", "issuer=logic", "--set", "network.host_start_latency=1ms")
    assert "network.host_start_latency is not limiting" in done.stdout
    done = predict(*words, "--set", "issuer=logic", "--sweep", "network.host_start_latency=1us:1ms:x10")
    assert "network.host_start_latency is not limiting" in done.stdout


REFUSED = (
    (["allreduce", "--system", "leaf_spine"], "channels has no engine for them", "use a network of direct"),
    (["allreduce", "--system", "u250"], "u250 has no network for all_reduce", "use another system"),
    (["bcast", "--system", "cygnus", "--devices", "64"], "ranks, a torus of 8x8", "use a ring"),
    (["allreduce", "--system", "noctua1", "--devices", "64"], "no 64 devices", "or --beyond"),
    (["allreduce", "--system", "noctua1", "--transport", "mpi"], "no transport mpi", "channels, host, cpu"),
    (["allreduce", "--system", "noctua1", "--set", "foo=1"], "no parameter foo", "use one of size"),
    (["allreduce", "--system", "noctua1", "--set", "size=x"], "does not begin with a number", "64KiB"),
    (["allreduce", "--system", "noctua1", "--set", "size=0"], "no number of bytes", "write 1 to"),
    (["allreduce", "--system", "noctua1", "--set", "issuer=logic"], "issuer=logic over channels", "engine"),
    (["allreduce", "--system", "noctua1", "--set", "algorithm=x"], "'x' is no algorithm", "two_phase"),
    (
        ["bcast", "--system", "noctua1", "--devices", "8", "--set", "algorithm=binomial"],
        "binomial does no broadcast of 8 ranks over a ring",
        "use chain",
    ),
    (["barrier", "--system", "noctua1", "--set", "size=8"], "moves no elements", "leave out size"),
    (["allreduce", "--system", "noctua1", "--sweep", "issuer=1:2"], "not of all_reduce", "sweep over size"),
    (["allreduce", "--system", "noctua1", "--reach", "1 us"], "no --scaling", "use --devices"),
    (
        ["allreduce", "--system", "noctua1", "--devices", "4", "--set", "board.memory.banks=3"],
        "reads no board.memory.banks",
        "use one of board.host.launch_latency",
    ),
    (
        ["allreduce", "--system", "noctua1", "--devices", "4", "--set", "network.links.bandwidth=9GB/s"],
        "override it",
        "use --closed-form",
    ),
)  # fmt: skip


@pytest.mark.parametrize("words, cause, remedy", REFUSED)
def test_what_is_refused(predict, one_error_line, words, cause, remedy):
    line = one_error_line(predict(*words), 2)
    assert cause in line and remedy in line.partition("; ")[2], line


def test_names_as_mpi_spells_them():
    assert {collectives.operation(name) for name in ("allreduce", "all_reduce", "AllReduce")} == {
        "all_reduce"
    }
    assert collectives.operation("bcast") == "broadcast"
    assert collectives.operation("hpl") is None

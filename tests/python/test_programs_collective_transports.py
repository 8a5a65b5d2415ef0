"""fm_collective without an engine: by the wall clock over cpu and host, in modelled time over links."""

import json

import pytest
from fabricmark.systems import export
from stream_program import PROGRAM as STREAM
from stream_program import Stream, mpirun, only_error

PROGRAM = STREAM.with_name("fm_collective")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="fm_collective is not built")

OPERATIONS = ("broadcast", "scatter", "gather", "all_gather", "reduce", "all_reduce", "reduce_scatter",
              "all_to_all", "barrier", "send")  # fmt: skip
RANKS = 3
SIZES = ("4", "8", "16")
SHORT = ("--ranks", RANKS, "--sizes", "4:16", "--repetitions", 2)
# Elements that arrive on all ranks, for each element of a rank.
ARRIVING = {"broadcast": RANKS, "scatter": RANKS, "gather": RANKS, "all_gather": RANKS * RANKS, "reduce": 1,
            "all_reduce": RANKS, "reduce_scatter": RANKS, "all_to_all": RANKS * RANKS, "barrier": 0,
            "send": 2}  # fmt: skip


@pytest.fixture(scope="module")
def collective(tmp_path_factory):
    return Stream(tmp_path_factory.mktemp("collective"), PROGRAM)


@pytest.fixture(scope="module")
def host(collective):
    """The words that choose the path over the host, where there is a device."""
    words = ("--transport", "host")
    if collective.start("barrier", *words).code == 3:
        pytest.skip("no OpenCL device")
    return words


@pytest.fixture(scope="module")
def links(system):
    return ("--transport", "channels", "--system", system)


def metrics(done, name):
    return {one["axes"]["message_bytes"]: one for one in done.document["measurements"] if one["name"] == name}


def elements(operation, repetitions):
    """How many are checked, of float32."""
    return repetitions * ARRIVING[operation] * sum(int(size) // 4 for size in SIZES)


def right(collective, operation, *words):
    """A run that is valid, or of a barrier, which has no elements to check, one that says that it was not."""
    if operation != "barrier":
        return collective.valid(operation, *words)
    done = collective.run(operation, *words)
    assert (done.code, done.errors, done.contradictions) == (0, "", ())
    assert [verdict["status"] for verdict in done.document["verdicts"]] == ["skipped"]
    assert "not checked: a barrier" in done.output
    return done


def check_by_the_wall_clock(collective, words):
    for operation in OPERATIONS:
        done = right(collective, operation, *words, *SHORT)
        is_emulated = done.document["environment"]["device"]["emulated"]
        kinds = {one["kind"] for one in done.document["measurements"]}
        assert kinds == {"emulated" if is_emulated else "measured"}, operation
        latency = metrics(done, "latency")
        assert set(latency) == ({0} if operation == "barrier" else {int(size) for size in SIZES})
        assert {len(one["samples"]["per_rank"][0]) for one in latency.values()} == {2}
        assert done.document["repetitions"]["count"] == 2
        assert done.document["verdicts"][0]["checked"] == elements(operation, 2), operation
        assert "kernel" not in done.document["run"] and "system" not in done.document["parameters"]


def test_every_operation_is_right_over_cpu(collective):
    check_by_the_wall_clock(collective, ("--transport", "cpu"))


def test_every_operation_is_right_over_the_host(collective, host):
    check_by_the_wall_clock(collective, host)


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one != "barrier"])
def test_a_wrong_element_is_found(collective, links, operation):
    for words in (("--transport", "cpu", "--repetitions", 2), links):
        done = collective.run(operation, *words, "--ranks", RANKS, "--sizes", 64, "--inject-fault")
        assert done.code == 1 and "INVALID: 1 of " in done.output, words
        (verdict,) = done.document["verdicts"]
        assert (verdict["status"], verdict["error"]) == ("failed", 1)


def test_a_wrong_element_is_found_over_the_host(collective, host):
    done = collective.run("all_reduce", *host, "--repetitions", 2, "--sizes", 64, "--inject-fault")
    assert done.code == 1 and "INVALID: 1 of 64 elements wrong" in done.output


TORUS = ("--topology", "torus:2x3", "--ranks", 6)


def test_every_operation_is_right_over_links(collective, links):
    cases = [(operation, "--ranks", 4) for operation in OPERATIONS]
    cases += [("all_reduce", *TORUS), ("send", *TORUS)]
    for operation, *where in cases:
        done = right(collective, operation, *links, *where, "--sizes", "4:4KiB")
        kinds = {one["name"]: one["kind"] for one in done.document["measurements"]}
        assert kinds.pop("emulation_time") == "emulated" and set(kinds.values()) == {"modelled"}
        assert (done.document["verdicts"][0]["checked"] > 0) == (operation != "barrier")
        assert all(one["best"] > 0 for one in metrics(done, "latency").values())
    assert "use a ring" in only_error(collective.start("gather", *links, *TORUS))


def test_an_exchange_over_a_link_takes_launch_and_latency(collective, system, tmp_path):
    document = json.loads(system.read_text())
    (network,) = (one for one in document["networks"] if one["id"] == "520n_serial_40g")
    values = network["values"]
    latency = values["latency_seconds"]["value"]
    launch = document["devices"][0]["values"]["launch_seconds"]["value"]
    cycle = 1 / values["clock_hz"]["value"]
    words = ("send", "--transport", "channels", "--sizes", "64:64KiB", "--system")
    taken = metrics(collective.valid(*words, system), "latency")
    for size, one in taken.items():
        expected = launch + latency + size / values["width_bytes"]["value"] * cycle
        # Beside that words of streams between the kernels of a device.
        assert expected < one["best"] * 1e-6 < expected + 10 * cycle, size
    values["latency_seconds"]["value"] = 3 * latency
    longer = tmp_path / "longer.json"
    longer.write_text(json.dumps(document))
    moved = metrics(collective.valid(*words, longer), "latency")
    for size, one in moved.items():
        assert one["best"] - taken[size]["best"] == pytest.approx(2 * latency * 1e6, rel=1e-3)


def test_processes_do_what_threads_do(collective, links):
    words = ("all_reduce", "--ranks", RANKS, "--sizes", "64:4KiB")
    threads = collective.valid(*words, *links)
    processes = collective.valid(*words, *links, launcher=mpirun(RANKS))
    assert [one["best"] for one in metrics(threads, "latency").values()] == [
        one["best"] for one in metrics(processes, "latency").values()
    ]
    measured = collective.valid(*words, "--transport", "cpu", "--repetitions", 2, launcher=mpirun(RANKS))
    assert measured.document["environment"]["ranks"]["kind"] == "mpi"


def test_the_algorithm_is_chosen_by_what_was_measured_or_by_name(collective, links):
    words = ("all_reduce", "--transport", "cpu", *SHORT)
    free = collective.valid(*words)
    notes = " ".join(free.document["notes"])
    assert "the fastest by its costs" in notes and "as measured at the start" in notes
    ring = collective.valid(*words, "--algorithm", "ring")
    assert {one["axes"]["algorithm"] for one in ring.document["measurements"]} == {"ring"}
    wrong = collective.start("broadcast", *links, "--ranks", 5, "--algorithm", "binomial")
    assert "'binomial' is no algorithm for broadcast" in only_error(wrong)


WRONG = {
    "put over cpu": (("put", "--transport", "cpu"), "no engine that writes memory or streams"),
    "stream_put over the host": (("stream_put", "--transport", "host"), "no engine that writes"),
    "calls of kernels": (("send", "--transport", "cpu", "--issuer", "logic"), "no engine that kernels call"),
    "streams": (("reduce", "--transport", "cpu", "--mode", "streaming"), "operands lie in memory"),
    "a system of this machine": (("reduce", "--transport", "cpu", "--system", "x"), "takes no --system"),
    "frames of this machine": (("reduce", "--transport", "cpu", "--mtu", 1500), "takes no --mtu"),
    "repetitions in modelled time": (
        ("reduce", "--transport", "accl-udp", "--repetitions", 2),
        "takes no --repetitions",
    ),
    "no repetition": (("reduce", "--transport", "cpu", "--repetitions", 0), "--repetitions"),
    "links of no system": (("reduce", "--transport", "channels"), "systems export noctua1"),
    "a dry run": (("reduce", "--transport", "host", "--platform", "dry-run"), "dry-run"),
}


@pytest.mark.parametrize("words, said", WRONG.values(), ids=WRONG)
def test_what_a_transport_does_not_do_is_refused(collective, words, said):
    assert said in only_error(collective.start(*words))


def test_what_links_do_not_do_is_refused(collective, links, tmp_path):
    for words, said in (
        (("--issuer", "logic"), "no engine that kernels call"),
        (("--mode", "streaming"), "operands lie in memory"),
        (("--rx-buffers", 4), "takes no --rx-buffers"),
        (("--topology", "switch"), "use pair, ring, torus or full-mesh"),
    ):
        assert said in only_error(collective.start("reduce", *links, *words))
    file = tmp_path / "cygnus.json"
    file.write_text(export.text("hacc"))
    only_error(collective.start("reduce", "--transport", "channels", "--system", file))

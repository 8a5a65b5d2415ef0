"""fm_host_transfer on a device behind a link of known delays (tests/unit/link_opencl.cpp), on its own clock.

What it says of transfers, commands, starts and overlap is what these delays make, whatever the machine does.
"""

import itertools
from dataclasses import astuple, dataclass, field

import pytest
from stream_program import PROGRAM, Stream, devices

pytestmark = pytest.mark.programs

LIBRARY = PROGRAM.parents[1] / "tests" / "unit" / "liblink_opencl.so"
PAGE = 4096
PIECES, PIECE = 8, 65536
LAUNCHES = 16
METHODS = ("queued", "2-queues", "4-queues", "out-of-order", "blocking", "map", "migrate", "sub-buffer")
IN_PLACE = ("map", "migrate", "sub-buffer")
CHECKS = ("copies that arrived", "rates", "bytes", "write, execute, read", "times of commands", "launches")
FEW = ("--power", "off", "--repetitions", "2", "--overlap-bytes", PIECE, "--step", "4", "--largest", "20")
SMALL = (*FEW[:-4], "--smallest", "16", "--largest", "16")


@dataclass(frozen=True)
class Delays:
    """Seconds, in the library's order."""

    call: float = 1e-6
    submit: float = 3e-6
    turn: float = 30e-6
    start: float = 20e-6
    byte: float = 1e-10  # 10 GB/s each way
    staged_byte: float = 5e-11
    kernel: float = 50e-6


DELAYS = Delays()


@dataclass
class Reference:
    """The same device again, in a few lines: queues, and two ways of the link."""

    now: float = 0.0
    free: dict = field(default_factory=dict)  # of the queues that have had a command
    ways: dict = field(default_factory=dict)
    end: float = 0.0

    def run(self, queue, seconds, way=None, staged=0.0, after=0.0):
        """Queue a command; its end."""
        started = max(self.now + DELAYS.submit, after)
        self.now += DELAYS.call
        if queue is not None:  # else one that is not in order
            started = max(started, self.free.get(queue, -1.0) + DELAYS.turn)
        ended = max(started + staged, self.ways.get(way, 0.0)) + seconds
        if way is not None:
            self.ways[way] = ended
        if queue is not None:
            self.free[queue] = ended
        self.end = max(self.end, ended)
        return ended

    def transfer(self, queue, way, size, is_staged=False, **rest):
        staged = size * DELAYS.staged_byte if is_staged else 0.0
        return self.run(queue, DELAYS.start + size * DELAYS.byte, way, staged, **rest)

    def finish(self):
        self.now = max(self.now, self.end)


def seconds_of(direction, method, memory, size, buffers):
    """What a transfer has to take after what came before it, untimed."""
    ways = {"to_device": ("in",), "from_device": ("out",), "both": ("in", "out")}[direction]
    each = size // len(ways) // buffers
    is_staged = memory == "pageable"
    link = Reference()
    if method in IN_PLACE:  # the host's view, or the way back to the host, came right before
        link.free["in"] = link.free["in", 0] = 0.0
    if method in ("migrate", "sub-buffer"):
        for way in ways:
            link.transfer(way, way, each * buffers, is_staged)
        return max(link.now, link.end)
    queues = {"2-queues": 2, "4-queues": 4}.get(method, 1)
    for i, way in itertools.product(range(buffers), ways):
        queue = None if method == "out-of-order" else (way, i % queues)
        link.transfer(queue, way, each, is_staged)
        if method == "blocking" and way == ways[-1]:
            link.finish()
    return max(link.now, link.end)


@pytest.fixture(scope="module")
def transfer(tmp_path_factory):
    made = Stream(tmp_path_factory.mktemp("link"), PROGRAM.with_name("fm_host_transfer"))
    made.environment |= {"LD_PRELOAD": str(LIBRARY), "FABRICMARK_LINK": ",".join(map(str, astuple(DELAYS)))}
    if devices(made)[0]["class"] != "gpu":
        pytest.skip("the loader of OpenCL asks the runtime past the library")
    return made


@pytest.fixture(scope="module")
def measured(transfer):
    return transfer.valid(*FEW, "--variant", "throughput", "--link-gb-per-s", 10)


def entries(done, name):
    return [entry for entry in done.document["measurements"] if entry["name"] == name]


def place_of(entry):
    return tuple(entry["axes"][name] for name in ("direction", "method", "memory", "bytes", "buffers"))


def test_every_way_takes_what_the_delays_make(measured):
    found = {place_of(entry): entry for entry in entries(measured, "bandwidth")}
    assert {place[1] for place in found} == set(METHODS)
    assert min(place[3] for place in found) == 1
    for place, entry in found.items():
        expected = place[3] / seconds_of(*place) / 1e9
        for key in ("best", "median", "minimum"):
            assert entry[key] == pytest.approx(expected, rel=0.05), (place, key)


def test_several_queues_hide_the_turns_of_one(measured):
    """What the source's figures are about shows in the rates."""
    rates = {place_of(entry): entry["best"] for entry in entries(measured, "bandwidth")}
    size, many = 2**16, 16

    def rate(method, memory="page-aligned", buffers=many):
        return rates["to_device", method, memory, size, buffers]

    assert rate("queued") < rate("2-queues") < rate("4-queues")
    assert rate("queued") < rate("out-of-order")
    assert rate("migrate") > 2 * rate("queued"), "all buffers by one command"
    assert rate("migrate", "pageable", 1) < rate("migrate", buffers=1), "memory off a page's start"
    assert (
        rates["both", "queued", "pinned", 2**20, 1] > 1.5 * rates["to_device", "queued", "pinned", 2**20, 1]
    )


def test_a_command_has_the_times_of_its_parts(measured):
    found = {
        (e["axes"]["command"], e["axes"].get("bytes", 0), e["axes"]["part"]): e
        for e in entries(measured, "command_time") + entries(measured, "kernel_time")
    }
    commands = {"write", "read", "map", "unmap", "migrate to device", "migrate to host"}
    assert {name for name, _, _ in found} == commands | {"kernel"}
    for (name, size, part), entry in found.items():
        running = DELAYS.kernel if name == "kernel" else DELAYS.start + size * DELAYS.byte
        expected = {"queued": DELAYS.submit, "running": running}.get(part)
        if expected is not None:
            assert entry["median"] == pytest.approx(expected * 1e6, rel=0.05), (name, size, part)
    waiting = found["write", 1, "submitted"]["median"]
    assert waiting == pytest.approx((DELAYS.turn - DELAYS.submit) * 1e6, rel=0.05)


def test_the_start_of_a_kernel_takes_its_delays(measured):
    for entry in entries(measured, "launch_time"):
        link = Reference()
        link.free["one"] = 0.0
        for _ in range(LAUNCHES):
            link.run("one", DELAYS.kernel)
            if entry["axes"]["order"] == "launches one by one":
                link.finish()
        link.finish()
        assert entry["median"] == pytest.approx(link.now / LAUNCHES * 1e6, rel=0.05)


def test_the_pipeline_overlaps_as_three_queues_do(measured):
    link = Reference()
    for _ in range(PIECES):
        link.transfer("kernels", "in", PIECE)
        link.run("kernels", DELAYS.kernel)
        link.transfer("kernels", "out", PIECE)
        link.finish()
    times = {"serial": link.now}
    link = Reference()
    for _ in range(PIECES):
        written = link.transfer("writes", "in", PIECE)
        executed = link.run("kernels", DELAYS.kernel, after=written)
        link.transfer("reads", "out", PIECE, after=executed)
    link.finish()
    times["overlapped"] = link.now
    for entry in entries(measured, "pipeline_time"):
        assert entry["median"] == pytest.approx(times[entry["axes"]["order"]] * 1e3, rel=0.05)
    (gain,) = entries(measured, "overlap_speed_up")
    assert gain["median"] == pytest.approx(times["serial"] / times["overlapped"], rel=0.05)


def test_the_single_work_item_kernels_see_the_same(transfer):
    done = transfer.valid(*SMALL, "--variant", "base", "--link-gb-per-s", 10, "--directions", "both")
    for entry in entries(done, "bandwidth"):
        place = place_of(entry)
        assert entry["best"] == pytest.approx(place[3] / seconds_of(*place) / 1e9, rel=0.05), place


def test_each_transfer_is_in_the_timeline(transfer):
    done = transfer.valid(*SMALL, "--link-gb-per-s", 10, "--timeline")
    found = {}
    for entry in done.document["timeline"]:
        assert 0 <= entry["queued"] <= entry["submitted"] <= entry["started"] <= entry["ended"]
        found.setdefault(entry["operation"], []).append(entry)
    for entry in entries(done, "bandwidth"):
        direction, method, memory, size, buffers = place_of(entry)
        ways = 2 if direction == "both" else 1
        commands = ways if method in ("migrate", "sub-buffer") else ways * buffers
        of_case = found["/".join(map(str, place_of(entry)))]
        in_a_row = 8 if size <= 65536 else 1
        assert len(of_case) == 2 * in_a_row * commands  # two repetitions
        if commands == 1:
            first = of_case[0]
            running = first["ended"] - first["started"]
            staged = size * DELAYS.staged_byte if memory == "pageable" else 0
            assert running == pytest.approx(DELAYS.start + size * DELAYS.byte + staged, rel=0.05)


# The cases of the source ------------------------------------------------------------------------------------

# Karl 2021: where it says of which transfer, and how host_transfer's rows name it.
CASES_OF_THE_SOURCE = {
    "Fig. I.4, data in several buffers": {"direction": "to_device", "method": "queued", "buffers": 16},
    "Fig. I.4, in few buffers": {"direction": "to_device", "method": "queued", "buffers": 1},
    "Fig. I.4, buffers over host memory migrated together": {
        "direction": "to_device", "method": "migrate", "memory": "page-aligned", "buffers": 16},
    "second benchmark, from the device": {"direction": "from_device", "method": "queued", "buffers": 16},
    "second benchmark, migrated": {"direction": "from_device", "method": "migrate", "buffers": 16},
    "Fig. I.5, both at the same time": {"direction": "both", "method": "queued", "buffers": 16},
    "Fig. I.5, migrated": {"direction": "both", "method": "migrate", "buffers": 4},
    "I.3, several queues": {"direction": "both", "method": "4-queues"},
    "I.3, commands that name what they wait for": {"direction": "both", "method": "out-of-order"},
    "code example I.5, CL_TRUE": {"direction": "to_device", "method": "blocking"},
    "I.5, an unaligned pointer": {"direction": "to_device", "method": "migrate", "memory": "pageable"},
    "code example I.10, aligned to a page": {
        "direction": "to_device", "method": "migrate", "memory": "page-aligned", "buffers": 1},
    "code example I.11, a sub-buffer to the host": {"direction": "from_device", "method": "sub-buffer"},
    "mapped instead of migrated": {"direction": "from_device", "method": "map"},
    "unmapped instead of migrated": {"direction": "to_device", "method": "map"},
}  # fmt: skip


@pytest.mark.parametrize("where", CASES_OF_THE_SOURCE)
def test_each_case_of_the_source_has_its_rows(measured, where):
    wanted = CASES_OF_THE_SOURCE[where].items()
    rows = [entry["axes"] for entry in entries(measured, "bandwidth") if wanted <= entry["axes"].items()]
    sizes = {axes["bytes"] for axes in rows}
    assert len(sizes) >= 1
    if dict(wanted).get("buffers", 16) == 1 or dict(wanted)["method"] in ("blocking", "sub-buffer"):
        assert min(sizes) == 1


def test_each_part_of_code_example_8_has_its_rows(measured):
    found = entries(measured, "command_time") + entries(measured, "kernel_time")
    axes = [entry["axes"] for entry in found]
    for command in ("write", "read", "kernel", "migrate to device", "migrate to host"):
        assert {one["part"] for one in axes if one["command"] == command} == {
            "queued",
            "submitted",
            "running",
        }
    orders = {entry["axes"]["order"] for entry in entries(measured, "launch_time")}
    assert orders == {"launches one by one", "launches in a row"}
    orders = {entry["axes"]["order"] for entry in entries(measured, "pipeline_time")}
    assert orders == {"serial", "overlapped"}


# Faults -----------------------------------------------------------------------------------------------------


def failed(done):
    return {v["name"]: v for v in done.document["verdicts"] if v["status"] == "failed"}


@pytest.mark.parametrize("method", IN_PLACE)
def test_what_is_not_moved_is_found(transfer, method):
    done = transfer.run(*SMALL, "--methods", method, "--link-gb-per-s", 10, "--inject-fault", "lost")
    assert done.code == 1 and done.errors == ""
    found = failed(done)
    assert found["copies that arrived"]["worst"]["place"].startswith(f"to_device/{method}/")


def test_migrations_that_return_at_once_are_found_by_their_rate(transfer):
    done = transfer.run(
        *SMALL, "--methods", "migrate", "--link-gb-per-s", 10, variables={"FABRICMARK_LINK_FAULT": "lazy"}
    )
    assert done.code == 1 and done.errors == ""
    found = failed(done)
    assert "/migrate/" in found["rates"]["worst"]["place"]
    assert set(found) == {"rates"}


def test_times_of_commands_in_the_wrong_order_are_found(transfer):
    done = transfer.run(
        *SMALL, "--methods", "queued", "--link-gb-per-s", 10, variables={"FABRICMARK_LINK_FAULT": "backwards"}
    )
    assert done.code == 1 and set(failed(done)) == {"times of commands"}
    assert failed(done)["times of commands"]["measure"] == "commands whose times are not in order"


def test_a_start_that_is_left_out_is_found(transfer):
    done = transfer.run(*SMALL, "--methods", "queued", "--link-gb-per-s", 10, "--inject-fault", "lost:launch")
    assert done.code == 1 and set(failed(done)) == {"launches"}
    assert failed(done)["launches"]["error"] == 1


def test_commands_without_times_are_named_and_have_none(transfer):
    done = transfer.valid(
        *SMALL, "--methods", "queued", "--link-gb-per-s", 10, variables={"FABRICMARK_LINK_FAULT": "untimed"}
    )
    names = {entry["axes"]["command"] for entry in entries(done, "command_time")}
    assert "write" in names and not any("migrate" in name for name in names)
    assert any("migrate to device, migrate to host" in note for note in done.document["notes"])


def test_a_bank_is_refused_where_none_can_be_chosen(transfer):
    done = transfer.start(*SMALL, "--bank", "1")
    assert done.code == 2 and "--bank" in done.errors and done.errors.count("\n") == 1

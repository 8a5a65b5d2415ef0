"""Kernels and halos of shallow water that are wrong in some steps: each is found, wherever these are."""

from dataclasses import dataclass

import pytest
import wrong_kernels
from shallow_water_runs import failed
from stream_program import REPOSITORY, mpirun
from wrong_kernels import Wrong

pytestmark = pytest.mark.programs

SHORT = ("--mesh", "bay:1500", "--steps", 100, "--warmup", 0, "--vector-bytes", 16)
PLACE = "const uint place = (first + (uint)get_global_id(0)) * WIDTH;"
COPIED = (
    "for (int q = 0; q < SW_UNKNOWNS * SW_MODES; ++q) "
    "SW_STORE(updated, (size_t)q * stride + place, SW_LOAD(state, (size_t)q * stride + place));"
)
CONSTANTS = "river_inflow, gravity, friction, linear_friction, coriolis,\n"
POINT = "sw_add_point(element, sw_through_point(element, own, met, side, point, now), side, point, &sums);"
VALUE = "real value = own.of[unknown][mode] + dt * sums.rate.of[unknown][mode];"
NUMBER = "const scalar value = state[(size_t)number * stride + places[i]];"
PACKED = "packed[targets[i] + number * spans[i]] = value;"
UNPACKED = "state[(size_t)number * stride + places[i]] = value;"
MARKED = "static inline ulong sw_marked(ulong mark, const scalar number) {"
CALLS = ("uint", "calls", 1)


def share(percent):
    """True in about so many percent of the steps, scattered, and in the same ones in each run."""
    return f"(((as_uint(sea_xi) * 2654435761u) >> 16) % 100 < {percent})"


# The call in progress, on a device that runs one work-group at a time or not: those of one step may differ.
CALL = "(get_global_id(0) == 0 ? KEPT(calls)[0]++ : KEPT(calls)[0])"


def throughput(*changes, **how):
    return Wrong("throughput", tuple(changes), **how)


def copying(when, **how):
    """The state stays as it is where `when` holds."""
    return throughput((PLACE, f"{PLACE}\n  if ({when}) {{ {COPIED} return; }}"), **how)


def valued(text, **how):
    return throughput((VALUE, text), **how)


def with_another(what, value):
    """A constant is another one."""
    return throughput((CONSTANTS, CONSTANTS.replace(f"{what},", f"{value},")))


def flux(text, **how):
    return throughput((POINT, text), **how)


ORDER_1 = ("--order", 1)
TWO = {"ranks": 2}
WRONG = {
    # The state is copied.
    "copies in all steps": copying("1"),
    "copies in stages of the middle by their numbers": copying("stage_number > 40 && stage_number < 70"),
    "copies in half of the steps": copying(share(50)),
    "copies in a tenth of the steps": copying(share(10)),
    "copies from the tenth call on": copying(f"{CALL} > 10", state=(CALLS,)),
    "copies in each tenth call": copying(f"{CALL} % 10 == 5", state=(CALLS,)),
    "copies half of the elements": copying(f"{share(20)} && place > elements / 2"),
    "copies one vector of elements": copying(f"{share(20)} && place == 16 * WIDTH"),
    "copies in each other stage": copying("stage_number % 2 == 1", options=ORDER_1),
    "copies on two ranks": copying(share(20), **TWO),
    # What is computed is another thing.
    "no force of Coriolis": with_another("coriolis", "(scalar)0"),
    "another gravity in some steps": with_another("gravity", f"({share(20)} ? (scalar)9.5 : gravity)"),
    "half a step": valued(VALUE.replace("dt *", f"({share(20)} ? dt / 2 : dt) *")),
    "fewer bits": valued(f"{VALUE} if ({share(20)}) value = (value + 4096 * value) - 4096 * value;"),
    "a disturbance of one element": valued(
        f"{VALUE} if ({share(20)} && place == 8 * WIDTH && unknown == 0) FM_LANE(value, 0) += (scalar)1e-6;"
    ),
    "no flux through one side": flux(f"if (side != 1 || !{share(20)}) {POINT}"),
    "the own state for that of neighbours": throughput(
        ("const whole places = FM_CHOOSE(code >= 0, code >> 2, own);", "const whole places = own;")
    ),
    "the start of the step is forgotten": throughput(
        ("value = take * value + keep * SW_LOAD(before, at);", "value = (take + keep) * value;"),
        options=ORDER_1,
    ),
    # Halos.
    "packs zeros": throughput((NUMBER, NUMBER.replace("= ", "= i % 2 == 0 ? (scalar)0 : ")), **TWO),
    "packs something else than it marks": throughput(
        (PACKED, PACKED.replace("= value", "= i % 2 == 0 ? value * (scalar)1.01 : value")), **TWO
    ),
    "unpacks something else than it marks": throughput(
        (UNPACKED, UNPACKED.replace("= value", "= value * (scalar)0.99")), **TWO
    ),
    "marks nothing": throughput((MARKED, f"{MARKED}\n  return mark;"), **TWO),
}
HALO = {"packs something else than it marks", "marks nothing"}
QUICK = {
    "copies in stages of the middle by their numbers",
    "copies from the tenth call on",
    "a disturbance of one element",
    "packs something else than it marks",
}


def fits(what, found):
    return bool(found & ({"halos"} if what in HALO else {"steps"}))


program, test_a_wrong_kernel_is_found, test_the_shipped_kernels_pass = wrong_kernels.tests(
    "shallow_water", WRONG, SHORT, fits, (Wrong("throughput"), Wrong("base", ranks=2)), QUICK
)


LIBRARY = REPOSITORY / "build" / "release" / "tests" / "unit" / "libcorrupting_messages.so"


@pytest.fixture(scope="module")
def corrupting():
    if not LIBRARY.exists():
        pytest.skip("built without MPI or without tests")


@dataclass(frozen=True)
class Corrupted:
    """Which messages of a rank, and how; of at least so many bytes, as those of halos have."""

    kind: str
    first: int = 61
    last: int = 61
    rank: int = 0
    words: tuple = ()
    ranks: int = 2


# Without a choice of ways, whose messages at the start would be counted.
WHOLE = ("--staging", "private", "--chunk-bytes", 0, "--serial-bytes", 0)
HALOS = {
    "a bit of the last byte": Corrupted("flip"),
    "a bit of the first byte": Corrupted("first", rank=1),
    "over the host": Corrupted("flip", words=("--transport", "host")),
    "zeros": Corrupted("zero"),
    "halves in each other's places": Corrupted("halves"),
    "the message before": Corrupted("stale"),
    "the one before that": Corrupted("older"),
    "many": Corrupted("flip", 40, 80),
    "of three ranks": Corrupted("first", ranks=3, rank=2),
    "of second order": Corrupted("stale", words=(*ORDER_1, "--data-type", "double")),
    "of the base kernel": Corrupted("flip", words=("--variant", "base")),
    "of emulated boards": Corrupted("flip", words=("--variant", "dataflow")),
}
SOME = {"a bit of the first byte", "the one before that", "over the host"}


@pytest.mark.usefixtures("corrupting")
@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=() if what in SOME else pytest.mark.full) for what in HALOS]
)
def test_a_corrupted_halo_is_found(program, what):
    one = HALOS[what]
    corrupted = f"FABRICMARK_CORRUPTED_MESSAGES={one.kind} {one.first} {one.last} {one.rank} 100"
    launcher = [*mpirun(one.ranks), "env", f"LD_PRELOAD={LIBRARY}", corrupted]
    done = program.run(*SHORT, *WHOLE, *one.words, launcher=launcher)
    assert "corrupted messages: 1" in done.errors
    # What a corrupted state may end in is a run that stops.
    assert done.code == 1 and (done.document is None or "halos" in failed(done)), (what, done.errors)

"""Kernels and halos of stencils that are wrong in some steps, tried on lattice Boltzmann: each is found,
wherever these are."""

import pytest
import wrong_kernels
from shallow_water_runs import failed
from stream_program import REPOSITORY, mpirun
from wrong_kernels import Wrong

pytestmark = pytest.mark.programs

SHORT = (
    "--columns", 130, "--rows", 60, "--steps", 120, "--warmup", 0, "--vector-bytes", 16,
    "--tile-columns", 64, "--bands", 4, "--steps-in-cache", 3,
)  # fmt: skip
ROWS, STREAMED, CELL = "common/stencil/throughput.h", "common/stencil/base.h", "lbm/cell.h"
PART = "  if (begin >= end) return;\n"
COPIED = (
    "for (int row = begin; row < end; ++row) "
    "for (uint i = 0; i < FM_FIELDS * pitch; ++i) { "
    "const size_t at = (size_t)(row + (int)ghost_rows) * pitch * FM_FIELDS + i; updated[at] = state[at]; }"
)
COPIED_ROW = (
    "for (uint x = 0; x < pitch - 2 * FM_SIDE; ++x) for (int i = 0; i < FM_FIELDS; ++i) { "
    "const size_t at = ((size_t)(row + (int)ghost_rows) * FM_FIELDS + i) * pitch + FM_SIDE + x; "
    "updated[at] = state[at]; }"
)
COPIED_VECTOR = COPIED_ROW.replace("pitch - 2 * FM_SIDE", "WIDTH")
COUNT = "const int count = (int)steps;"
FOUND = "        truth found;\n"
LAST = "found = fm_cells(work, 0, tile, all, 1);"
BESIDE = "fm_cells(work, (beyond + WIDTH - 1) / WIDTH * WIDTH, tile, all, 0);"
ALL = "const fm_constants all = fm_constants_at(constants);\n  const int count"
OMEGA = "const scalar omega = constants.of[LBM_OMEGA];"
SPEED = "const real square = u * u + v * v;"
TROUBLE = "next.trouble = is_fluid & !(square <= constants.of[LBM_MOST_SPEED] && density > 0);"
OUTFLOW = "const truth is_outflow = FM_TRUTH(kind == LBM_OUTFLOW);"
LID = "return FM_CHOOSE(is_wall, bounced, FM_CHOOSE(is_moving, bounced + moved, streamed));"
# Where neither the state nor what ranks exchange is the same twice.
CYLINDER, CAVITY = ("--case", "cylinder"), ("--case", "cavity")
NUMBER = "const scalar value = state[((size_t)row * FM_FIELDS + i) * pitch + column];"
PACKED = "packed[place + (size_t)i * pitch + column] = value;"
UNPACKED = "state[((size_t)row * FM_FIELDS + i) * pitch + column] = value;"
MARKED = "static inline ulong fm_marked(ulong mark, const scalar number) {"
ELEMENT = "const FM_WORD made = fm_element(words, at, all, &is_in_trouble);"

CALLS = ("uint", "calls", 1)
# The launch in progress, on a device that runs one work-group at a time or not.
CALL = "(get_global_id(0) == 0 ? KEPT(calls)[0]++ : KEPT(calls)[0])"


def share(percent):
    """True in about so many percent of the launches, scattered, and in the same ones in each run: by a number
    behind the cylinder, which changes in each step."""
    value = "state[(size_t)(ghost_rows + 8) * pitch * FM_FIELDS + FM_SIDE + 30]"
    return f"(((as_uint((float){value}) * 2654435761u) >> 16) % 100 < {percent})"


def rows(*changes, **how):
    return Wrong("throughput", tuple(changes), file=ROWS, options=CYLINDER, **how)


def copying(when, **how):
    """The state stays as it is where `when` holds, in a whole band."""
    return rows((PART, f"{PART}  if ({when}) {{ {COPIED} return; }}\n"), **how)


def cell(old, new, case=CYLINDER):
    return Wrong("throughput", ((old, new),), file=CELL, options=case)


def streamed(text):
    made = f"FM_WORD made = {ELEMENT.partition(' = ')[2]} {text}"
    return Wrong("base", ((ELEMENT, made),), file=STREAMED, options=CYLINDER)


TWO = {"ranks": 2}
WRONG = {
    # The state is copied.
    "copies in all steps": copying("1"),
    "copies in launches of the middle by their numbers": copying("begin_state > 40 && begin_state < 70"),
    "copies in half of the launches": copying(share(50)),
    "copies in a tenth of the launches": copying(share(10)),
    "copies from the tenth call on": copying(f"{CALL} > 10", state=(CALLS,)),
    "copies in each tenth call": copying(f"{CALL} % 10 == 5", state=(CALLS,)),
    "copies a band": copying(f"{share(50)} && get_global_id(0) == 1"),
    "copies on two ranks": copying(share(50), **TWO),
    "the base kernel copies": streamed("if (begin_state % 8 == 3) made = words[1][1];"),
    # Less is done.
    "leaves out a step of launches": rows((COUNT, COUNT.replace(";", f" - (steps > 1 && {share(30)});"))),
    "copies a row": rows((LAST, f"{LAST} if (row == 12 && {share(50)}) {COPIED_ROW}")),
    "copies a vector of cells": rows(
        (LAST, f"{LAST} if (row == 12 && left == 0 && {share(50)}) {COPIED_VECTOR}")
    ),
    "takes the wrong rows around a band": rows(
        (FOUND, f"if ((row < begin || row >= end) && {share(50)}) window.above = window.here;\n{FOUND}")
    ),
    "computes nothing beside a tile": rows((BESIDE, "fm_cells(work, 0, tile, all, 0);")),
    "the base kernel leaves out a cell": streamed(
        "if (at.row == 20 && at.column == 30) made.cell[0] = words[1][1].cell[0];"
    ),
    # What is computed is another thing.
    "another relaxation": cell(OMEGA, OMEGA.replace("=", "= (scalar)1.0001 *")),
    "another relaxation in some steps": rows(
        (ALL, ALL.replace("const fm_constants", "fm_constants").replace(
            ";", f"; if ({share(20)}) all.of[0] *= (scalar)1.001;", 1))
    ),
    "fewer bits": cell(SPEED, f"u = (u + 4096 * u) - 4096 * u; {SPEED}"),
    "a lid that stands still": cell(LID, LID.replace("bounced + moved", "bounced"), CAVITY),
    "never finds that fluid is too fast": cell(
        TROUBLE, "next.trouble = 0;", (*CYLINDER, "--speed", 0.2, "--most-speed", 0.21)
    ),
    "an outflow that keeps what it has": cell(OUTFLOW, "const truth is_outflow = 0 & kind;"),
    # Halos.
    "packs zeros for one number": rows((NUMBER, f"{NUMBER.replace('=', '= i == 3 ? (scalar)0 :')}"), **TWO),
    "packs something else than it marks": rows(
        (PACKED, PACKED.replace("= value", "= i % 2 == 0 ? value * (scalar)1.001 : value")), **TWO
    ),
    "unpacks something else than it marks": rows(
        (UNPACKED, UNPACKED.replace("= value", "= value * (scalar)0.999")), **TWO
    ),
    "marks nothing": Wrong(
        "throughput", ((MARKED, f"{MARKED}\n  return mark;"),), file="common/marks.h", options=CYLINDER, **TWO
    ),
}  # fmt: skip
HALO = {"marks nothing"}
QUICK = {
    "copies from the tenth call on",
    "takes the wrong rows around a band",
    "the base kernel leaves out a cell",
    "unpacks something else than it marks",
}


def fits(what, found):
    return "halos" in found if what in HALO else any(name.startswith("steps") for name in found)


program, test_a_wrong_kernel_is_found, test_the_shipped_kernels_pass = wrong_kernels.tests(
    "lbm", WRONG, SHORT, fits, (Wrong("throughput"), Wrong("base"), Wrong("throughput", ranks=2)), QUICK
)


LIBRARY = REPOSITORY / "build" / "release" / "tests" / "unit" / "libcorrupting_messages.so"
# Without a choice of ways, whose messages at the start would be counted.
WHOLE = ("--staging", "private", "--chunk-bytes", 0, "--serial-bytes", 0)
# How a message is corrupted, its number, whose, and how many ranks there are.
HALOS = {
    "a bit of the last byte": ("flip", 30, 0, 2),
    "a bit of the first byte": ("first", 11, 1, 2),
    "zeros": ("zero", 30, 0, 2),
    "halves in each other's places": ("halves", 31, 1, 3),
    "the message before": ("stale", 30, 0, 2),
    "the one before that": ("older", 33, 2, 3),
}
SOME = {"a bit of the last byte"}


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=() if what in SOME else pytest.mark.full) for what in HALOS]
)
def test_a_corrupted_halo_is_found(program, what):
    if not LIBRARY.exists():
        pytest.skip("built without MPI or without tests")
    kind, number, rank, ranks = HALOS[what]
    corrupted = f"FABRICMARK_CORRUPTED_MESSAGES={kind} {number} {number} {rank} 100"
    launcher = [*mpirun(ranks), "env", f"LD_PRELOAD={LIBRARY}", corrupted]
    done = program.run(*SHORT, *CYLINDER, *WHOLE, launcher=launcher)
    assert "corrupted messages: 1" in done.errors
    # What a corrupted state may end in is a run that stops.
    assert done.code == 1 and (done.document is None or "halos" in failed(done)), (what, done.errors)

"""Finite volumes of tsunamis and phases of steps that are wrong: each is found."""

import pytest
import wrong_kernels
from wrong_kernels import Wrong

pytestmark = pytest.mark.programs

SHORT = (
    "--scheme", "finite_volume", "--edges", "wall", "--depth", 1, "--height", 0.2,
    "--wet-height", 0.001, "--spacing", 1, "--columns", 70, "--rows", 60, "--steps", 60, "--warmup", 0,
    "--vector-bytes", 16, "--tile-columns", 64, "--bands", 4, "--steps-in-cache", 3,
)  # fmt: skip
ROWS, STREAMED, VOLUMES = "common/stencil/throughput.h", "common/stencil/base.h", "tsunami/finite_volume.h"
BOWL, LAKE = ("--case", "bowl"), ("--case", "lake")
MASS, REST = {"a wall that leaks", "a front that makes water"}, {"a bed that pushes"}


def volumes(old, new, case=BOWL):
    return Wrong("throughput", ((old, new),), file=VOLUMES, options=case)


def phased(text):
    changes = (("(begin_state + (uint)(stage - 1)) %", text),)
    return Wrong("throughput", changes, file=ROWS, options=BOWL)


WRONG = {
    "a wall that leaks": volumes(
        "FM_CHOOSE(FM_TRUTH(kind_behind == TS_LAND), (real)(0), out.mass)",
        "FM_CHOOSE(FM_TRUTH(kind_behind == TS_LAND), (real)((scalar)(-1e-3)), out.mass)",
    ),
    "a front that makes water": volumes(
        "(x.mass + y.mass), -depth);", "(x.mass + y.mass), (scalar)(1e-5) - depth);",
    ),
    "a bed that pushes": volumes(
        "(high.elevation - low.elevation)",
        "(high.elevation - low.elevation + (scalar)(1e-3) * (high.height - low.height))",
        LAKE,
    ),
    "no slopes": volumes("FM_CHOOSE(is_wet, elevation, none)", "(real)(0)"),
    "slopes that are not limited": volumes(
        "return FM_LARGER(FM_SMALLER(one, other), (real)(0)) + FM_SMALLER(FM_LARGER(one, other), (real)(0));",
        "return (scalar)(0.5) * (one + other);",
    ),
    "no half step": volumes("cell.water.along = own.along - (", "cell.water.along = own.along - 0 * ("),
    "water that may become any more": volumes("(scalar)(0.25) * own.height", "(scalar)(1e-3) * own.height"),
    "a wave that pushes less": volumes(
        "left.along + low * share", "left.along + (scalar)(0.9) * low * share"
    ),
    "a dry bed as any other": volumes("slow_right - wave_right);", "slow_right);"),
    "motion across by the other side": volumes("flux.mass > 0, left", "flux.mass < 0, left"),
    "dry cells that move": volumes(
        "const truth is_wet = height > wet;", "const truth is_wet = height > wet / 2;"
    ),
    "slopes that stay": volumes(
        "i < FM_FIELDS; ++i) next.of[i] = (real)(0);", "i < FM_FIELDS; ++i) next.of[i] = wet;"
    ),
    "the phases the other way round": phased("(begin_state + (uint)stage) %"),
    "a launch that begins with the first phase": phased("(uint)(stage - 1) %"),
    "the base kernel makes the first phase alone": Wrong(
        "base", (("(int)(begin_state % FM_PHASES), 0};", "0, 0};"),), file=STREAMED, options=BOWL
    ),
}  # fmt: skip
QUICK = {
    "a wall that leaks",
    "a bed that pushes",
    "a dry bed as any other",
    "a launch that begins with the first phase",
    "the base kernel makes the first phase alone",
}


def fits(what, found):
    if what in MASS:
        return {"mass", "steps"} <= found
    return (
        {"lake at rest", "steps"} <= found
        if what in REST
        else any(name.startswith("steps") for name in found)
    )


program, test_a_wrong_kernel_is_found, test_the_shipped_kernels_pass = wrong_kernels.tests(
    "tsunami",
    WRONG,
    SHORT,
    fits,
    (
        Wrong("throughput", options=BOWL),
        Wrong("base", options=BOWL),
        Wrong("throughput", options=LAKE, ranks=2),
    ),
    QUICK,
)

"""Kernels of FFT that save work or precision: each is found in the repetition in which it does."""

import pytest
import wrong_kernels
from wrong_kernels import Wrong

pytestmark = pytest.mark.programs

# Seven transforms of 64 points, forward and inverse: calls 0 and 1 are those of the warm-up.
SHORT = ("--log-size", 6, "--batch", 7, "--repetitions", 3, "--warmup", 1)
NUMBERS = 2 * 64 * 7

BEGIN = "  const ulong steps = (ulong)batch * FFT_STEPS;\n"
END = "#endif\n  }\n}"
BEFORE = "cycle / FFT_STEPS"  # number of the transform that is read
LOAD = f"fft_load_column(source + {BEFORE} * (8 * FFT_STEPS), clock % FFT_STEPS, v);"
JOIN = "fft_join(fft_finish(lanes), v, inverse);"
COLUMN = "fft_reverse((uint)left % FFT_STEPS)"
AFTER = "results + left / FFT_STEPS *"
EACH_LANE = "for (uint k = 0; k < 8; ++k) "
CALL = "  const uint call = KEPT(calls)[0]++;\n"
CALLS = ("uint", "calls", 1)
# The points as numbers, and those of a call before; each direction keeps its own.
ALL = (
    "  __global float* all = (__global float*)(target + FFT_MARGIN * 64);\n"
    "  __global float* read = (__global float*)source;\n"
    f"  volatile __global float* kept = KEPT(values) + (inverse ? {NUMBERS} : 0);\n"
)
EACH = f"for (uint i = 0; i < {NUMBERS}; ++i) "
VALUES = ("float", "values", 2 * NUMBERS)


def base(*changes, **how):
    replications = ("--replications", how.pop("replications", 1))
    return Wrong("base", tuple(changes), options=(*replications, *how.pop("options", ())), **how)


def counted(begin="", end=""):
    """Statements at the begin and end of a call that know its number, the points, and numbers to keep."""
    return base(
        (BEGIN, f"{CALL}{ALL}  {begin}\n{BEGIN}"), (END, f"{END[:-1]}  {end}\n}}"), state=(CALLS, VALUES)
    )


def each_point(place, expression):
    """Every x of eight points that are read or written becomes `expression`."""
    return place, f"{place} {EACH_LANE}{{ const fft_complex x = v[k]; v[k] = {expression}; }}"


def cut(kind, digits):
    """x with so many digits of its 24."""
    return f"as_float{kind}(as_uint{kind}(x) & 0x{(0xFFFFFFFF << (24 - digits)) & 0xFFFFFFFF:X}u)"


def twiddles(digits):
    """The base kernel's twiddles with so many digits."""
    lines = [
        (f"twiddle.{name} = {value};",
         f"{{ const float{kind} x = {value}; twiddle.{name} = {cut(kind, digits)}; }}")
        for name, value, kind in (
            ("odd_re", "factors[0]", 4), ("odd_im", "factors[1]", 4),
            ("even_re", "factors[2].lo", 2), ("even_im", "factors[2].hi", 2),
        )
    ]  # fmt: skip
    return base(*lines, file="fft/pipeline.h")


def pipeline(*change, **how):
    return base(change, file="fft/pipeline.h", **how)


def throughput(*change, **how):
    return Wrong("throughput", (change,), file="fft/throughput_cpu.h", **how)


def stages(*change, **how):
    """Three passes of radix 4, as a work-group has 16 points."""
    options = ("--form", "stages", "--tile-points", 16)
    return Wrong("throughput", (change,), file="fft/throughput_gpu.h", options=options, **how)


WRONG = {
    # Kept state.
    "only the first results are computed, then copied": counted(
        f"if (call > 1) {{ {EACH} all[i] = kept[i]; return; }}", f"{EACH} kept[i] = all[i];"
    ),
    "the inverse is the forward's input": counted(
        f"if (inverse) {{ {EACH} all[i] = 64 * KEPT(values)[i]; return; }} {EACH} kept[i] = read[i];"
    ),
    "the results of the call before": counted(
        end=f"{EACH} {{ const float x = all[i]; all[i] = KEPT(values)[i]; KEPT(values)[i] = x; }}"
    ),
    "the results of the repetition before": counted(
        end=f"{EACH} {{ const float x = all[i]; if (call > 1) all[i] = kept[i]; kept[i] = x; }}"
    ),
    "the input of the first repetition": counted(
        f"{EACH} if (call > 1) read[i] = kept[i]; else kept[i] = read[i];"
    ),
    "a transform is computed once": counted(
        end="for (uint i = 128; i < 256; ++i) if (call > 1) all[i] = kept[i]; else kept[i] = all[i];"
    ),
    # One repetition, or all but one.
    "nothing is done in the first counted repetition": counted("if (call == 2 || call == 3) return;"),
    "no inverse in the second repetition": counted("if (call == 5) return;"),
    "no forward in the last repetition": counted("if (call == 6) return;"),
    "only the last repetition is right": counted(end="if (call < 6) all[3] *= 2;"),
    "only the last inverse is wrong": counted(end="if (call == 7) all[3] *= 2;"),
    # A part of the work.
    "half of the batch": base((BEGIN, BEGIN.replace("batch", "(batch / 2)"))),
    "all but the last transform": base((BEGIN, BEGIN.replace("batch", "(batch - 1)"))),
    "the first transform for all": base((LOAD, LOAD.replace(BEFORE, "0"))),
    "one transform for another": base((LOAD, LOAD.replace(BEFORE, f"({BEFORE} == 3 ? 2 : {BEFORE})"))),
    "two transforms exchanged": base((AFTER, "results + (left / FFT_STEPS ^ (left / FFT_STEPS < 2)) *")),
    "one replica of two does nothing": base(
        (BEGIN, f"  if (KEPT(calls)[0]++ % 2) return;\n{BEGIN}"), state=(CALLS,), replications=2
    ),
    "one rank of two does nothing": base(
        (BEGIN, f"  if (KEPT(calls)[0]++ % 2) return;\n{BEGIN}"), state=(CALLS,), ranks=2
    ),
    "a point of an inverse transform is zero": counted(end="if (inverse) all[500] = all[501] = 0;"),
    "the imaginary parts are not read": base(each_point(LOAD, "(fft_complex)(x.x, 0)")),
    "the last point is not read": base((LOAD, f"{LOAD} if (clock % FFT_STEPS == FFT_STEPS - 1) v[7] = 0;")),
    "half of the batch, at once": throughput("end = share_start(batch, item + 1)", "end = batch / 2"),
    # Another transform.
    "never inverse": base((JOIN, JOIN.replace("inverse", "0"))),
    "conjugated": base(each_point(JOIN, "(fft_complex)(x.x, -x.y)")),
    "the inverse is scaled": base(each_point(JOIN, "inverse ? x / 64 : x")),
    "both are scaled": base(each_point(JOIN, "x / 8")),
    "in the order of reversed bits": base((COLUMN, "(uint)left % FFT_STEPS")),
    "a twiddle that turns the other way": pipeline("odd_im = factors[1]", "odd_im = -factors[1]"),
    "twiddles of the neighbour": base(("twiddles + 3 * m)", "twiddles + 3 * (m ^ 1))")),
    "no twiddles between the steps": throughput(
        "times_each(point, between_re[place], between_im[place])", "point"
    ),
    "inverse for forward in the rows": throughput(
        "row * PAIRS_PER_LANES, ROWS / LANES, inverse", "row * PAIRS_PER_LANES, ROWS / LANES, !inverse"
    ),
    "no twiddles in a stage of a GPU": stages(
        "if (log_done > 0)\n        turn_all(", "if (log_done > 2)\n        turn_all("
    ),
    "a GPU's last stage once": stages(
        "if (whole < columns) to[",
        "if (log_done == 4 && get_group_id(0) == 5 && n + i == 0 && KEPT(calls)[0]++ > 1) continue;\n"
        "        if (whole < columns) to[",
        state=(CALLS,),
    ),
    # Fewer digits.
    "inputs in half": base(each_point(LOAD, cut(2, 11))),
    "inputs in 16 digits": base(each_point(LOAD, cut(2, 16))),
    "results in TF32": base(each_point(JOIN, cut(2, 11))),
    "results in 16 digits": base(each_point(JOIN, cut(2, 16))),
    "results in 18 digits": base(each_point(JOIN, cut(2, 18))),
    "twiddles in TF32": twiddles(11),
    "twiddles in 16 digits": twiddles(16),
    "between the steps in TF32": throughput(
        "target.re[i] = (v).re,", "target.re[i] = as_float8(as_uint8((v).re) & 0xFFFFE000u),"
    ),
    "double computed in float": base(
        each_point(LOAD, "(fft_complex)((float)x.x, (float)x.y)"), options=("--data-type", "double")
    ),
}  # fmt: skip

# One of each kind; the others are for the full selection.
QUICK = {
    "only the first results are computed, then copied",
    "the inverse is the forward's input",
    "the results of the repetition before",
    "the input of the first repetition",
    "nothing is done in the first counted repetition",
    "only the last repetition is right",
    "all but the last transform",
    "one transform for another",
    "one replica of two does nothing",
    "one rank of two does nothing",
    "the last point is not read",
    "half of the batch, at once",
    "conjugated",
    "the inverse is scaled",
    "in the order of reversed bits",
    "no twiddles in a stage of a GPU",
    "inputs in half",
    "twiddles in 16 digits",
    "double computed in float",
}


def is_found(what, failed):
    return failed & {"forward repetitions", "inverse repetitions"}


SHIPPED = (base(), Wrong("throughput"), Wrong("throughput", options=("--form", "stages")))
program, test_a_wrong_kernel_is_found, test_the_shipped_kernels_are_valid = wrong_kernels.tests(
    "fft", WRONG, SHORT, is_found, shipped=SHIPPED, quick=QUICK
)

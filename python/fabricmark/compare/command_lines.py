"""What two command lines change: that is meant to differ, and nothing else.

`fabricmark ab` knows both command lines. `fabricmark compare` knows result files only: where each side has
one kernel, another kernel on the other side is what is compared.
"""

from collections.abc import Mapping, Sequence

from fabricmark.base import kernels
from fabricmark.results import Result

KERNEL = ("kernel", "class")
DEVICE = ("device", "platform")
# The conditions that an option of the programs sets; any other option is a parameter or changes no condition.
CONDITIONS: Mapping[str, Sequence[str]] = {
    "--kernel-file": KERNEL,
    "--bitstream": (*KERNEL, "variant"),
    "--variant": ("variant",),
    "--platform": DEVICE,
    "--device": DEVICE,
    "--ranks": ("ranks", "ranks-kind"),
    "--system": ("variant",),
    "--bitstream-id": ("variant",),
}
# With these the defaults of the kernel's parameters change, too (not those of the problem).
WITH_DEFAULTS = (
    "--bitstream", "--variant", "--platform", "--device", "--ranks", "--system", "--bitstream-id",
)  # fmt: skip


def meant(base: Sequence[str], new: Sequence[str], benchmark: str) -> set[str]:
    """The conditions that two command lines of a benchmark set differently."""
    sides = kernels.options(base[1:]), kernels.options(new[1:])
    differing = [name for name in sides[0] | sides[1] if sides[0].get(name) != sides[1].get(name)]
    found: set[str] = set()
    for name in differing:
        found |= set(CONDITIONS.get(name, (name.removeprefix("--").replace("-", "_"),)))
    if any(name in WITH_DEFAULTS for name in differing):
        given = {name.removeprefix("--").replace("-", "_") for name in sides[0] | sides[1]}
        found |= _build_parameters(benchmark) - given
    return found


def _build_parameters(benchmark: str) -> set[str]:
    if benchmark not in kernels.benchmark_names():  # a program of another build
        return set()
    parameters = kernels.kernel(benchmark).parameters
    return {name for name, parameter in parameters.items() if parameter.stage == "build"}


def other_kernel(base: Sequence[Result], new: Sequence[Result], benchmark: str) -> bool:
    """Whether each side ran a benchmark with one kernel only, and another: that is what is compared then."""
    kernels = [
        {
            (result.own_kernel, result.document["run"]["class"])
            for result in side
            if result.benchmark == benchmark
        }
        for side in (base, new)
    ]
    return all(len(side) == 1 for side in kernels) and kernels[0] != kernels[1]
